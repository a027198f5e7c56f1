"""The TypeScript client as a package: what it needs, how large it is, who can import it; and its own tests."""

import json
import re
from pathlib import Path

import pytest

from slowwave.version import VERSION
from tests.typescript.node import install, node_tests, run

pytestmark = pytest.mark.long

MOST_BYTES = 15_000
OPTIONS = ("--strict", "--noEmit", "--lib", "ES2022,DOM", "--target", "ES2022")


def test_requests_changes_and_recorder_pass_their_tests(client: Path) -> None:
    node_tests("requests", "changes", "recorder")


def test_package_runs_where_there_is_fetch_and_little_else(client: Path) -> None:
    install()
    node_tests("runtimes")


def test_bundle_has_at_most_15_kilobytes(client: Path) -> None:
    assert (client / "dist" / "slowwave.min.js").stat().st_size <= MOST_BYTES


def test_package_needs_nothing_at_run_time(client: Path) -> None:
    package = json.loads((client / "package.json").read_text())
    assert not {"dependencies", "peerDependencies", "optionalDependencies", "bundleDependencies"} & package.keys()
    for file in (client / "dist").rglob("*.js"):
        imported = re.findall(r"""(?:from|require\(|import\()\s*["']([^"']+)""", file.read_text())
        assert [name for name in imported if not name.startswith("./")] == [], file


def test_package_has_the_version_of_the_release() -> None:
    client = Path(__file__).parents[2] / "clients" / "typescript"
    lock = json.loads((client / "package-lock.json").read_text())
    assert json.loads((client / "package.json").read_text())["version"] == VERSION
    assert (lock["version"], lock["packages"][""]["version"]) == (VERSION, VERSION)


def test_programs_of_modules_and_commonjs_compile(client: Path) -> None:
    install()
    tsc = ("node", "node_modules/typescript/bin/tsc", "--module", "NodeNext", *OPTIONS)
    done = run(*tsc, "test/programs/program.mts", "test/programs/program.cts")
    assert done.returncode == 0, done.stdout


def test_packed_files_are_those_of_the_package(client: Path) -> None:
    done = run("npm", "pack", "--dry-run", "--json", "--ignore-scripts")
    assert done.returncode == 0, done.stderr
    (packed,) = json.loads(done.stdout)
    files = {one["path"] for one in packed["files"]}
    assert {"LICENSE", "README.md", "package.json", "dist/slowwave.min.js", "dist/cjs/package.json"} <= files
    assert {name for name in files if not name.startswith("dist/")} == {"LICENSE", "README.md", "package.json"}


def test_types_are_those_of_the_openapi_document(client: Path, tmp_path: Path) -> None:
    install()
    made = tmp_path / "generated.ts"
    command = json.loads((client / "package.json").read_text())["scripts"]["types"].split()
    assert command[-2:] == ["--output", "src/generated.ts"]
    done = run("npx", "--no-install", *command[:-1], str(made))
    assert done.returncode == 0, done.stderr
    assert made.read_text() == (client / "src" / "generated.ts").read_text(), "run `npm run types` and commit its file"
