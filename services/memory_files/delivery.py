"""Deliver a scope to its memory files: read hand edits back first, then write changed memories.

A delivery may stop anywhere and is repeated: memories change in one transaction, a file in one step, the stored state
of a file after it, and outbox rows are marked last.
"""

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from pathlib import Path
from typing import Literal
from uuid import UUID

from sqlalchemy import Engine

from slowwave_server.domain.hand_edits import ids_in
from slowwave_server.domain.memory_files import FileSummary
from slowwave_server.services.memories.changes import Stale
from slowwave_server.services.memory_files.backends import FILE
from slowwave_server.services.memory_files.changes import Look, Looker, View
from slowwave_server.services.memory_files.disk import Disk, FileChanged, day_of_path
from slowwave_server.services.memory_files.layout import summaries_of
from slowwave_server.services.memory_files.locks import FilesBusy, HeldLock, file_lock
from slowwave_server.services.memory_files.outbox import BATCH, HELD, mark_delivered, mark_failed, take_waiting
from slowwave_server.services.memory_files.ownership import Forgotten, Owner, read_owner
from slowwave_server.services.memory_files.placement import PlacedMemory, daily_path, placed_memories
from slowwave_server.services.memory_files.reading_back import ReadBack, read_back
from slowwave_server.services.memory_files.sync_state import known_files, let_go, paths_of
from slowwave_server.services.memory_files.writing import FileUpdate, Writer

log = logging.getLogger(__name__)

TRIES = 8
"""How often a delivery starts again if somebody saves a file or changes a memory during the delivery."""


@dataclass(frozen=True, slots=True)
class FileRules:
    """root: the folder of all scopes' folders; append_only: active memories also stay in their day's file."""

    root: Path
    append_only: bool = True


@dataclass(frozen=True, slots=True)
class DeliveryReport:
    """The result of a delivery.

    Attributes:
        state: current (the files equal Postgres, except held files); busy (another process delivers); failed (`error`
            has the reason, and a later delivery retries); unknown (the scope does not exist).
        written: the number of written files.
        delivered: the number of delivered memories.
        run: the run that stored hand edits.
        counts: the hand edits by kind (see `ReadBack`).
        held: the skipped files, with the reasons.
        notes: (file, line, remark for a person).
        more: True if a cap left rows for the next delivery.
    """

    state: Literal["current", "busy", "failed", "unknown"]
    written: int = 0
    delivered: int = 0
    run: int | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    held: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[tuple[str, int, str], ...] = ()
    error: str | None = None
    more: bool = False

    def with_next(self, report: "DeliveryReport") -> "DeliveryReport":
        """Return one report of this delivery and the next one."""
        return replace(
            report,
            written=self.written + report.written,
            delivered=self.delivered + report.delivered,
            run=self.run if report.run is None else report.run,
            counts={n: self.counts.get(n, 0) + report.counts.get(n, 0) for n in {**self.counts, **report.counts}},
            notes=self.notes + report.notes,
        )


def deliver(
    engine: Engine,
    scope_id: int,
    *,
    rules: FileRules,
    disk: Disk,
    now: datetime,
    by: str | None = None,
    allow_removals: bool = False,
) -> DeliveryReport:
    """Bring the files of one scope up to date. allow_removals: True to accept the removal of a large part of a file at
    once.

    Raises the errors of Postgres; the next delivery then does the remaining work, as after a crash.
    """
    engine = engine.execution_options(isolation_level="READ COMMITTED")
    try:
        with file_lock(engine, scope_id) as lock:
            return _Delivery(engine, scope_id, lock, rules, disk, now, by).run(allow_removals=allow_removals)
    except FilesBusy:
        return DeliveryReport("busy")


@dataclass
class _Delivery:
    engine: Engine
    scope_id: int
    lock: HeldLock
    rules: FileRules
    disk: Disk
    now: datetime
    by: str | None

    def run(self, *, allow_removals: bool) -> DeliveryReport:
        if allow_removals:
            with self.engine.begin() as connection:
                let_go(connection, self.scope_id)
        done: list[ReadBack] = []
        for left in reversed(range(TRIES)):
            try:
                return self._once(done, allow_removals=allow_removals)
            except (FileChanged, Stale, Forgotten) as error:
                if not left:
                    return self._fail(f"{type(error).__name__}: it changed {TRIES} times while it was delivered")
            except OSError as error:
                log.warning("files of scope %s could not be written: %s", self.scope_id, error)
                return self._fail(f"{type(error).__name__}: {error}")
        raise AssertionError("not reached")

    def _once(self, done: list[ReadBack], *, allow_removals: bool) -> DeliveryReport:
        with self.engine.begin() as connection:
            owner = read_owner(connection, self.scope_id)
            if owner is None:
                return DeliveryReport("unknown")
            self.disk.sweep(owner.folder(self.rules.root))
            looker = Looker(connection, owner, self.rules.root, self.disk, self.now)
            look = looker.look(known_files(connection, self.scope_id), allow_removals=allow_removals)
        with self.engine.begin() as connection:
            done.append(read_back(connection, owner, look.changed, by=self.by, now=self.now))
        return self._write_all(owner, look, done)

    def _write_all(self, owner: Owner, look: Look, done: list[ReadBack]) -> DeliveryReport:
        work = self._work(owner, look, done[-1].places)
        writer = Writer(self.engine, self.lock, owner, self.rules.root, self.disk)
        written, unserved = 0, set()
        for path in sorted(work.by_path):
            if path in look.held:
                unserved |= work.by_path[path]
                continue
            known = look.files.get(path)
            digest = known.digest if known is not None and known.digest else None
            view = look.changed.get(path) or look.missing.get(path) or writer.view(path, digest)
            written += writer.write(view, work.wanted(view, digest), self.now)
        served = {memory: changes for memory, changes in work.taken.items() if memory not in unserved}
        with self.engine.begin() as connection:
            mark_delivered(connection, FILE, self.scope_id, served, self.now)
            mark_failed(connection, FILE, self.scope_id, HELD, self.now, memories=unserved)
        # If all files are held, the next delivery would find the same work again, for ever.
        more = len(work.taken) == BATCH and bool(served)
        return _report(look, done, written=written, delivered=len(served), more=more)

    def _work(self, owner: Owner, look: Look, places: Mapping[str, Mapping[int, UUID]]) -> "_Work":
        """Read the work of the delivery; the outbox first, so that a change meanwhile is delivered again."""
        with self.engine.begin() as connection:
            taken = take_waiting(connection, FILE, self.scope_id)
            ids = set(taken) | _concerned(look, places)
            stands = placed_memories(connection, self.scope_id, owner.header, ids, append_only=self.rules.append_only)
            before = paths_of(connection, self.scope_id, ids)
            days = look.days
            summaries = summaries_of(connection, self.scope_id, days) if days else {}
        told = [daily_path(day) for day in summaries]
        by_path: dict[str, set[UUID]] = {path: set() for path in (*look.changed, *look.missing, *told)}
        for memory in ids:
            now = stands[memory].paths if memory in stands else frozenset()
            for path in before.get(memory, set()) | now:
                by_path.setdefault(path, set()).add(memory)
        return _Work(taken, ids, stands, by_path, places, {day: summaries.get(day, []) for day in days})

    def _fail(self, error: str) -> DeliveryReport:
        with self.engine.begin() as connection:
            mark_failed(connection, FILE, self.scope_id, error, self.now)
        return DeliveryReport("failed", error=error)


@dataclass(frozen=True, slots=True)
class _Work:
    """The work of one delivery. taken: outbox rows with their changes; by_path: memories that may have changed in each
    file;
    summaries: the summaries of days whose files must be read.
    """

    taken: Mapping[UUID, int]
    ids: Collection[UUID]
    stands: Mapping[UUID, PlacedMemory]
    by_path: Mapping[str, set[UUID]]
    places: Mapping[str, Mapping[int, UUID]]
    summaries: Mapping[date, Sequence[FileSummary]]

    def wanted(self, view: View, remembered: bytes | None) -> FileUpdate:
        """Return the wanted content of a file."""
        places = self.places.get(view.path, {})
        there = ids_in(view.document.entries) & set(self.ids)
        day = day_of_path(view.path)
        return FileUpdate(
            self.stands,
            self.by_path[view.path] | set(places.values()) | there,
            places,
            None if day is None else self.summaries.get(day),
            remembered,
        )


def _concerned(look: Look, places: Mapping[str, Mapping[int, UUID]]) -> set[UUID]:
    """Return memories besides those in the outbox: those of lines that were placed or came from another file, and those
    of all lines of missing files.
    """
    ids = {memory for lines in places.values() for memory in lines.values()}
    for view in look.changed.values():
        ids |= (ids_in(view.document.entries) - set(view.known)) - view.edits.left
        ids |= set(view.edits.removed)
    for view in look.missing.values():
        ids |= set(view.known)
    return ids


def _report(look: Look, done: list[ReadBack], *, written: int, delivered: int, more: bool) -> DeliveryReport:
    counts: dict[str, int] = {}
    for one in done:
        for name, count in one.counts.items():
            counts[name] = counts.get(name, 0) + count
    runs = [one.run for one in done if one.run is not None]
    return DeliveryReport(
        "current",
        written=written,
        delivered=delivered,
        run=runs[-1] if runs else None,
        counts=counts,
        held=dict(look.held),
        notes=tuple(look.notes),
        more=more,
    )
