"""The manifest `.slowwave.json` beside exported files: it lets the next export see what people have edited since.

It has for each file a digest, whether Slowwave wrote all of its lines, and short digests of Slowwave's lines.
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
    """One file as it was written. digest: the digest of its bytes, hexadecimal; own: Slowwave wrote all lines."""

    digest: str
    own: bool
    lines: frozenset[str]

    def has(self, raw: str) -> bool:
        """Whether a line is one that was written."""
        return line_digest(raw) in self.lines


@dataclass
class Manifest:
    """Files written into one folder, by path below it."""

    files: dict[str, Written] = field(default_factory=dict)

    @classmethod
    def read(cls, disk: Disk, folder: Path) -> "Manifest":
        """Read a folder's manifest; an empty one if it is missing or unreadable."""
        found = disk.read(folder / NAME)
        try:
            files = {path: _written(entry) for path, entry in json.loads(found.data)["files"].items()} if found else {}
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            files = {}
        return cls(files)

    def write(self, disk: Disk, folder: Path) -> None:
        """Put it there, a line a file, so that a diff shows which files changed."""
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
    """What to remember of a file that holds `data`, and these lines of ours."""
    return Written(file_digest(data), own, frozenset(line_digest(raw) for raw in lines))


def file_digest(data: bytes) -> str:
    """What tells contents of files apart."""
    return blake2b(data, digest_size=16).hexdigest()


def line_digest(raw: str) -> str:
    """Of a line, whatever ends it."""
    line = raw.rstrip("\r\n").encode("utf-8", "surrogatepass")
    return blake2b(line, digest_size=_LINE_CHARACTERS // 2).hexdigest()


def _written(entry: Any) -> Written:
    digests = str(entry["lines"])
    cuts = range(0, len(digests), _LINE_CHARACTERS)
    return Written(str(entry["digest"]), bool(entry["own"]), frozenset(digests[n : n + _LINE_CHARACTERS] for n in cuts))
