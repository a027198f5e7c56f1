"""What may be released, and what its bills of materials name. The wheels themselves: tests/workers/test_wheels.py."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from proof.release.bills import image_bill, part_of, require_locked
from proof.release.readiness import CHANGELOG, VERSION_FILE, NotReady, find_release, read_entry, read_version

ROOT = Path(__file__).parents[2]
ENTRY = (
    "# Changelog\n\n## [Unreleased]\n\n## [1.2.0] - 2026-03-05\n\n### Added\n\n- Tea.\n\n## [1.1.0] - 2026-01-01\n\n"
)


def _git(root: Path, *arguments: str) -> str:
    who = ("-c", "user.name=Priya", "-c", "user.email=priya@example.org")
    done = subprocess.run(["git", "-C", root, *who, *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository of one commit that is ready."""
    (tmp_path / VERSION_FILE).parent.mkdir(parents=True)
    (tmp_path / VERSION_FILE).write_text('VERSION = "1.2.0"\n')
    (tmp_path / CHANGELOG).write_text(ENTRY)
    _git(tmp_path, "init", "--quiet")
    _git(tmp_path, "add", ".")
    _git(tmp_path, "commit", "--quiet", "--message", "Ready")
    return tmp_path


def test_the_version_of_this_tree_stands_in_its_changelog() -> None:
    version = read_version((ROOT / VERSION_FILE).read_text())
    assert "\n### " in read_entry((ROOT / CHANGELOG).read_text(), version)[1]


def test_a_commit_that_is_ready_is_released_as_its_version_says(repository: Path) -> None:
    release = find_release(repository)
    assert (release.version, release.tag, release.date) == ("1.2.0", "v1.2.0", "2026-03-05")
    assert release.commit == _git(repository, "rev-parse", "HEAD")
    assert release.notes == "### Added\n\n- Tea.\n"


def test_a_tree_with_changes_is_refused(repository: Path) -> None:
    (repository / "new.py").write_text("")
    with pytest.raises(NotReady, match=r"commit or remove first:\n\?\? new.py"):
        find_release(repository)


def test_a_version_that_is_out_is_not_released_a_second_time(repository: Path) -> None:
    _git(repository, "tag", "v1.2.0")
    find_release(repository)
    _git(repository, "commit", "--quiet", "--allow-empty", "--message", "More")
    with pytest.raises(NotReady, match=r"v1\.2\.0 is released already"):
        find_release(repository)


@pytest.mark.parametrize(
    ("changelog", "why"),
    [
        (ENTRY.replace("1.2.0", "1.3.0"), "has no entry"),
        (ENTRY.replace("2026-03-05", "unreleased"), "has no entry"),
        (ENTRY.replace("### Added\n\n- Tea.\n", ""), "says nothing"),
    ],
)
def test_a_version_without_an_entry_in_the_changelog_is_refused(changelog: str, why: str) -> None:
    with pytest.raises(NotReady, match=why):
        read_entry(changelog, "1.2.0")


@pytest.mark.parametrize("text", ["", 'VERSION = "1.2"', 'VERSION = "latest"'])
def test_what_is_no_version_is_refused(text: str) -> None:
    with pytest.raises(NotReady):
        read_version(text)


def test_a_bill_names_what_is_needed_and_what_that_needs_and_nothing_else() -> None:
    project: dict[str, Any] = {
        "name": "own",
        "license": "Apache-2.0",
        "dependencies": ["tea>=1", 'winter; sys_platform == "nowhere"'],
        "optional-dependencies": {"all": ["own[milk]"], "milk": ["Milk_Jug"], "dev": ["hammer"]},
    }
    names = ("tea", "milk-jug", "leaf", "sugar", "hammer", "nail")
    needs = {
        "tea": ["leaf>=1", 'sugar; extra == "sweet"', 'hammer; extra == "dev"'],
        "leaf": ["tea[sweet]"],
        "hammer": ["nail", "leaf"],
    }
    whole = {
        "metadata": {"tools": []},
        "components": [{"bom-ref": f"{name}==1", "name": name, "version": "1"} for name in names],
        "dependencies": [{"ref": f"{name}==1", "dependsOn": ["nail==1"]} for name in names],
    }
    bill = part_of(whole, project, "1.2.0", lambda name: needs.get(name, ()))
    assert [one["name"] for one in bill["components"]] == ["leaf", "milk-jug", "sugar", "tea"]
    assert {one["ref"]: one["dependsOn"] for one in bill["dependencies"]} == {
        "own==1.2.0": ["milk-jug==1", "tea==1"],
        "leaf==1": ["tea==1"],
        "milk-jug==1": [],
        "sugar==1": [],
        "tea==1": ["leaf==1", "sugar==1"],
    }
    assert bill["metadata"]["component"]["version"] == "1.2.0"


def test_a_bill_of_the_image_names_its_base_with_its_digest() -> None:
    whole = {
        "metadata": {"component": {"bom-ref": "root-component"}, "timestamp": "2026-01-01T00:00:00Z"},
        "components": [{"bom-ref": "tea==1.0", "name": "tea", "version": "1.0"}],
        "dependencies": [{"ref": "tea==1.0"}],
    }
    digest = "ab" * 32
    dockerfile = f"FROM pot:1 AS build\nRUN brew\nFROM cup:2-slim@sha256:{digest}\n"
    bill = image_bill(whole, dockerfile, "1.2.0")
    base = {"name": "cup", "version": "2-slim", "hashes": [{"alg": "SHA-256", "content": digest}]}
    assert bill["components"][-1].items() >= base.items()
    assert bill["metadata"]["component"]["version"] == "1.2.0"
    assert bill["dependencies"][0] == {
        "ref": "slowwave:1.2.0",
        "dependsOn": sorted([f"cup:2-slim@sha256:{digest}", "tea==1.0"]),
    }
    assert "hashes" not in image_bill(whole, "FROM cup:2-slim\n", "1.2.0")["components"][-1]


def test_a_bill_with_a_version_that_is_not_locked_is_refused() -> None:
    whole = {"components": [{"name": "Oar_Lock", "version": "0.9"}, {"name": "unlocked", "version": "1"}]}
    require_locked(whole, "oar-lock==0.9 \\\n    --hash=sha256:ab\n")
    with pytest.raises(NotReady, match=r"oar-lock 0\.9"):
        require_locked(whole, "oar-lock==1.0 \\\n    --hash=sha256:ab\n")
