"""Forget copies in mem0: copies of deleted memories are removed now, or as soon as mem0 answers.

If mem0 stores its rows in this Postgres, the forget's transaction has already deleted them with their memories.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Engine, text

from slowwave.errors import SlowwaveError
from slowwave.mem0_backend import CopyStore, connect, needs_rows
from slowwave.settings import Settings
from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.services.mem0_backend.delivery import deliver_to_mem0
from slowwave_server.services.memory_files.backends import MEM0
from slowwave_server.services.memory_files.outbox import backlog

_LEFT = text(
    "SELECT o.scope_id, count(*) AS copies FROM slowwave.outbox o JOIN slowwave.scopes k ON k.id = o.scope_id"
    " WHERE k.tenant = :tenant AND o.backend = 'mem0' AND o.delivered < o.changes AND (k.id = ANY(:scopes)"
    "  OR NOT EXISTS (SELECT FROM slowwave.memories m WHERE m.id = o.memory_id))"
    " GROUP BY o.scope_id ORDER BY o.scope_id"
)
# A locked row is being delivered right now.
_WENT = text(
    "DELETE FROM slowwave.outbox o USING (SELECT q.memory_id FROM slowwave.outbox q"
    " JOIN slowwave.scopes k ON k.id = q.scope_id WHERE k.tenant = :tenant AND q.backend = 'mem0' AND q.forgotten"
    "  AND NOT EXISTS (SELECT FROM slowwave.memories m WHERE m.id = q.memory_id) FOR UPDATE OF q SKIP LOCKED) AS x"
    " WHERE o.memory_id = x.memory_id AND o.backend = 'mem0'"
)
MAX_DELIVERIES = 200
"""Each is bounded; so many are enough for any scope."""


@dataclass(frozen=True, slots=True)
class Mem0Cleaner:
    """Removes copies of deleted memories from mem0. connecting: connects to mem0; called only if there are copies."""

    engine: Engine
    settings: Settings
    connecting: Callable[[Settings], CopyStore] = connect

    def clear(self, tenant: str, scopes: Collection[int], now: datetime) -> list[str]:
        """Bring mem0 up to date for these scopes, and remove copies that an earlier forget of this tenant left.

        Return a sentence for each failure; workers retry failed steps.
        """
        left = self._left(tenant, scopes)
        if not left:
            return []
        try:
            if needs_rows(self.settings):
                left = self._drop_what_went(tenant, scopes)
            store = self.connecting(self.settings) if left else None
        except SlowwaveError as error:
            return [_kept(sum(left.values()), str(error))]
        if store is None:
            return []
        return [problem for scope_id in left if (problem := self._deliver(scope_id, store, now))]

    def _left(self, tenant: str, scopes: Collection[int]) -> dict[int, int]:
        """Count the waiting copies of each scope."""
        with self.engine.connect() as connection:
            found = connection.execute(_LEFT, {"tenant": tenant, "scopes": list(scopes)})
            return {row.scope_id: row.copies for row in found}

    def _drop_what_went(self, tenant: str, scopes: Collection[int]) -> dict[int, int]:
        """Remove copies without a model, which this host may lack. Return the number of remaining copies."""
        with self.engine.execution_options(isolation_level="READ COMMITTED").begin() as connection:
            connection.execute(_WENT, {"tenant": tenant})
        return self._left(tenant, scopes)

    def _deliver(self, scope_id: int, store: CopyStore, now: datetime) -> str | None:
        for _ in range(MAX_DELIVERIES):
            report = deliver_to_mem0(self.engine, scope_id, store, now=now)
            if not report.more:
                break
        if report.state not in {"busy", "failed"}:
            return None
        with self.engine.connect() as connection:
            waiting = backlog(connection, MEM0, scope_id).waiting
        return _kept(waiting, report.error or "another process is changing them")


def _kept(copies: int, why: str) -> str:
    return (
        f"mem0 may still have {pluralize(copies, 'copy', 'copies')} of it, which no search shows: {why}; workers take"
        " them away as soon as they can"
    )
