"""Read the versions that a lock pins, each with the digests of its files."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

_DIGEST = re.compile(r"\s+--hash=sha256:(\S+)")


class NotPinned(ValueError):
    """A requirement of a lock without exactly one version."""


class Pin(NamedTuple):
    """One package at one version. digests: SHA-256 of each file of that version, in hexadecimal."""

    name: str
    version: Version
    digests: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


def read_pins(text: str) -> list[Pin]:
    """Return the pins of a lock file. Raises NotPinned, with the number of the line on which the requirement begins."""
    return [_pin(number, requirement) for number, requirement in _requirements(text) if _says_something(requirement)]


def _requirements(text: str) -> Iterator[tuple[int, str]]:
    """Yield each requirement as one line, with the number of its first; a backslash at the end continues a line."""
    begun, parts = 1, list[str]()
    for number, line in enumerate(text.splitlines(), 1):
        begun = begun if parts else number
        parts.append(line.removesuffix("\\").rstrip())
        if not line.endswith("\\"):
            yield begun, " ".join(parts)
            parts = []


def _says_something(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _pin(number: int, line: str) -> Pin:
    try:
        requirement = Requirement(_DIGEST.sub("", line))
    except InvalidRequirement as error:
        raise NotPinned(f"line {number}: {error}") from None
    specifiers = list(requirement.specifier)
    if len(specifiers) != 1 or specifiers[0].operator != "==" or "*" in specifiers[0].version or requirement.url:
        raise NotPinned(f"line {number}: {requirement.name} is not pinned to one version")
    return Pin(canonicalize_name(requirement.name), Version(specifiers[0].version), tuple(_DIGEST.findall(line)))
