"""Bringing the memory files of a scope up to date: hand edits are read back first, then what changed is written.

A delivery may be cut off anywhere and is simply made again: memories change in one transaction, a file in one step,
what is remembered of a file after it, and what waits in the outbox is marked last.

Must not know: Celery, when a delivery is due.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal
from uuid import UUID

from sqlalchemy import Engine

from domain.hand_edits import ids_in
from services.memory_changes import Stale
from services.memory_files.backends import FILE
from services.memory_files.disk import Disk, FileChanged
from services.memory_files.known import known_files, let_go, paths_of
from services.memory_files.locks import FilesBusy, HeldLock, file_lock
from services.memory_files.looking import Look, Looker
from services.memory_files.outbox import BATCH, HELD, mark_delivered, mark_failed, take_waiting
from services.memory_files.ownership import Forgotten, Owner, read_owner
from services.memory_files.reading_back import ReadBack, read_back
from services.memory_files.standing import standing
from services.memory_files.writing import Wanted, Writer

log = logging.getLogger(__name__)

TRIES = 8
"""So often a delivery begins anew since somebody saved a file or changed a memory in the middle of it."""


@dataclass(frozen=True, slots=True)
class FileRules:
    """Where the folders of all scopes stand, and whether active memories stay in their day's file."""

    root: Path
    append_only: bool = True


@dataclass(frozen=True, slots=True)
class DeliveryReport:
    """What a delivery came to. state: current (files say what Postgres says, but for those that are held); busy;
    failed (error says why; it is tried again later); unknown (there is no such scope).

    written: files; delivered: memories; run: of the hand edits, counts: what they were (see ReadBack); held: files that
    are left alone, and why; notes: (file, line, what somebody should know); more: a cap left something.
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
    """Bring the files of one scope up to date. allow_removals: also where a large part of a file is gone at once.

    Raises what Postgres raises; then, as after a crash, the next delivery does what is left to do.
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
        places = done[-1].places
        with self.engine.begin() as connection:
            taken = take_waiting(connection, FILE, self.scope_id)
            ids = set(taken) | _concerned(look, places)
            stands = standing(connection, self.scope_id, owner.header, ids, append_only=self.rules.append_only)
            before = paths_of(connection, self.scope_id, ids)
        by_path: dict[str, set[UUID]] = {path: set() for path in (*look.changed, *look.missing)}
        for memory in ids:
            now = stands[memory].paths if memory in stands else frozenset()
            for path in before.get(memory, set()) | now:
                by_path.setdefault(path, set()).add(memory)
        writer = Writer(self.engine, self.lock, owner, self.rules.root, self.disk)
        written, unserved = 0, set()
        for path in sorted(by_path):
            if path in look.held:
                unserved |= by_path[path]
                continue
            view = look.changed.get(path) or look.missing.get(path) or writer.view(path, _digest(look, path))
            # Of a file that was changed all that may stand there, of others what has changed.
            concerned = by_path[path] | (set(places.get(path, {}).values()) | (ids & ids_in(view.document.entries)))
            written += writer.write(view, Wanted(stands, concerned, places.get(path, {})), self.now)
        served = {memory: changes for memory, changes in taken.items() if memory not in unserved}
        with self.engine.begin() as connection:
            mark_delivered(connection, FILE, self.scope_id, served, self.now)
            mark_failed(connection, FILE, self.scope_id, HELD, self.now, memories=unserved)
        return _report(look, done, written=written, delivered=len(served), more=len(taken) == BATCH)

    def _fail(self, error: str) -> DeliveryReport:
        with self.engine.begin() as connection:
            mark_failed(connection, FILE, self.scope_id, error, self.now)
        return DeliveryReport("failed", error=error)


def _digest(look: Look, path: str) -> bytes | None:
    known = look.files.get(path)
    return known.digest if known is not None and known.digest else None


def _concerned(look: Look, places: Mapping[str, Mapping[int, UUID]]) -> set[UUID]:
    """Beside what waits: lines that were placed or came from elsewhere, and all lines of files that are gone."""
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
