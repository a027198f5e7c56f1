"""Write one memory file: its lines follow the memories, and all other bytes stay unchanged."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from uuid import UUID

from sqlalchemy import Engine

from slowwave_server.domain.hand_edits import HandEdits, KnownLine, line_digest, says_the_same
from slowwave_server.domain.memory_files import (
    Document,
    Entry,
    FileMemory,
    FileSummary,
    encode_document,
    parse_document,
    rewrite,
)
from slowwave_server.services.memory_files.changes import View, parse
from slowwave_server.services.memory_files.disk import Disk, FileChanged, day_of_path, digest_of
from slowwave_server.services.memory_files.locks import HeldLock
from slowwave_server.services.memory_files.ownership import Owner
from slowwave_server.services.memory_files.placement import PlacedMemory
from slowwave_server.services.memory_files.sync_state import drop_file, known_lines, note_file, note_lines, note_writing


@dataclass(frozen=True, slots=True)
class FileUpdate:
    """The new content of a file.

    standing: existing memories that may have changed. ids: all memories that may have changed, including deleted ones.
    places: the memories of new lines, by line number. summaries: the summaries of the file's day; None keeps those in
    the file. remembered: the stored digest of the file.
    """

    standing: Mapping[UUID, PlacedMemory]
    ids: Collection[UUID]
    places: Mapping[int, UUID]
    summaries: Sequence[FileSummary] | None = None
    remembered: bytes | None = None


class Writer:
    """Writes files of one scope; the caller holds their lock."""

    def __init__(self, engine: Engine, lock: HeldLock, owner: Owner, root: Path, disk: Disk) -> None:
        self._engine = engine
        self._lock = lock
        self._header = owner.header
        self._scope_id = owner.scope_id
        self._folder = owner.folder(root)
        self._disk = disk

    def view(self, path: str, digest: bytes | None) -> View:
        """Return a view of a file that still has this digest (None: the file was missing). Raises FileChanged."""
        content = self._disk.read(self._folder / path)
        if (None if content is None else content.digest) != digest:
            raise FileChanged(path)
        with self._engine.connect() as connection:
            lines = known_lines(connection, self._scope_id, path)
        return View(path, content, parse(content), lines, HandEdits())

    def write(self, view: View, wanted: FileUpdate, now: datetime) -> bool:
        """Write the wanted content, and store the file's state. False: nothing changed. Raises FileChanged, OSError."""
        path = view.path
        document, memories, placed = _plan(view, wanted)
        header = replace(self._header, day=day_of_path(path))
        summaries = wanted.summaries
        if summaries is None:
            summaries = [entry.summary for entry in document.entries if entry.summary is not None]
        if view.content is None and not memories and not summaries:
            return self._forget(view)
        text = rewrite(document, header, memories.values(), summaries, placed=placed)
        data = encode_document(text)
        before = None if view.content is None else view.content.digest
        digest = digest_of(data)
        lines = _lines(text, view, wanted)
        if digest == before == wanted.remembered and lines == view.known and wanted.summaries is None:
            return False
        if digest != before:
            with self._engine.begin() as connection:
                note_writing(connection, self._scope_id, path, digest, now)
            self._lock.check()
            self._disk.write(self._folder / path, data, before)
        stamp = self._disk.stamp(self._folder / path)
        if stamp is None:
            raise FileChanged(path)
        with self._engine.begin() as connection:
            note_lines(connection, self._scope_id, path, lines, view.known)
            note_file(connection, self._scope_id, path, digest, stamp, now)
        return digest != before

    def _forget(self, view: View) -> bool:
        with self._engine.begin() as connection:
            note_lines(connection, self._scope_id, view.path, {}, view.known)
            drop_file(connection, self._scope_id, view.path)
        return False


def _plan(view: View, wanted: FileUpdate) -> tuple[Document, dict[UUID, FileMemory], dict[int, FileMemory]]:
    """Return the document without others' lines, the memories that need a line, and the lines already in place."""
    memories: dict[UUID, FileMemory] = {}
    shown: dict[UUID, str] = {}
    for entry in view.document.entries:
        if entry.memory is not None and entry.memory.id is not None and entry.memory.id not in memories:
            memories[entry.memory.id] = entry.memory
            shown[entry.memory.id] = entry.memory.content
    texts = {entry.number: _shown(entry) for entry in view.document.entries if entry.number in wanted.places}
    for number, memory in wanted.places.items():
        shown[memory] = texts[number]
    for memory in wanted.ids:
        stands = wanted.standing.get(memory)
        if stands is not None and view.path in stands.paths:
            memories[memory] = _as_shown(stands.memory, shown.get(memory))
        elif memory not in view.edits.left:
            memories.pop(memory, None)
    # One of several lines with the same text is enough.
    first: dict[UUID, int] = {}
    for number in sorted(wanted.places):
        first.setdefault(wanted.places[number], number)
    placed = {number: memories[memory] for memory, number in first.items() if memory in memories}
    elsewhere = set(wanted.places) - set(placed)
    entries = tuple(entry for entry in view.document.entries if entry.number not in elsewhere)
    return Document(entries, view.document.header), memories, placed


def _shown(entry: Entry) -> str:
    return entry.text if entry.memory is None else entry.memory.content


def _as_shown(memory: FileMemory, shown: str | None) -> FileMemory:
    """Return the memory in its line's words: a secret that a person wrote into the file stays only there."""
    return replace(memory, content=shown) if shown is not None and says_the_same(shown, memory.content) else memory


def _lines(text: str, view: View, wanted: FileUpdate) -> dict[UUID, KnownLine]:
    lines: dict[UUID, KnownLine] = {}
    for entry in parse_document(text).entries:
        memory = entry.memory
        if memory is None or memory.id is None or memory.id in lines or memory.id in view.edits.left:
            continue
        stands, known = wanted.standing.get(memory.id), view.known.get(memory.id)
        revision = stands.revision if stands is not None else None if known is None else known.revision
        if revision is not None:
            lines[memory.id] = KnownLine(line_digest(memory.content, entry.raw), revision)
    return lines
