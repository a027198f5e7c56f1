"""The first line of a memory file: a title for people, and a comment with the file's owner and day boundary."""

import json
from dataclasses import dataclass
from datetime import date
from typing import Any

from slowwave_server.domain.memory_files.escapes import comment_json, escape
from slowwave_server.domain.memory_files.lines import BadMark, storable

HEAD = "<!-- slowwave file "
FORMAT = 1
"""Increase it when new code can no longer read the older files."""


@dataclass(frozen=True, slots=True)
class FileHeader:
    """The owner of a file, its kind (agent, room or team) and day boundary. day: the date of a daily file, or None."""

    tenant: str
    kind: str
    name: str
    zone: str
    cutoff_hour: int
    day: date | None = None

    @property
    def shared(self) -> bool:
        """Return True if several agents write to this file."""
        return self.kind != "agent"


def is_header(line: str) -> bool:
    """Return True if a line is the header of a memory file, valid or not."""
    return line.startswith("#") and HEAD in line


def render_header(header: FileHeader) -> str:
    """Return the line, without its line end."""
    mark: dict[str, Any] = {
        "format": FORMAT,
        "tenant": header.tenant,
        "kind": header.kind,
        "name": header.name,
        "zone": header.zone,
        "cutoff": header.cutoff_hour,
    }
    whose = header.name if header.kind == "agent" else f"{header.kind} {header.name}"
    title = f"Memory of {escape(whose)}"
    if header.day is not None:
        mark["day"] = header.day.isoformat()
        title = f"{header.day.isoformat()}: {escape(whose)}"
    return f"# {title} {HEAD}{comment_json(mark)} -->"


def parse_header(line: str) -> FileHeader:
    """Parse the result of `render_header`. Raises BadMark."""
    written = line[line.index(HEAD) + len(HEAD) :].rstrip().removesuffix("-->")
    try:
        mark = json.loads(written)
        if mark["format"] != FORMAT:
            raise BadMark(f"the file has format {mark['format']!r:.20}, and {FORMAT} is what can be read here")
        names = (mark["tenant"], mark["kind"], mark["name"], mark["zone"])
        day = date.fromisoformat(mark["day"]) if "day" in mark else None
        cutoff = mark["cutoff"]
    except (ValueError, RecursionError, KeyError, TypeError) as error:
        raise error if isinstance(error, BadMark) else BadMark("the mark of the head can't be read") from None
    if not all(isinstance(name, str) and storable(name) for name in names) or not isinstance(cutoff, int):
        raise BadMark("the mark of the head can't be read")
    return FileHeader(*names, cutoff, day)
