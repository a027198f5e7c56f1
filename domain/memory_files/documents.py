"""Parse a memory file without losing a byte: its header, its sections, its memories, and text that people wrote.

The parser keeps text that it does not understand unchanged. In a file with a Slowwave header, a bullet without a mark
is a typed statement if it is below a Slowwave heading or before any heading; below a person's own heading it is that
person's text. In a file without the header, every bullet and paragraph is a statement (older daily notes), except a
transcript: lines that begin with their speaker ("[user] I moved.", "[main_agent] Noted.") are a conversation.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from slowwave_server.domain.memory_files.headers import FileHeader, is_header, parse_header
from slowwave_server.domain.memory_files.lines import BadMark, FileMemory, has_mark, parse_line, storable, without_mark
from slowwave_server.domain.memory_files.rendering import NOTES, TITLES
from slowwave_server.domain.memory_files.summaries import BEGIN, END, FileSummary, parse_summary

SECTIONS = {title: kind for kind, title in TITLES.items()} | {NOTES: "fact"}
"""Slowwave's headings, and the type of a statement that a person types below each of them."""

EntryKind = Literal["header", "heading", "memory", "summary", "candidate", "bad", "foreign"]
_HEADING = re.compile(r"#{1,6}[ \t]+(.*?)[ \t]*#*[ \t]*\r?\n?$")
_TYPED = re.compile(r"[-*+][ \t]+\S")
_GOES_ON = re.compile(r"(?: {2,}|\t)[ \t]*\S")
_PARAGRAPH = re.compile(r"(?![-*+#`~]|[ \t]*$|[ \t]*<!--)")
_SPEAKERS = r"user|human|assistant|ai|system|tool|(?:\w+[_ -])?agent"
_SPOKEN = re.compile(rf"(?:[-*+][ \t]+)?\[(?:{_SPEAKERS})\]:?[ \t]", re.IGNORECASE)
TRANSCRIPT = "this is a conversation, not a statement: bring it in with `slowwave import events`, one event a line"
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a file, or several lines that belong together (a summary, a typed bullet that continues).

    Attributes:
        raw: the original text, including line ends.
        number: the number of its first line, from 1.
        section: the Slowwave heading above it, "" before any heading, None below a person's own heading.
        type: the type that the memory would have.
        problem: the error of a bad entry.
    """

    kind: EntryKind
    raw: str
    number: int
    section: str | None = ""
    memory: FileMemory | None = None
    summary: FileSummary | None = None
    text: str = ""
    type: str = "fact"
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """A file's entries, whose joined `raw` texts are the file. header: None if it is missing or invalid."""

    entries: tuple[Entry, ...]
    header: FileHeader | None

    @property
    def text(self) -> str:
        return "".join(entry.raw for entry in self.entries)


def decode_bytes(data: bytes) -> str:
    """Decode a file; bytes that are not UTF-8 become surrogates, which `encode_document` writes back."""
    return data.decode("utf-8", "surrogateescape")


def encode_document(text: str) -> bytes:
    """Encode the text of a file."""
    return text.encode("utf-8", "surrogateescape")


def parse_document(text: str) -> Document:
    """Parse a file: `parse_document(text).text == text` for every text."""
    parser = _Parser(text)
    entries = tuple(parser.entries())
    return Document(entries, parser.header)


class _Parser:
    def __init__(self, text: str) -> None:
        # Only "\n" ends a line: a content may contain any other line separator.
        self._lines = re.findall(r"[^\n]*\n|[^\n]+", text)
        self._at = 0
        self._section: str | None = ""
        self.header: FileHeader | None = None

    def entries(self) -> Iterator[Entry]:
        while self._at < len(self._lines):
            yield self._next(self._lines[self._at])

    def _next(self, line: str) -> Entry:
        if (ours := self._ours(line)) is not None:
            return ours
        if length := self._closed_block():
            return self._take(length, "foreign")
        if self.header is None and _SPOKEN.match(line):
            return replace(self._take(self._run(_PARAGRAPH, spoken=True), "bad"), problem=TRANSCRIPT)
        if _TYPED.match(line) and (self.header is None or self._section is not None):
            return self._typed(self._run(_GOES_ON))
        if self.header is None and line.strip():
            return self._typed(self._run(_PARAGRAPH))
        return self._take(1, "foreign")

    def _ours(self, line: str) -> Entry | None:
        if self._at == 0 and is_header(line):
            return self._head()
        if line.startswith("#") and BEGIN in line:
            return self._summary()
        if has_mark(line.rstrip("\r\n")):
            return self._marked()
        if heading := _HEADING.match(line):
            self._section = self._section_of(heading[1])
            return self._take(1, "heading")
        return None

    def _take(self, count: int, kind: EntryKind) -> Entry:
        raw = "".join(self._lines[self._at : self._at + count])
        entry = Entry(kind, raw, self._at + 1, self._section)
        self._at += count
        return entry

    def _head(self) -> Entry:
        entry = self._take(1, "header")
        try:
            self.header = parse_header(entry.raw)
        except BadMark as error:
            return replace(entry, kind="bad", problem=str(error))
        return entry

    def _section_of(self, title: str) -> str | None:
        if title in SECTIONS:
            return title
        # In a file without a Slowwave header, headings say nothing about the lines below them.
        return "" if self.header is None else None

    def _summary(self) -> Entry:
        self._section = None
        end = next((n for n in range(self._at, len(self._lines)) if self._lines[n].rstrip() == END), None)
        if end is None:
            return replace(self._take(1, "bad"), problem="a summary begins here and its end mark is missing")
        entry = self._take(end - self._at + 1, "summary")
        try:
            return replace(entry, summary=parse_summary(entry.raw))
        except BadMark as error:
            return replace(entry, kind="bad", problem=str(error))

    def _marked(self) -> Entry:
        entry = self._take(1, "memory")
        line = entry.raw.rstrip("\r\n")
        try:
            return replace(entry, memory=parse_line(line), text=without_mark(line))
        except BadMark as error:
            return replace(entry, kind="bad", text=without_mark(line), problem=str(error))

    def _typed(self, count: int) -> Entry:
        entry = self._take(count, "candidate")
        parts = [without_mark(line.strip()) if n else without_mark(line) for n, line in enumerate(_lines(entry.raw))]
        statement = "\n".join(part for part in parts if part)
        if not statement.strip():
            return replace(entry, kind="foreign")
        if not storable(statement):
            return replace(entry, kind="bad", problem="the text holds NUL or bytes that are no UTF-8")
        return replace(entry, text=statement, type=SECTIONS.get(self._section or "", "fact"))

    def _run(self, goes_on: re.Pattern[str], *, spoken: bool = False) -> int:
        """Count the lines of the entry that begins here. spoken: lines of a transcript belong to the entry, too."""
        end = self._at + 1
        while end < len(self._lines) and self._goes_on(self._lines[end], goes_on, spoken=spoken):
            end += 1
        return end - self._at

    def _goes_on(self, line: str, goes_on: re.Pattern[str], *, spoken: bool) -> bool:
        if self._is_ours(line):
            return False
        if self.header is None and _SPOKEN.match(line):
            return spoken
        return goes_on.match(line) is not None

    def _is_ours(self, line: str) -> bool:
        return has_mark(line.rstrip("\r\n")) or BEGIN in line

    def _closed_block(self) -> int:
        """Count the lines of a person's fenced block or comment that begins here; 0 if neither begins here."""
        line = self._lines[self._at]
        if fence := _FENCE.match(line):
            return self._until(lambda later: later.strip().startswith(fence[1]))
        if line.lstrip().startswith("<!--"):
            return 1 if "-->" in line else self._comment()
        return 0

    def _comment(self) -> int:
        """Count the lines of a comment that begins here; 1 if only the "-->" of a Slowwave mark would close it."""
        count = self._until(lambda later: "-->" in later)
        return 1 if self._is_ours(self._lines[self._at + count - 1]) else count

    def _until(self, ends: Callable[[str], bool]) -> int:
        later = range(self._at + 1, len(self._lines))
        # An unclosed block hides only its own line.
        return next((n for n in later if ends(self._lines[n])), self._at) - self._at + 1


def _lines(raw: str) -> list[str]:
    return [line.rstrip("\r") for line in raw.rstrip("\n").split("\n")]
