"""The versions that requirements.lock pins.

Must not know: advisories.
"""

from typing import NamedTuple

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version


class NotPinned(ValueError):
    """A line of the lock that doesn't say exactly one version: nobody knows what it will install."""


class Pin(NamedTuple):
    """One package at one version."""

    name: str
    version: Version

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


def read_pins(text: str) -> list[Pin]:
    """The pins of a lock file. Raises NotPinned, with the line's number."""
    return [_pin(number, line) for number, line in enumerate(text.splitlines(), 1) if _says_something(line)]


def _says_something(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _pin(number: int, line: str) -> Pin:
    try:
        requirement = Requirement(line)
    except InvalidRequirement as error:
        raise NotPinned(f"line {number}: {error}") from None
    specifiers = list(requirement.specifier)
    if len(specifiers) != 1 or specifiers[0].operator != "==" or "*" in specifiers[0].version or requirement.url:
        raise NotPinned(f"line {number}: {requirement.name} is not pinned to one version")
    return Pin(canonicalize_name(requirement.name), Version(specifiers[0].version))
