"""Forgetting, mem0: copies of what is gone are taken away now, or as soon as mem0 can be reached.

In Postgres' own place for mem0's rows they went with their memories, in the forget's transaction.

Must not know: rows of Postgres, receipts, previews.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Engine, text

from domain.spoken_time import count_words
from services.mem0_backend.delivery import deliver_to_mem0
from services.memory_files.backends import MEM0
from services.memory_files.outbox import backlog
from slowwave.errors import SlowwaveError
from slowwave.mem0_backend import CopyStore, connect
from slowwave.settings import Settings

_LEFT = text(
    "SELECT o.scope_id, count(*) AS copies FROM slowwave.outbox o JOIN slowwave.scopes k ON k.id = o.scope_id"
    " WHERE k.tenant = :tenant AND o.backend = 'mem0' AND o.delivered < o.changes AND (k.id = ANY(:scopes)"
    "  OR NOT EXISTS (SELECT FROM slowwave.memories m WHERE m.id = o.memory_id))"
    " GROUP BY o.scope_id ORDER BY o.scope_id"
)
MAX_DELIVERIES = 200
"""Each is bounded; so many are enough for any scope."""


@dataclass(frozen=True, slots=True)
class Mem0Cleaner:
    """Takes copies of what is gone out of mem0. connecting: how mem0 is come by, only where there are any."""

    engine: Engine
    settings: Settings
    connecting: Callable[[Settings], CopyStore] = connect

    def clear(self, tenant: str, scopes: Iterable[int], now: datetime) -> list[str]:
        """Bring mem0 up to date with these scopes, and with what an earlier forget of this tenant left there.

        Answers what could not be done, in sentences; that is tried again by itself.
        """
        with self.engine.connect() as connection:
            found = connection.execute(_LEFT, {"tenant": tenant, "scopes": list(scopes)})
            left = {row.scope_id: row.copies for row in found}
        if not left:
            return []
        try:
            store = self.connecting(self.settings)
        except SlowwaveError as error:
            return [_kept(sum(left.values()), str(error))]
        return [problem for scope_id in left if (problem := self._deliver(scope_id, store, now))]

    def _deliver(self, scope_id: int, store: CopyStore, now: datetime) -> str | None:
        for _ in range(MAX_DELIVERIES):
            report = deliver_to_mem0(self.engine, scope_id, store, now=now)
            if not report.more:
                break
        if report.state not in {"busy", "failed"}:
            return None
        with self.engine.connect() as connection:
            waiting = backlog(connection, MEM0, scope_id).waiting
        return _kept(waiting, report.error or "somebody else is at them")


def _kept(copies: int, why: str) -> str:
    return (
        f"mem0 may still have {count_words(copies, 'copy', 'copies')} of it, which no search shows: {why}; workers take"
        " them away as soon as they can"
    )
