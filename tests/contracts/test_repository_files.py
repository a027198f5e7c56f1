"""The files that tools of developers read agree with the repository: CI, hooks, owners, editor, make."""

import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
GITHUB = ROOT / ".github"
VERSIONS = ["3.11", "3.12", "3.13"]


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_ci_runs_the_script_that_developers_run() -> None:
    (job,) = read(GITHUB / "workflows" / "ci.yml")["jobs"].values()
    assert [step["run"] for step in job["steps"] if "run" in step] == [".ci/run"]
    assert job["strategy"]["matrix"]["python"] == VERSIONS


@pytest.mark.parametrize("folder", [".", "client", "judge"])
def test_distribution_declares_the_versions_that_ci_runs(folder: str) -> None:
    project = tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = [one.rpartition(" :: ")[2] for one in project["classifiers"] if re.search(r"Python :: 3\.\d+$", one)]
    assert declared == VERSIONS


def test_dependabot_watches_folders_that_have_packages() -> None:
    files = {
        "pip": "pyproject.toml",
        "npm": "package.json",
        "docker": "Dockerfile",
        "github-actions": ".github/workflows",
    }
    for update in read(GITHUB / "dependabot.yml")["updates"]:
        assert (ROOT / update["directory"].lstrip("/") / files[update["package-ecosystem"]]).exists()


def test_issue_forms_have_fields_with_names() -> None:
    for form in GITHUB.glob("ISSUE_TEMPLATE/*.yml"):
        body = read(form).get("body", [])
        assert [field for field in body if field["type"] != "markdown" and not field["attributes"]["label"]] == []
        assert len({field["id"] for field in body if "id" in field}) == sum("id" in field for field in body)


def test_every_hook_runs_a_program_of_the_environment() -> None:
    ((repository),) = read(ROOT / ".pre-commit-config.yaml")["repos"]
    dev = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    packages = {"ruff": "ruff", "mypy": "mypy", "lint-imports": "import-linter", "pytest": "pytest"}
    for hook in repository["hooks"]:
        program = hook["entry"].split()[0].removeprefix(".venv/bin/")
        assert f"\n{packages[program]}==" in dev


def test_devcontainer_sets_up_by_make() -> None:
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
    assert container["postCreateCommand"] == "make setup"


def test_make_help_lists_every_target() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (phony,) = re.findall(r"^\.PHONY: (.+)$", makefile, re.MULTILINE)
    command = ["make", "--no-print-directory", "help"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=30)
    assert {line.split()[0] for line in result.stdout.splitlines()} == set(phony.split())


def test_slow_tests_are_marked_in_their_own_files() -> None:
    """`make long` and `make drills` give pytest the files that name a mark: one of elsewhere would leave tests out."""
    others = [file for file in (ROOT / "tests").rglob("*.py") if not file.name.startswith("test_")]
    assert len(others) > 50
    assert [file for file in others if re.search(r"mark\.(long|drill)\b", file.read_text(encoding="utf-8"))] == []
