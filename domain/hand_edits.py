"""Find hand edits of a memory file since Slowwave last wrote or read it: lines that a person typed, edited or removed.

A line is identified by the id in its mark. Digests compare its text, and the whole line, with the stored state. A line
that lost its mark and kept its text is still the same line. Lines with a damaged mark, or with a mark that names a
missing memory, stay untouched: an extra line does less harm than a forgotten memory that returns.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Protocol
from uuid import UUID

from slowwave_server.domain.memory_files.lines import FileMemory
from slowwave_server.domain.redaction import redact

HALF = 16
"""Length in bytes of each of the two digests of a line."""
FEW = 5
MOST_REMOVED = 0.3
"""If more than FEW lines and more than this share of a file's lines vanish at once, it is an accident until
confirmed.
"""

_MARK = "<!-- slowwave "
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


class Line(Protocol):
    """A piece of a file as `domain.memory_files` parses it (an Entry)."""

    @property
    def kind(self) -> str: ...
    @property
    def raw(self) -> str: ...
    @property
    def number(self) -> int: ...
    @property
    def memory(self) -> FileMemory | None: ...
    @property
    def text(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def problem(self) -> str: ...


@dataclass(frozen=True, slots=True)
class KnownLine:
    """The stored state of a memory's line: its `line_digest`, and the memory's revision when the line was written."""

    digest: bytes
    revision: int


@dataclass(frozen=True, slots=True)
class Typed:
    """A statement that a person typed. number: its line number; statements keep the order of the file."""

    number: int
    text: str
    type: str


@dataclass(frozen=True, slots=True)
class Edited:
    """A line whose text differs from the written text. written: the stored state; None if this file has no stored state
    for the line, because the line came from another file.
    """

    number: int
    memory: UUID
    shown: FileMemory
    written: KnownLine | None


@dataclass
class HandEdits:
    """The edits of one file.

    same: memories with an unchanged line; marked: memories with a changed mark and the same text, with line numbers;
    left: ids of lines that stay untouched; notes: (line number, reason), without the line's text.
    """

    typed: list[Typed] = field(default_factory=list)
    edited: list[Edited] = field(default_factory=list)
    removed: dict[UUID, KnownLine] = field(default_factory=dict)
    same: set[UUID] = field(default_factory=set)
    marked: dict[int, UUID] = field(default_factory=dict)
    left: set[UUID] = field(default_factory=set)
    notes: list[tuple[int, str]] = field(default_factory=list)

    @property
    def are_statements(self) -> bool:
        """Return True if a person typed, edited or removed a line."""
        return bool(self.typed or self.edited or self.removed)

    def is_accident(self, known: int) -> bool:
        """Return True if so many of the `known` lines are missing that the loss is probably an accident."""
        return len(self.removed) > FEW and len(self.removed) > MOST_REMOVED * known


def says_the_same(shown: str, content: str) -> bool:
    """Return True if a line with this text belongs to a memory with this `content`, apart from redacted secrets."""
    return shown == content or redact(shown).text == content


def said_as(content: str, line: KnownLine) -> bool:
    """Return True if the line had this text when it was written."""
    return line.digest[:HALF] == _half(content)


def line_digest(content: str, raw: str) -> bytes:
    """Return 32 bytes: a digest of the line's text, then a digest of the whole line without its line end."""
    return _half(content) + _half(raw.rstrip("\r\n"))


def ids_in(lines: Iterable[Line]) -> set[UUID]:
    """Return the ids in the marks of these lines."""
    return {line.memory.id for line in lines if line.memory is not None and line.memory.id is not None}


def hand_edits(lines: Sequence[Line], known: Mapping[UUID, KnownLine], there: Collection[UUID]) -> HandEdits:
    """Compare a file with its stored state. there: the ids in the marks whose memories exist."""
    return _Comparison(known, there).compare(lines)


class _Comparison:
    def __init__(self, known: Mapping[UUID, KnownLine], there: Collection[UUID]) -> None:
        self._known = known
        self._there = there
        self._seen: set[UUID] = set()
        self._bare: set[bytes] = set()
        self._found = HandEdits()

    def compare(self, lines: Sequence[Line]) -> HandEdits:
        # Unchanged lines come first: if two lines have one id, the other line is then a copy by a person.
        for line in lines:
            memory = self._untouched(line)
            if memory is not None:
                self._found.same.add(memory)
                self._seen.add(memory)
        candidates = [line for line in lines if line.kind == "candidate" and _MARK not in line.raw]
        self._bare = {_half(line.text) for line in candidates}
        for line in lines:
            if line.kind == "memory" and line.memory is not None:
                self._marked(line, line.memory)
            elif line.kind == "bad" or (line.kind == "candidate" and _MARK in line.raw):
                self._leave(line, line.problem or "its mark is damaged")
        self._unmarked(candidates)
        self._found.removed = {memory: known for memory, known in self._known.items() if memory not in self._seen}
        return self._found

    def _untouched(self, line: Line) -> UUID | None:
        memory = line.memory
        if memory is None or memory.id is None or memory.id in self._seen:
            return None
        known = self._known.get(memory.id)
        as_it_was = known is not None and known.digest == line_digest(memory.content, line.raw)
        return memory.id if as_it_was else None

    def _marked(self, line: Line, memory: FileMemory) -> None:
        if memory.id is None:
            self._found.typed.append(Typed(line.number, memory.content, memory.type))
            return
        known = self._known.get(memory.id)
        digest = line_digest(memory.content, line.raw)
        if memory.id in self._seen:
            # A second line with the same id and a different text is a separate statement.
            if known is None or known.digest[:HALF] != digest[:HALF]:
                self._found.typed.append(Typed(line.number, memory.content, memory.type))
            return
        if memory.id in self._there and known is not None and self._was_split(known, digest):
            self._found.typed.append(Typed(line.number, memory.content, memory.type))
            return
        self._seen.add(memory.id)
        if memory.id not in self._there and (known is None or known.digest[:HALF] != digest[:HALF]):
            self._found.left.add(memory.id)
            self._found.notes.append((line.number, "names a memory that is not here; without its mark it becomes one"))
        elif known is not None and known.digest[:HALF] == digest[:HALF]:
            self._found.marked[line.number] = memory.id
        else:
            self._found.edited.append(Edited(line.number, memory.id, memory, known))

    def _was_split(self, known: KnownLine, digest: bytes) -> bool:
        """Return True if a person broke the line before the mark, so that another line has the memory's words."""
        return known.digest[:HALF] != digest[:HALF] and known.digest[:HALF] in self._bare

    def _unmarked(self, candidates: Sequence[Line]) -> None:
        lost = {self._known[memory].digest[:HALF]: memory for memory in sorted(set(self._known) - self._seen)}
        for line in candidates:
            memory = lost.pop(_half(line.text), None)
            if memory is not None:
                self._seen.add(memory)
                self._found.marked[line.number] = memory
            else:
                self._found.typed.append(Typed(line.number, line.text, line.type))
        self._found.typed.sort(key=lambda typed: typed.number)

    def _leave(self, line: Line, problem: str) -> None:
        self._found.notes.append((line.number, problem))
        self._seen.update(UUID(found) for found in _ID.findall(line.raw) if UUID(found) in self._known)


def _half(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=HALF).digest()
