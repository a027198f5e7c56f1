"""Deliver a scope to mem0: read the outbox, read the memories, then write or remove each copy.

A delivery may stop anywhere and is repeated: a copy replaces itself, and outbox rows are marked last. Only one delivery
per scope runs at a time, over all hosts, so that no older text overwrites a newer one.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal
from uuid import UUID

from sqlalchemy import Connection, Engine, select, text

from slowwave.embedding import EmbeddingFailed
from slowwave.errors import SlowwaveError
from slowwave.mem0_backend import Copy, CopyStore, Mem0Failed, Owner
from slowwave_server.models import Scope
from slowwave_server.services.memory_files.backends import MEM0, BackendName, registered
from slowwave_server.services.memory_files.locks import FilesBusy, file_lock
from slowwave_server.services.memory_files.outbox import (
    WaitingScope,
    mark_delivered,
    mark_failed,
    take_waiting,
    waiting_scopes,
)

_COPIES = text(
    "SELECT m.id, m.content, m.type, m.status, m.confidence, m.importance, m.trust, m.valid_from, m.valid_to,"
    " m.recorded_at, m.superseded_by, coalesce((SELECT jsonb_agg(jsonb_build_array(s.name, x.seq) ORDER BY s.id, x.seq)"
    "  FROM slowwave.memory_sources x JOIN slowwave.sessions s ON s.id = x.session_id WHERE x.memory_id = m.id), '[]')"
    "  AS sources"
    " FROM slowwave.memories m"
    " WHERE m.scope_id = :scope AND m.id = ANY(:ids) AND m.status <> 'archived' ORDER BY m.id"
)


def owner_of(connection: Connection, scope_id: int) -> Owner | None:
    """Return a scope by its names, or None if it does not exist."""
    row = connection.execute(select(Scope.tenant, Scope.kind, Scope.name).where(Scope.id == scope_id)).first()
    return None if row is None else Owner(row.tenant, row.kind, row.name)


def copies_of(connection: Connection, scope_id: int, ids: Collection[UUID]) -> list[Copy]:
    """Return the given memories of the scope, without archived and deleted ones, which must have no copy in mem0."""
    return [
        Copy(**{**row, "sources": tuple((name, seq) for name, seq in row["sources"])})
        for row in connection.execute(_COPIES, {"scope": scope_id, "ids": list(ids)}).mappings()
    ]


log = logging.getLogger(__name__)

BATCH = 500
CHUNK = 50
"""So many vectors are made at once, and so many copies are lost in a crash, and made again."""

_DROP = text(
    "DELETE FROM slowwave.outbox o USING (SELECT q.memory_id FROM slowwave.outbox q"
    " JOIN unnest(CAST(:memories AS uuid[]), CAST(:changes AS integer[])) AS r (memory_id, changes)"
    "  ON (r.memory_id, r.changes) = (q.memory_id, q.changes)"
    " WHERE q.backend = 'mem0' AND q.scope_id = :scope FOR UPDATE OF q SKIP LOCKED) AS x"
    " WHERE o.memory_id = x.memory_id AND o.backend = 'mem0'"
)


@dataclass(frozen=True, slots=True)
class Mem0Report:
    """The result of a delivery. state: current; busy; failed (error has the reason; a later delivery retries); unknown
    (the scope does not exist). written, removed: the numbers of copies; more: True if further rows are due at once.
    """

    state: Literal["current", "busy", "failed", "unknown"]
    written: int = 0
    removed: int = 0
    error: str | None = None
    more: bool = False

    def with_next(self, report: "Mem0Report") -> "Mem0Report":
        """Return one report of this delivery and the next one."""
        return replace(report, written=self.written + report.written, removed=self.removed + report.removed)


def deliver_to_mem0(engine: Engine, scope_id: int, store: CopyStore, *, now: datetime) -> Mem0Report:
    """Bring mem0 up to date with one scope, at most 500 memories.

    While mem0 is not the chosen backend, only a forget adds outbox rows for it. Such a delivery removes all copies; if
    mem0 is chosen again later, they are written again.

    Raises the errors of Postgres; the next delivery then does the remaining work, as after a crash.
    """
    engine = engine.execution_options(isolation_level="READ COMMITTED")
    try:
        with file_lock(engine, scope_id, of=MEM0):
            return _Delivery(engine, scope_id, store, now).run()
    except FilesBusy:
        return Mem0Report("busy")


def try_delivery(engine: Engine, scope_id: int, connecting: Callable[[], CopyStore], *, now: datetime) -> Mem0Report:
    """Deliver a scope after connecting to mem0. If the connection fails, return a failed delivery with the reason."""
    try:
        store = connecting()
    except SlowwaveError as error:
        with engine.execution_options(isolation_level="READ COMMITTED").begin() as connection:
            mark_failed(connection, MEM0, scope_id, str(error), now)
        return Mem0Report("failed", error=str(error))
    return deliver_to_mem0(engine, scope_id, store, now=now)


def copies_due(
    connection: Connection, backend: BackendName, *, limit: int, now: datetime, scope_id: int | None = None
) -> list[WaitingScope]:
    """Return the scopes (or only this one) with rows that wait for mem0 and may be delivered now, if mem0 is the
    backend.

    If another backend is chosen and no other process feeds mem0, return the scopes whose copies a forget could not
    remove.
    """
    if backend != MEM0 and MEM0 in registered(connection):
        return []
    return waiting_scopes(connection, MEM0, limit=limit, now=now, scope_id=scope_id)


@dataclass
class _Delivery:
    engine: Engine
    scope_id: int
    store: CopyStore
    now: datetime

    def run(self) -> Mem0Report:
        # Read the waiting rows first, so that a change during the other reads is delivered again.
        with self.engine.begin() as connection:
            owner = owner_of(connection, self.scope_id)
            if owner is None:
                return Mem0Report("unknown")
            taken = take_waiting(connection, MEM0, self.scope_id, limit=BATCH)
            copies = copies_of(connection, self.scope_id, taken) if MEM0 in registered(connection) else []
        living = {copy.id for copy in copies}
        try:
            removed = self._remove({memory: n for memory, n in taken.items() if memory not in living})
            failed: dict[UUID, str] = {}
            for begin in range(0, len(copies), CHUNK):
                failed |= self._put(owner, copies[begin : begin + CHUNK], taken)
        except (Mem0Failed, EmbeddingFailed) as error:
            return self._fail(str(error), taken)
        if failed:
            why = next(iter(failed.values()))
            return self._fail(why, failed, written=len(copies) - len(failed), removed=removed)
        return Mem0Report("current", len(copies), removed, more=len(taken) == BATCH)

    def _remove(self, taken: Mapping[UUID, int]) -> int:
        """Remove copies. Their outbox rows are deleted, so that no id of a forgotten memory stays."""
        if taken:
            self.store.remove(taken)
            values = {"memories": list(taken), "changes": list(taken.values()), "scope": self.scope_id}
            with self.engine.begin() as connection:
                connection.execute(_DROP, values)
        return len(taken)

    def _put(self, owner: Owner, copies: list[Copy], taken: Mapping[UUID, int]) -> dict[UUID, str]:
        failed = self.store.put(owner, copies)
        done = {copy.id: taken[copy.id] for copy in copies if copy.id not in failed}
        with self.engine.begin() as connection:
            mark_delivered(connection, MEM0, self.scope_id, done, self.now)
        if not done and len(failed) > 1:
            # A failure of the connection is not the fault of a memory, and the others would fail in the same way.
            raise Mem0Failed(next(iter(failed.values())))
        return failed

    def _fail(self, error: str, memories: Iterable[UUID], *, written: int = 0, removed: int = 0) -> Mem0Report:
        """Mark the remaining rows as failed; delivered rows are already marked."""
        with self.engine.begin() as connection:
            mark_failed(connection, MEM0, self.scope_id, error, self.now, memories=set(memories))
        log.warning("copies of scope %d in mem0: %s", self.scope_id, error)
        return Mem0Report("failed", written, removed, error=error)
