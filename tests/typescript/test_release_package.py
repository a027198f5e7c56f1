"""The npm package of a release: made again it has the same bytes, and an empty project can install and import it."""

import json
import subprocess
from pathlib import Path

import pytest

from proof.release.npm import npm_version, pack, pack_twice
from proof.release.readiness import NotReady, Release
from slowwave.version import VERSION
from tests.typescript.node import ROOT, run

NAMES = ("Slowwave", "Recorder", "SlowwaveError")


@pytest.mark.parametrize(
    ("version", "called"),
    [("1.2.0", "1.2.0"), ("1.2.0rc1", "1.2.0-rc.1"), ("1.2.0a2", "1.2.0-alpha.2"), ("1.2.0b3", "1.2.0-beta.3")],
)
def test_version_is_written_as_npm_writes_it(version: str, called: str) -> None:
    assert npm_version(version) == called


def test_package_with_another_version_is_refused(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text('{"version": "1.1.0"}')
    with pytest.raises(NotReady, match=r"has the version 1\.1\.0, the release is 1\.2\.0"):
        pack(tmp_path, "1.2.0")


@pytest.mark.long
@pytest.mark.usefixtures("client")  # where it can be built, it can be packed
def test_package_is_the_same_twice_and_can_be_imported(tmp_path: Path) -> None:
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    release = Release(ROOT, VERSION, commit.stdout.strip(), 0, "2026-01-01", "")
    package = pack_twice(release, tmp_path)
    project = tmp_path / "project"
    project.mkdir()
    (project / "package.json").write_text('{"private": true}')
    installed = run("npm", "install", "--offline", "--ignore-scripts", "--no-audit", str(package), folder=project)
    assert installed.returncode == 0, installed.stderr
    (project / "program.mjs").write_text(f"import {{ {', '.join(NAMES)} }} from 'slowwave'; void [{', '.join(NAMES)}];")
    (project / "program.cjs").write_text(
        f"const all = require('slowwave'); process.exit({json.dumps(NAMES)}.every((name) => name in all) ? 0 : 1);"
    )
    for name in ("program.mjs", "program.cjs"):
        done = run("node", name, folder=project)
        assert done.returncode == 0, done.stderr
