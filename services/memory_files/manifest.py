"""The manifest `.slowwave.json` beside exported files: it lets the next export see what people have edited since.

For each file it contains a digest, a flag whether Slowwave wrote all lines, and short digests of Slowwave's lines.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

from slowwave_server.services.memory_files.disk import Disk

NAME = ".slowwave.json"
_LINE_CHARACTERS = 8


@dataclass(frozen=True, slots=True)
class Written:
    """One written file. digest: the digest of its bytes, hexadecimal; own: True if Slowwave wrote all lines."""

    digest: str
    own: bool
    lines: frozenset[str]

    def has(self, raw: str) -> bool:
        """Return True if Slowwave wrote this line."""
        return line_digest(raw) in self.lines


@dataclass
class Manifest:
    """Files written into one folder, by path below it."""

    files: dict[str, Written] = field(default_factory=dict)

    @classmethod
    def read(cls, disk: Disk, folder: Path) -> "Manifest":
        """Read a folder's manifest; a missing or unreadable one gives an empty manifest."""
        found = disk.read(folder / NAME)
        try:
            files = {path: _written(entry) for path, entry in json.loads(found.data)["files"].items()} if found else {}
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            files = {}
        return cls(files)

    def write(self, disk: Disk, folder: Path) -> None:
        """Write the manifest with one line per file, so that a diff shows which files changed."""
        files = {
            path: {"digest": entry.digest, "own": entry.own, "lines": "".join(sorted(entry.lines))}
            for path, entry in self.files.items()
        }
        lines = ",\n".join(f"    {json.dumps(path)}: {json.dumps(files[path])}" for path in sorted(files))
        data = f'{{\n  "format": 1,\n  "files": {{\n{lines}\n  }}\n}}\n'.encode()
        before = disk.read(folder / NAME)
        if before is None or before.data != data:
            disk.write(folder / NAME, data, None if before is None else before.digest)


def written(data: bytes, lines: Iterable[str], *, own: bool) -> Written:
    """Return the manifest's entry for a file with `data` and these lines of Slowwave."""
    return Written(file_digest(data), own, frozenset(line_digest(raw) for raw in lines))


def file_digest(data: bytes) -> str:
    """Return a digest of a file's content."""
    return blake2b(data, digest_size=16).hexdigest()


def line_digest(raw: str) -> str:
    """Return a digest of a line without its line end."""
    line = raw.rstrip("\r\n").encode("utf-8", "surrogatepass")
    return blake2b(line, digest_size=_LINE_CHARACTERS // 2).hexdigest()


def _written(entry: Any) -> Written:
    digests = str(entry["lines"])
    cuts = range(0, len(digests), _LINE_CHARACTERS)
    return Written(str(entry["digest"]), bool(entry["own"]), frozenset(digests[n : n + _LINE_CHARACTERS] for n in cuts))
