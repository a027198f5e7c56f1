"""Both locks name every package that is installed, in one version, with the digest of each of its files."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from proof.audit.pins import Pin, read_pins

ROOT = Path(__file__).parents[2]
LOCKS = ("requirements.lock", "requirements-build.lock")
PROJECTS = ("client", "judge", ".")
OURS = {"slowwave", "slowwave-judge", "slowwave-server"}
INSTALLED_EXTRAS = {"dev", "bench"}
"""The extras that `make setup` installs."""
INSTALLERS = ("Makefile", "deploy/install.sh", "deploy/Dockerfile", ".ci/run", "docs/deploy.md", "docs/install.md")


def _pins(lock: str) -> dict[str, Pin]:
    return {pin.name: pin for pin in read_pins((ROOT / lock).read_text(encoding="utf-8"))}


def _project(folder: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("lock", LOCKS)
def test_every_locked_package_has_digests_of_its_files(lock: str) -> None:
    pins = _pins(lock)
    assert {name for name, pin in pins.items() if not pin.digests} == set()
    digests = [digest for pin in pins.values() for digest in pin.digests]
    assert {digest for digest in digests if not re.fullmatch(r"[0-9a-f]{64}", digest)} == set()
    assert len(set(digests)) == len(digests)


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_index_and_no_address(lock: str) -> None:
    text = (ROOT / lock).read_text(encoding="utf-8")
    assert re.findall(r"(?m)^\s*-(?!-hash=sha256:).*|\S+://\S+|(?<= )@ .*", text) == []


def test_the_lock_fits_all_that_our_packages_ask_for() -> None:
    pins, ahead, seen = _pins("requirements.lock"), [], set[str]()
    projects = {canonicalize_name(found["name"]): found for found in (_project(one)["project"] for one in PROJECTS)}
    ahead = [(name, extra) for name in projects for extra in ("", *INSTALLED_EXTRAS)]
    while ahead:
        name, extra = ahead.pop()
        if f"{name}[{extra}]" in seen:
            continue
        seen.add(f"{name}[{extra}]")
        extras = projects[name].get("optional-dependencies", {})
        for line in projects[name]["dependencies"] if not extra else extras.get(extra, ()):
            asked = Requirement(line)
            needed = canonicalize_name(asked.name)
            if needed in OURS:
                ahead += [(needed, one) for one in ("", *asked.extras)]
            else:
                assert pins[needed].version in asked.specifier, line
    assert "slowwave[langgraph]" in seen
    assert OURS & pins.keys() == set()


def test_what_builds_our_wheels_is_locked_to_one_version() -> None:
    setuptools = _pins("requirements-build.lock")["setuptools"]
    for project in PROJECTS:
        assert _project(project)["build-system"]["requires"] == [f"setuptools=={setuptools.version}"], project


@pytest.mark.parametrize("file", INSTALLERS)
def test_whatever_installs_a_lock_asks_for_its_digests(file: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if re.search(r"requirements(-build)?\.lock", line)]
    installing = [line for line in lines if re.search(r"(-r|-c|--requirements|--constraints) \S*requirements", line)]
    assert [line for line in installing if " compile " not in line and "--require-hashes" not in line] == []
