"""Edit one table of a TOML file; all other lines stay unchanged."""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from slowwave_server.domain.host_configs.jsonc import BrokenFile

_HEADER = re.compile(r"^[ \t]*\[")


def read(text: str) -> dict[str, Any]:
    """Return the value of a file. Raises BrokenFile."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BrokenFile(str(error)) from None


def put(text: str, path: Sequence[str], values: Mapping[str, str | list[str]]) -> str:
    """Set keys of the table at `path`; its other keys stay. A missing table is added at the end of the file.

    Raises BrokenFile, also if the file writes the table in another form than under its own header.
    """
    found = _find(read(text), path)
    if found is not None and all(found.get(name) == value for name, value in values.items()):
        return text
    lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in values.items()]
    if found is None:
        gap = "" if not text.strip() else "\n" if text.endswith("\n") else "\n\n"
        return _checked(f"{text}{gap}[{'.'.join(path)}]\n" + "\n".join(lines) + "\n", path, values)
    begin, end = _place(text, path)
    kept = [line for line in text[begin:end].splitlines() if not re.match(rf"\s*({'|'.join(values)})\s*=", line)]
    written = "\n".join([kept[0], *lines, *kept[1:]]) + "\n"
    return _checked(text[:begin] + written + text[end:], path, values)


def drop(text: str, path: Sequence[str]) -> str:
    """Remove the table at `path`: its header and its lines. Raises BrokenFile as `put` does."""
    if _find(read(text), path) is None:
        return text
    begin, end = _place(text, path)
    rest = text[end:]
    kept = text[:begin].rstrip("\n") + ("\n" if text[:begin].strip() else "")
    return _checked(kept + (f"\n{rest}" if kept and rest.strip() and not rest.startswith("\n") else rest), path, None)


def _find(value: Any, path: Sequence[str]) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _place(text: str, path: Sequence[str]) -> tuple[int, int]:
    """Return the range of the header and its lines, without blank lines and comments before the next header."""
    names = r"\s*\.\s*".join(rf'["\']?{re.escape(name)}["\']?' for name in path)
    header = re.compile(rf"[ \t]*\[\s*{names}\s*\]")
    begin = end = None
    at = 0
    for line in text.splitlines(keepends=True):
        if begin is None and header.match(line):
            begin, end = at, at + len(line)
        elif begin is not None and _HEADER.match(line):
            break
        elif begin is not None and line.strip() and not line.lstrip().startswith("#"):
            end = at + len(line)
        at += len(line)
    if begin is None or end is None:
        raise BrokenFile(f"the table {'.'.join(path)} has no header [{'.'.join(path)}] of its own: change it by hand")
    return begin, end


def _checked(text: str, path: Sequence[str], values: Mapping[str, Any] | None) -> str:
    """Return the edited text if it parses to the intended value. Raises BrokenFile otherwise."""
    found = _find(read(text), path)
    right = found is None if values is None else isinstance(found, dict) and values.items() <= found.items()
    if not right:
        raise BrokenFile(f"the table {'.'.join(path)} is written in a form that can't be changed: change it by hand")
    return text
