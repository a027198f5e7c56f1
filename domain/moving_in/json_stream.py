"""Parse JSON of any size entry by entry: the entries of a list, or of the lists inside an object.

    [a, b]                       ("", 1, a), ("", 2, b)
    {"edges": [a, b], "n": 7}    ("edges", 1, a), ("edges", 2, b), ("n", 0, 7)

Only one entry is in memory at a time. An entry that is too long, too deeply nested or not JSON gives a Fault, and
parsing continues with the next entry. If the outer structure is broken, the rest of the file is one Fault.
"""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

MAX_ENTRY_CHARACTERS = 32_000_000
MAX_DEPTH = 200
_TOKEN = re.compile(r'["{}\[\],]')
_STRING_END = re.compile(r'["\\]')
_KEY = re.compile(r'\s*("(?:[^"\\]|\\.)*")\s*:\s*', re.DOTALL)
_MAX_KEY_CHARACTERS = 1000


class Found(NamedTuple):
    """One entry: the name of its list, its number from 1 (0: outside a list), its value."""

    key: str
    number: int
    value: Any


class Fault(NamedTuple):
    """An entry that can't be parsed, and the reason."""

    key: str
    number: int
    what: str


def entries(chunks: Iterable[str]) -> Iterator[Found | Fault]:
    """Parse a JSON text that arrives in chunks."""
    return _Stream(chunks).entries()


def parse(text: str) -> Any:
    """Parse one JSON value. Raises ValueError, also for a value that is nested too deeply."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


class _Broken(Exception):
    pass


class _Stream:
    def __init__(self, chunks: Iterable[str]) -> None:
        self._chunks = iter(chunks)
        self._text = ""
        self._at = 0

    def entries(self) -> Iterator[Found | Fault]:
        try:
            yield from self._outline()
        except _Broken as broken:
            yield Fault("", 0, f"the file is not valid JSON from here on: {broken}")

    def _outline(self) -> Iterator[Found | Fault]:
        first = self._peek()
        if first == "[":
            yield from self._list("")
        elif first == "{":
            yield from self._object()
        else:
            raise _Broken("it begins with neither { nor [" if first else "the file is empty")
        if self._peek():
            raise _Broken("something follows after its end")

    def _object(self) -> Iterator[Found | Fault]:
        self._at += 1
        while self._peek() != "}":
            key = self._key()
            if self._peek() == "[":
                yield from self._list(key)
            else:
                yield self._value(key, 0)
            self._separator("}")
        self._at += 1

    def _list(self, key: str) -> Iterator[Found | Fault]:
        self._at += 1
        number = 0
        while self._peek() != "]":
            number += 1
            yield self._value(key, number)
            self._separator("]")
        self._at += 1

    def _separator(self, end: str) -> None:
        found = self._peek()
        if found == ",":
            self._at += 1
            if self._peek() != end:
                return
            raise _Broken("a comma stands before its end")
        if found != end:
            raise _Broken(f"{', or '.join((repr(','), repr(end)))} is missing" if found else "its end is missing")

    def _key(self) -> str:
        while (found := _KEY.match(self._text, self._at)) is None or found.end() == len(self._text):
            if len(self._text) - self._at > _MAX_KEY_CHARACTERS or not self._more():
                break
        if found is None:
            raise _Broken("a name and a colon are missing")
        self._at = found.end()
        try:
            return str(json.loads(found[1], strict=False))
        except ValueError:
            raise _Broken("a name is not a JSON text") from None

    def _value(self, key: str, number: int) -> Found | Fault:
        raw = self._raw()
        if isinstance(raw, Fault):
            return Fault(key, number, raw.what)
        try:
            return Found(key, number, parse(raw))
        except ValueError as error:
            return Fault(key, number, f"no JSON: {error}"[:200])

    def _raw(self) -> "str | Fault":
        """Return the text of the value that begins here, or a Fault if the value is too long or too deep."""
        self._peek()
        parts: list[str] = []
        length = depth = deepest = 0
        in_text = False
        while True:
            stop, depth, deepest, in_text, ended = self._scan(depth, deepest, in_text=in_text)
            length += stop - self._at
            if length <= MAX_ENTRY_CHARACTERS:
                parts.append(self._text[self._at : stop])
            else:
                parts.clear()
            self._at = stop
            if ended:
                break
            if not self._more():
                raise _Broken("its end is missing")
        if length > MAX_ENTRY_CHARACTERS:
            return Fault("", 0, f"it has {length:,} characters, at most {MAX_ENTRY_CHARACTERS:,} are read")
        if deepest > MAX_DEPTH:
            return Fault("", 0, f"it is nested {deepest:,} deep, at most {MAX_DEPTH} are read")
        return "".join(parts)

    def _scan(self, depth: int, deepest: int, *, in_text: bool) -> tuple[int, int, int, bool, bool]:
        """Scan to the end of the value or the buffer. Return the position, the state, and True if the value ended."""
        text, at = self._text, self._at
        while True:
            found = (_STRING_END if in_text else _TOKEN).search(text, at)
            if found is None:
                return len(text), depth, deepest, in_text, False
            mark, at = found[0], found.end()
            if in_text:
                if mark == '"':
                    in_text = False
                elif at == len(text):
                    # The character after a backslash must be read together with it.
                    return at - 1, depth, deepest, True, False
                else:
                    at += 1
            elif mark == '"':
                in_text = True
            elif mark in "{[":
                depth += 1
                deepest = max(deepest, depth)
            elif depth == 0:
                # A comma, or the end of the enclosing list or object.
                return at - 1, 0, deepest, False, True
            elif mark in "}]":
                depth -= 1

    def _peek(self) -> str:
        """Return the next character that is not a blank; "" at the end."""
        while True:
            while self._at < len(self._text):
                if not self._text[self._at].isspace():
                    return self._text[self._at]
                self._at += 1
            if not self._more():
                return ""

    def _more(self) -> bool:
        chunk = next(self._chunks, "")
        if not chunk:
            return False
        self._text = self._text[self._at :] + chunk
        self._at = 0
        return True
