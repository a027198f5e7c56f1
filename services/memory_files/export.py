"""Export a scope's memory as Markdown files that people can read, copy and diff.

The same memories always give the same bytes, and a file with the same bytes is not touched. Text that people wrote
stays. If a person edited one of Slowwave's lines, the export refuses, unless `force` is set.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from sqlalchemy import Connection, Engine, select

from slowwave.errors import SlowwaveError
from slowwave_server.domain.memory_files import (
    Document,
    Entry,
    FileHeader,
    FileMemory,
    FileSummary,
    decode_bytes,
    encode_document,
    parse_document,
    render_daily,
    render_memory_md,
    rewrite,
)
from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.models import Scope
from slowwave_server.services.lookup import find_agent, find_scope, unknown_name
from slowwave_server.services.memory_files.disk import CURATED, Disk, FileChanged, day_of_path, leads_out
from slowwave_server.services.memory_files.layout import FileLayout, read_layout
from slowwave_server.services.memory_files.locks import file_lock
from slowwave_server.services.memory_files.manifest import NAME, Manifest, Written, file_digest, written
from slowwave_server.services.memory_files.ownership import read_owner

LINES_TOLD = 10


class EditedLines(SlowwaveError):
    """People edited Slowwave's lines since the last export; nothing was written. lines: (path, line number)."""

    def __init__(self, folder: Path, lines: Sequence[tuple[str, int]]) -> None:
        told = ", ".join(f"{path} line {number}" for path, number in islice(lines, LINES_TOLD))
        more = f" and {len(lines) - LINES_TOLD} more" if len(lines) > LINES_TOLD else ""
        super().__init__(
            f"{pluralize(len(lines), 'line')} in {folder} {'were' if len(lines) > 1 else 'was'} edited by hand since"
            f" the last export: {told}{more}. Nothing was written: `slowwave memory import` reads the edits, --force"
            " overwrites them"
        )
        self.lines = tuple(lines)


@dataclass(frozen=True, slots=True)
class ExportReport:
    """The result of an export of one scope ("agent NAME", "room:NAME" or "team:NAME").

    memories: the number of live ones; curated: of those in MEMORY.md; days: of files of days. written, removed: paths
    below the folder. unchanged: the number of files with the same contents.
    """

    scope: str
    folder: Path
    memories: int
    curated: int
    days: int
    written: tuple[str, ...]
    unchanged: int
    removed: tuple[str, ...]


def scopes_of(connection: Connection, tenant: str) -> list[tuple[str, str]]:
    """Return (kind, name) of every scope of a tenant."""
    query = select(Scope.kind, Scope.name).where(Scope.tenant == tenant).order_by(Scope.kind, Scope.name)
    return [(row.kind, row.name) for row in connection.execute(query)]


def known_scope(connection: Connection, tenant: str, kind: str, name: str) -> int:
    """Return the id of a scope. Raises UnknownName, with the nearest names."""
    found = find_scope(connection, tenant, kind, name)
    if found is not None:
        return found
    if kind == "agent":
        find_agent(connection, tenant, name)
    known = [other for its, other in scopes_of(connection, tenant) if its == kind]
    what = f"agent {name!r} has no memory" if kind == "agent" else f"no {kind} {name!r} in tenant {tenant!r}"
    raise unknown_name(what, name, known)


def export_scope(
    engine: Engine,
    tenant: str,
    kind: str,
    name: str,
    root: Path,
    *,
    append_only: bool,
    force: bool = False,
    disk: Disk | None = None,
) -> ExportReport:
    """Write the memory of a scope into its folder below `root`. append_only: True if curated memories stay in their
    day's log.

    Raises UnknownName, EditedLines (nothing was written), FilesBusy, OSError; SlowwaveError if a link leads out of
    `root`, or if somebody saved a file in the meantime.
    """
    with engine.connect() as connection:
        scope_id = known_scope(connection, tenant, kind, name)
    with (
        file_lock(engine, scope_id),
        # One snapshot for all files, so that they never contradict each other.
        engine.connect().execution_options(isolation_level="REPEATABLE READ") as connection,
    ):
        owner = read_owner(connection, scope_id)
        if owner is None:
            raise unknown_name(f"{kind} {name!r} is being forgotten", name, [])
        shelf = read_layout(connection, scope_id, owner.header, append_only=append_only)
        writer = _Export(connection, shelf, owner.folder(root), disk or Disk())
        writer.refuse_links(root)
        if not force:
            writer.refuse_edited()
        try:
            return writer.run()
        except FileChanged as changed:
            raise SlowwaveError(f"{changed} was saved by somebody while it was exported; export again") from None


class _Export:
    def __init__(self, connection: Connection, shelf: FileLayout, folder: Path, disk: Disk) -> None:
        self._connection = connection
        self._layout = shelf
        self._folder = folder
        self._disk = disk
        self._manifest = Manifest.read(disk, folder)
        self._written: list[str] = []
        self._removed: list[str] = []
        self._unchanged = 0

    def refuse_links(self, root: Path) -> None:
        """Raise SlowwaveError if a link leads out of the named folder: the export would replace a file outside it."""
        for path in (*self._layout.paths, *self._disk.paths(self._folder), NAME):
            if leads_out(root, self._folder / path):
                raise SlowwaveError(f"{self._folder / path} leads out of {root} by a link; nothing was written")

    def refuse_edited(self) -> None:
        """Raise EditedLines if a line differs both from the line that Slowwave wrote and from its memory."""
        edited: list[tuple[str, int]] = []
        for path in self._disk.paths(self._folder):
            found = self._disk.read(self._folder / path)
            before = self._manifest.files.get(path)
            if found is None or (before is not None and before.digest == file_digest(found.data)):
                continue
            edited.extend(
                (path, entry.number) for entry in self._edited(parse_document(decode_bytes(found.data)), before)
            )
        if edited:
            raise EditedLines(self._folder, edited)

    def _edited(self, document: Document, before: Written | None) -> list[Entry]:
        strange = [e for e in document.entries if e.memory and e.memory.id and not (before and before.has(e.raw))]
        now = self._layout.placed_memories(self._connection, [e.memory.id for e in strange if e.memory and e.memory.id])
        return [entry for entry in strange if not _says(entry, {key: found.memory for key, found in now.items()})]

    def run(self) -> ExportReport:
        paths = self._layout.paths
        for path in paths:
            self._put(path)
        for path in set(self._disk.paths(self._folder)) - set(paths):
            self._clear(path)
        for path in set(self._manifest.files) - set(paths):
            if self._disk.stamp(self._folder / path) is None:
                del self._manifest.files[path]
        self._manifest.write(self._disk, self._folder)
        header = self._layout.header
        days = {memory for path, ids in self._layout.ids.items() for memory in ids}
        return ExportReport(
            scope=f"{header.kind} {header.name}" if header.kind == "agent" else f"{header.kind}:{header.name}",
            folder=self._folder,
            memories=len(days),
            curated=len(self._layout.ids.get(CURATED, ())),
            days=len(paths) - 1,
            written=tuple(self._written),
            unchanged=self._unchanged,
            removed=tuple(sorted(self._removed)),
        )

    def _put(self, path: str) -> None:
        """Write one file if its content changes."""
        day = day_of_path(path)
        header = replace(self._layout.header, day=day)
        summaries = self._layout.summaries.get(day, ()) if day is not None else ()
        found = self._disk.read(self._folder / path)
        before = self._manifest.files.get(path)
        fresh = found is None or (before is not None and before.own and before.digest == file_digest(found.data))
        if found is None or fresh:
            memories = self._layout.memories(self._connection, path)
            text = "".join(_rendered(header, memories, summaries))
        else:
            document = parse_document(decode_bytes(found.data))
            text = rewrite(document, header, self._layout.memories(self._connection, path), summaries)
        self._write(path, text, None if found is None else (found.data, found.digest), own=fresh)

    def _clear(self, path: str) -> None:
        """Remove Slowwave's lines from the file of a day without memories; delete the file if it is then empty."""
        found = self._disk.read(self._folder / path)
        document = parse_document(decode_bytes(found.data)) if found is not None else None
        if found is None or document is None or document.header is None:
            return
        text = rewrite(document, replace(self._layout.header, day=day_of_path(path)), ())
        if "".join(text.splitlines(keepends=True)[1:]).strip():
            self._write(path, text, (found.data, found.digest), own=False)
            return
        (self._folder / path).unlink()
        self._removed.append(path)
        self._manifest.files.pop(path, None)

    def _write(self, path: str, text: str, before: tuple[bytes, bytes] | None, *, own: bool) -> None:
        data = encode_document(text)
        if before is None or before[0] != data:
            self._disk.write(self._folder / path, data, None if before is None else before[1])
            self._written.append(path)
        else:
            self._unchanged += 1
        entries = parse_document(text).entries
        ours = [entry.raw for entry in entries if entry.kind == "memory"]
        self._manifest.files[path] = written(data, ours, own=own)


def _says(entry: Entry, now: dict[object, FileMemory]) -> bool:
    """Return True if a line equals its memory's text."""
    memory = entry.memory
    known = now.get(memory.id) if memory is not None else None
    return memory is not None and known is not None and known.content == memory.content


def _rendered(header: FileHeader, memories: Iterable[FileMemory], summaries: Sequence[FileSummary]) -> Iterable[str]:
    return render_memory_md(header, memories) if header.day is None else render_daily(header, memories, summaries)
