"""Edit one entry of a JSON file. All other bytes stay, including comments and blanks."""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from slowwave_server.domain.host_configs.jsonc import BrokenFile, Node, parse

Path = Sequence[str]
_INDENT = re.compile(r"^([ \t]+)\S", re.MULTILINE)


def read(text: str) -> Any:
    """Return the value of a file; {} for an empty file. Raises BrokenFile."""
    return parse(text).value if text.strip() else {}


def put(text: str, path: Path, value: Any) -> str:
    """Set the entry at `path` and create missing parent objects. Raises BrokenFile."""
    text = text if text.strip() else "{}\n"
    node = parse(text)
    for depth, name in enumerate(path):
        if not isinstance(node.value, dict):
            raise BrokenFile(f"{'.'.join(path[:depth]) or 'the file'} must hold an object")
        number = node.entry(name)
        if number is None:
            inner = value
            for missing in reversed(path[depth + 1 :]):
                inner = {missing: inner}
            return _insert(text, node, inner, name)
        node = node.entries[number]
    if node.value == value:
        return text
    return text[: node.begin] + _written(text, value, _line_indent(text, node.begin)) + text[node.end :]


def append(text: str, path: Path, value: Any) -> str:
    """Append to the list at `path`; create a missing list. Raises BrokenFile."""
    node = _find(parse(text), path) if text.strip() else None
    if node is None:
        return put(text, path, [value])
    if not isinstance(node.value, list):
        raise BrokenFile(f"{'.'.join(path)} must hold a list")
    return _insert(text, node, value, None)


def drop(text: str, path: Path) -> str:
    """Remove the entry at `path`, and parent objects that become empty. Raises BrokenFile."""
    holder = _find(parse(text), path[:-1]) if text.strip() else None
    number = holder.entry(path[-1]) if holder is not None and isinstance(holder.value, dict) else None
    if holder is None or number is None:
        return text
    if len(holder.entries) == 1 and len(path) > 1:
        return drop(text, path[:-1])
    return _without(text, holder, number)


def drop_items(text: str, path: Path, unwanted: Callable[[Any], bool]) -> str:
    """Remove unwanted items of the list at `path`, and parents that become empty. Raises BrokenFile."""
    while text.strip():
        node = _find(parse(text), path)
        if node is None or not isinstance(node.value, list):
            return text
        number = next((number for number, item in enumerate(node.value) if unwanted(item)), None)
        if number is None:
            return text
        text = drop(text, path) if len(node.entries) == 1 else _without(text, node, number)
    return text


def _find(node: Node, path: Path) -> Node | None:
    for name in path:
        number = node.entry(name) if isinstance(node.value, dict) else None
        if number is None:
            return None
        node = node.entries[number]
    return node


def _insert(text: str, node: Node, value: Any, name: str | None) -> str:
    """Insert an entry after the last one of an object or list, in the file's style."""
    close = node.end - 1
    lines = "\n" in text[node.begin : node.end] or (not node.entries and "\n" in text)
    unit, outer = _unit(text), _line_indent(text, node.begin)
    inner = _line_indent(text, node.begin_of(-1 % len(node.entries))) if node.entries and lines else outer + unit
    written = _written(text, value, inner) if lines else json.dumps(value, ensure_ascii=False)
    entry = written if name is None else f"{json.dumps(name, ensure_ascii=False)}: {written}"
    if not node.entries:
        kept = text[node.begin + 1 : close].rstrip()  # a comment
        return f"{text[: node.begin + 1]}{kept}\n{inner}{entry}\n{outer}{text[close:]}"
    end, trailing = node.entries[-1].end, node.commas[-1] is not None
    before = text[:close].rstrip() if lines else text[:close]
    gap = text[len(before) : close]
    between = f"\n{inner}" if lines else " "
    if trailing:
        return f"{before}{between}{entry},{gap}{text[close:]}"
    return f"{before[:end]},{before[end:]}{between}{entry}{gap}{text[close:]}"


def _without(text: str, node: Node, number: int) -> str:
    begin, end, comma = node.begin_of(number), node.entries[number].end, node.commas[number]
    if comma is not None:
        end = comma + 1
    line = text.rfind("\n", 0, begin) + 1
    last = number == len(node.entries) - 1
    if not text[line:begin].strip() and line > node.begin:
        begin = line - 1 if last or text[end : end + 1] in {"\n", "\r"} else begin
    elif not last:
        end = len(text) - len(text[end:].lstrip(" "))
    text = text[:begin] + text[end:]
    before = node.commas[number - 1] if number else None
    if last and before is not None and comma is None:
        # The previous entry is now the last one.
        gap = text[before + 1 : begin]
        text = text[:before] + (gap if gap.strip() or "\n" in text[node.begin : begin] else "") + text[begin:]
    return text


def _written(text: str, value: Any, indent: str) -> str:
    return json.dumps(value, indent=_unit(text), ensure_ascii=False).replace("\n", f"\n{indent}")


def _unit(text: str) -> str:
    found = _INDENT.search(text)
    return found.group(1) if found else "  "


def _line_indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip())]
