"""The first line of a memory file: a title for people, and in a comment whose memory it is and how
its days are counted.

Must not know: what else is in the file.
"""

import json
from dataclasses import dataclass
from datetime import date
from typing import Any

from slowwave_server.domain.memory_files.escapes import comment_json, escape
from slowwave_server.domain.memory_files.lines import BadMark, storable

HEAD = "<!-- slowwave file "
FORMAT = 1
"""Raised when files of an older kind can't be read as the new ones."""


@dataclass(frozen=True, slots=True)
class FileHeader:
    """Whose file it is. kind: agent, room or team. zone, cutoff_hour: by which its days begin. day: of a daily file."""

    tenant: str
    kind: str
    name: str
    zone: str
    cutoff_hour: int
    day: date | None = None

    @property
    def shared(self) -> bool:
        """Whether several agents write here."""
        return self.kind != "agent"


def is_header(line: str) -> bool:
    """Whether a line says that this is a memory file, be it a good or a bad one."""
    return line.startswith("#") and HEAD in line


def render_header(header: FileHeader) -> str:
    """The line, without its end."""
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
    """What `render_header` wrote. Raises BadMark."""
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
