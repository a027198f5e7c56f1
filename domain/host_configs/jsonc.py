"""Parse JSON with comments and trailing commas; every value keeps its position, so that one entry can be edited."""

import json
import re
from dataclasses import dataclass, field
from typing import Any, NoReturn

MAX_DEPTH = 100
_BLANK = re.compile(r"(?:[ \t\r\n\ufeff]|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_WORD = re.compile(r"[-+.\w]+")


class BrokenFile(ValueError):
    """The text does not have the required format; the message contains line and column."""


@dataclass(slots=True)
class Node:
    """A parsed value with its position and its entries. commas: the position of the comma after each entry."""

    begin: int
    end: int
    value: Any
    names: list[tuple[str, int]] = field(default_factory=list)
    entries: list["Node"] = field(default_factory=list)
    commas: list[int | None] = field(default_factory=list)

    def entry(self, name: str) -> int | None:
        """Return the index of the entry with this name; for duplicates, the last one, as in JSON."""
        found = [number for number, (known, _) in enumerate(self.names) if known == name]
        return found[-1] if found else None

    def begin_of(self, number: int) -> int:
        """Return the position of an entry, its name included."""
        return self.names[number][1] if self.names else self.entries[number].begin


def parse(text: str) -> Node:
    """Parse a whole text. Raises BrokenFile."""
    reader = _Reader(text)
    node = reader.node(reader.blank(0), 0)
    if (rest := reader.blank(node.end)) != len(text):
        reader.fail(rest, "one value")
    return node


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text

    def blank(self, at: int) -> int:
        found = _BLANK.match(self._text, at)
        return found.end() if found else at

    def fail(self, at: int, wanted: str) -> NoReturn:
        line = self._text.count("\n", 0, at) + 1
        column = at - self._text.rfind("\n", 0, at)
        raise BrokenFile(f"line {line}, column {column}: expected {wanted}, got {self._text[at : at + 20]!r}")

    def node(self, at: int, depth: int) -> Node:
        if depth > MAX_DEPTH:
            self.fail(at, f"at most {MAX_DEPTH} levels")
        first = self._text[at : at + 1]
        if first in {"{", "["}:
            return self._container(at, depth, named=first == "{")
        found = (_STRING if first == '"' else _WORD).match(self._text, at)
        if found is None:
            self.fail(at, "a value")
        try:
            return Node(at, found.end(), json.loads(found.group()))
        except ValueError:
            self.fail(at, "a value")

    def _container(self, begin: int, depth: int, *, named: bool) -> Node:
        close = "}" if named else "]"
        node = Node(begin, begin, {} if named else [])
        at = self.blank(begin + 1)
        while self._text[at : at + 1] != close:
            if node.commas and node.commas[-1] is None:
                self.fail(at, f"a comma or {close}")
            at = self._named(node, at) if named else at
            entry = self.node(at, depth + 1)
            node.entries.append(entry)
            if named:
                node.value[node.names[-1][0]] = entry.value
            else:
                node.value.append(entry.value)
            at = self.blank(entry.end)
            comma = self._text[at : at + 1] == ","
            node.commas.append(at if comma else None)
            at = self.blank(at + 1) if comma else at
        node.end = at + 1
        return node

    def _named(self, node: Node, at: int) -> int:
        found = _STRING.match(self._text, at)
        if found is None:
            self.fail(at, "a name in quotes")
        try:
            node.names.append((json.loads(found.group()), at))
        except ValueError:
            self.fail(at, "a name in quotes")
        at = self.blank(found.end())
        if self._text[at : at + 1] != ":":
            self.fail(at, "a colon")
        return self.blank(at + 1)
