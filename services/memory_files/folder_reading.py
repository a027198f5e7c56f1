"""Read a folder of memory files: every statement, the days' summaries, and lines that could not be read."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime
from hashlib import blake2b
from pathlib import Path

from slowwave.errors import SlowwaveError
from slowwave_server.domain.candidates import first_status
from slowwave_server.domain.extraction.entities import entities
from slowwave_server.domain.local_days import bounds_of
from slowwave_server.domain.memory_files import (
    Document,
    Entry,
    FileHeader,
    FileMemory,
    FileSummary,
    decode_bytes,
    parse_document,
    render_line,
    scope_folder,
)
from slowwave_server.domain.redaction import redact
from slowwave_server.services.memory_files.disk import CURATED, DAILY, Disk, day_of_path, leads_out, too_large

MAX_FOLDER_BYTES = 256_000_000
"""An import reads all files of a folder at once, up to this size together."""
IMPORT_CONFIDENCE = 0.7
"""The confidence of a statement in a file with an unknown author."""
IMPORT_IMPORTANCE = 0.5
IMPORT_TRUST = "import"


class NoFiles(SlowwaveError):
    """The folder has no memory files."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A line that could not be imported, in a file below the scope's folder. what: the reason, without its text."""

    path: str
    line: int
    what: str


@dataclass(frozen=True, slots=True)
class FileStatement:
    """One statement of a file. memory: the memory by its mark, without secrets; marked: True if the line has a mark."""

    path: str
    line: int
    memory: FileMemory
    marked: bool

    @property
    def digest(self) -> bytes:
        """Return a digest of this statement and its mark; the same line read again has the same digest."""
        memory = self.memory
        said = render_line(replace(memory, id=None)) if self.marked else f"{memory.type} {memory.content}"
        return blake2b(said.encode(), digest_size=16).digest()


@dataclass(frozen=True, slots=True)
class DayPart:
    """The summary of a day in a file."""

    path: str
    line: int
    day: date
    summary: FileSummary


@dataclass(frozen=True, slots=True)
class Folder:
    """The memory files of one scope, parsed, by path."""

    folder: Path
    documents: dict[str, Document]

    @property
    def header(self) -> FileHeader | None:
        """Return the header of the first file with one: the memory's owner, and its day boundary."""
        return next((document.header for document in self.documents.values() if document.header), None)

    def statements(self, header: FileHeader, now: datetime) -> Iterator[FileStatement]:
        """Return all statements in order. header: its day boundary dates statements without a mark."""
        for path, document in self.documents.items():
            for entry in document.entries:
                if entry.memory is not None:
                    memory = replace(entry.memory, content=redact(entry.memory.content).text)
                    yield FileStatement(path, entry.number, memory, marked=True)
                elif entry.kind == "candidate":
                    yield FileStatement(path, entry.number, _unmarked(entry, path, header, now), marked=False)

    def summaries(self) -> Iterator[DayPart]:
        """Return the days' summaries, without secrets."""
        for path, document in self.documents.items():
            day = day_of_path(path)
            for entry in document.entries:
                if entry.summary is not None and day is not None:
                    yield DayPart(path, entry.number, day, _redacted(entry.summary))

    def problems(self) -> list[Problem]:
        """Return the lines that can't be read."""
        return [
            Problem(path, entry.number, entry.problem)
            for path, document in self.documents.items()
            for entry in document.entries
            if entry.kind == "bad"
        ]


def read_folder(disk: Disk, root: Path, tenant: str, kind: str, name: str) -> Folder:
    """Read the memory files of a scope below `root`: in the scope's own folder, or else in `root` itself.

    Raises NoFiles, OSError; SlowwaveError for files that are too large, and if a link leads out of `root`, because its
    sender then does not control all files.
    """
    own = root / scope_folder(tenant, kind, name)
    for folder in (own, root):
        paths = disk.paths(folder)
        for path in paths:
            if leads_out(root, folder / path):
                raise SlowwaveError(f"{folder / path} leads out of {root} by a link; nothing was read")
        if paths:
            _check_sizes(disk, folder, paths)
            found = ((path, disk.read(folder / path)) for path in paths)
            return Folder(folder, {path: parse_document(decode_bytes(file.data)) for path, file in found if file})
    raise NoFiles(
        f"there are no memory files in {root}: {CURATED} and {DAILY}/YYYY-MM-DD.md are looked for, there or in"
        f" {own.relative_to(root)}"
    )


def _check_sizes(disk: Disk, folder: Path, paths: list[str]) -> None:
    together = 0
    for path in paths:
        stamp = disk.stamp(folder / path)
        size = 0 if stamp is None else stamp.size
        if size > disk.most_bytes:
            told = too_large(size, disk.most_bytes)
            raise SlowwaveError(
                f"{folder / path} can't be imported: {told}; nothing was read. Split it into days' files"
            )
        together += size
    if together > MAX_FOLDER_BYTES:
        raise SlowwaveError(
            f"{folder} can't be imported: its files have {together:,} bytes together, and an import reads up to"
            f" {MAX_FOLDER_BYTES:,}; nothing was read. Import its days in several folders"
        )


def _unmarked(entry: Entry, path: str, header: FileHeader, now: datetime) -> FileMemory:
    content = redact(entry.text).text
    day = day_of_path(path)
    at = now if day is None else bounds_of(day, header.zone, header.cutoff_hour)[0]
    return FileMemory(
        id=None,
        type=entry.type,
        content=content,
        # A statement that somebody put into the curated file counts as curated.
        status="active" if path == CURATED else first_status(entry.type),
        confidence=IMPORT_CONFIDENCE,
        importance=IMPORT_IMPORTANCE,
        trust=IMPORT_TRUST,
        entities=entities(content, ()),
        valid_from=at,
        reaffirmed_at=at,
    )


def _redacted(summary: FileSummary) -> FileSummary:
    lines = tuple(
        {key: redact(value).text if key == "text" and isinstance(value, str) else value for key, value in line.items()}
        for line in summary.lines
    )
    return replace(summary, text=redact(summary.text).text, lines=lines)
