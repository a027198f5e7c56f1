"""Compare a scope's files with their stored state: find changed files, and the edits that people made in them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from pathlib import Path
from uuid import UUID

from sqlalchemy import Connection

from slowwave_server.domain.hand_edits import HandEdits, KnownLine, hand_edits, ids_in
from slowwave_server.domain.memory_files import TRANSCRIPT, Document, decode_bytes, parse_document
from slowwave_server.services.memory_files.disk import Disk, FileContent, Stamp, day_of_path, too_large
from slowwave_server.services.memory_files.hand_store import existing
from slowwave_server.services.memory_files.ownership import Owner
from slowwave_server.services.memory_files.sync_state import KnownFile, hold, known_lines, note_file

_BULLETS = ("-", "*", "+")
_SHORTEN = "make it shorter, or delete it and it is written again"


@dataclass(frozen=True, slots=True)
class View:
    """A file that must be read. content: None for a missing file; known: its lines in the stored state."""

    path: str
    content: FileContent | None
    document: Document
    known: Mapping[UUID, KnownLine]
    edits: HandEdits


@dataclass
class Look:
    """The result of a comparison of a scope's files with their stored state.

    changed: edited files, by path. missing: deleted files. held: files that the delivery skips, with the reasons.
    notes: (path, line, remark for a person).
    """

    files: Mapping[str, KnownFile]
    changed: dict[str, View] = field(default_factory=dict)
    missing: dict[str, View] = field(default_factory=dict)
    held: dict[str, str] = field(default_factory=dict)
    notes: list[tuple[str, int, str]] = field(default_factory=list)

    @property
    def days(self) -> set[date]:
        """The days whose files must be read, because their summaries may be new."""
        unseen = {path for path, known in self.files.items() if not known.modified_ns}
        found = {day_of_path(path) for path in {*self.changed, *self.missing, *unseen} - set(self.held)}
        return {day for day in found if day is not None}


def parse(content: FileContent | None) -> Document:
    """Parse a file. Without Slowwave's header, bullets are statements, and all other text is its author's."""
    document = parse_document("" if content is None else decode_bytes(content.data))
    if document.header is not None:
        return document
    kept = (
        replace(entry, kind="foreign")
        if (entry.kind == "candidate" and not entry.raw.lstrip().startswith(_BULLETS)) or entry.problem == TRANSCRIPT
        else entry
        for entry in document.entries
    )
    return Document(tuple(kept), None)


class Looker:
    """Compares the files of one scope with their stored state; the caller holds their lock."""

    def __init__(self, connection: Connection, owner: Owner, root: Path, disk: Disk, now: datetime) -> None:
        self._connection = connection
        self._owner = owner
        self._folder = owner.folder(root)
        self._disk = disk
        self._now = now

    def look(self, files: Mapping[str, KnownFile], *, allow_removals: bool) -> Look:
        """Compare every file with its stored state."""
        found = Look(files)
        for path in sorted({*files, *self._disk.paths(self._folder)}):
            self._look_at(path, files.get(path), found, allow_removals=allow_removals)
        return found

    def _look_at(self, path: str, known: KnownFile | None, found: Look, *, allow_removals: bool) -> None:
        stamp = self._disk.stamp(self._folder / path)
        if stamp is None:
            lines = known_lines(self._connection, self._owner.scope_id, path)
            found.missing[path] = View(path, None, parse(None), lines, HandEdits())
            return
        if known is None and self._is_forgotten(path):
            found.held[path] = "it is older than the forgetting of its scope, and is about to be deleted"
            return
        if known is not None and _is_as_seen(known, stamp):
            if known.held is not None:
                found.held[path] = known.held
            return
        is_large = stamp.size > self._disk.most_bytes
        content = None if is_large else self._disk.read(self._folder / path)
        if content is None:
            if is_large:
                why = f"{too_large(stamp.size, self._disk.most_bytes)}, so it is left alone: {_SHORTEN}"
                self._hold(path, why, stamp, found)
            return
        if known is not None and known.held is None and content.digest == known.digest:
            # The file was touched, or was written too recently to trust its time. A day's file that must be read for
            # its summary is noted after the summary is in it (Writer.write), so that it is due again if a step before
            # fails.
            if known.modified_ns or day_of_path(path) is None:
                note_file(self._connection, self._owner.scope_id, path, content.digest, stamp, self._now)
            return
        view = self._view(path, known, content)
        # An editor may be writing right now: many editors empty a file before they save it.
        is_empty = bool(view.edits.removed) and not content.data.strip()
        if not allow_removals and (is_empty or view.edits.is_accident(len(view.known))):
            self._hold(path, _too_many(len(view.edits.removed), len(view.known)), stamp, found)
            return
        found.changed[path] = view
        found.notes.extend((path, number, what) for number, what in view.edits.notes)

    def _hold(self, path: str, why: str, stamp: Stamp, found: Look) -> None:
        found.held[path] = why
        hold(self._connection, self._owner.scope_id, path, why, stamp, self._now)

    def _view(self, path: str, known: KnownFile | None, content: FileContent) -> View:
        document = parse(content)
        lines = known_lines(self._connection, self._owner.scope_id, path)
        if known is not None and known.writing == content.digest:
            # Slowwave wrote the file but did not note it: nobody has edited it.
            same = ids_in(document.entries)
            return View(path, content, document, lines, HandEdits(same=same))
        there = existing(self._connection, self._owner.scope_id, sorted(ids_in(document.entries)))
        return View(path, content, document, lines, hand_edits(document.entries, lines, there))

    def _is_forgotten(self, path: str) -> bool:
        erased_at = self._owner.fence.erased_at
        return erased_at is not None and self._disk.modified_before(self._folder / path, erased_at)


def _is_as_seen(known: KnownFile, stamp: Stamp) -> bool:
    is_same = (stamp.size, stamp.modified_ns) == (known.size, known.modified_ns)
    return is_same and stamp.modified_ns != 0 and known.writing is None


def _too_many(removed: int, known: int) -> str:
    return (
        f"{removed} of its {known} lines were removed at once, so the file is skipped:"
        " `slowwave backend sync files --allow-removals` archives these memories; to keep them, restore the lines, or"
        " delete the file, and it is written again"
    )


def moved(views: Collection[View]) -> set[UUID]:
    """Return memories whose line moved into one of these files from another file."""
    return {
        memory
        for view in views
        for memory in {*view.edits.same, *view.edits.marked.values(), *(e.memory for e in view.edits.edited)}
        if memory not in view.known
    }
