"""The shared state behind a process' hooks: connections, capture, spool, writer and offers.

The `Memory` objects of all tenants share one store. A forked child makes its own, because connections, queue and locks
belong to the parent.
"""

import itertools
import os
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from slowwave.background import Writer
from slowwave.capture import Capture, Captured, Entry
from slowwave.embedding import Embedders
from slowwave.errors import SlowwaveError, SpoolFull, StoreUnavailable
from slowwave.identity import SessionRef
from slowwave.offers import Offers, ThrottledLog
from slowwave.postgres import NotPermitted, Postgres, PreparedStatement
from slowwave.replica import ReplicaReads
from slowwave.settings import Settings
from slowwave.shown import Shown
from slowwave.spool import Spool, spooled
from slowwave.spool_owners import Acting, RecorderFor
from slowwave.spooled_notes import Recorder
from slowwave.store_hooks import inherited, stores
from slowwave.tracing import hook_span, switch_on

if TYPE_CHECKING:
    from slowwave.coordination.flush_queue import FlushQueue
    from slowwave.mem0_backend import Mem0Connection
    from slowwave.read_routing import Source
    from slowwave.recall import Questions

Mode = Literal["durable", "background"]
Stored = Literal["postgres", "queued", "spool"]

CLOSE_SECONDS = 10.0
OFFER_SECONDS = 2.0

_BOOST = PreparedStatement(b"slowwave_boost", b"SELECT * FROM slowwave.boost_sessions($1, $2, $3, $4)")


class Store:
    """Records entries in the given mode, and spools entries that Postgres can't accept now.

    mode: with "durable", `record` returns after the commit; with "background" it returns at once, and a thread commits
    in batches. raise_errors: True to raise StoreUnavailable after an entry was spooled. queue: the flush queue for
    offers; with None, the first offer connects to the broker of the settings. acting: the current owner, if the process
    works for several, as a gateway does.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        mode: Mode = "durable",
        raise_errors: bool = False,
        queue: "FlushQueue | None" = None,
        acting: Acting | None = None,
    ) -> None:
        self.settings = settings
        self._acting = acting
        self.embedders = Embedders(settings.memory.embeddings)
        self._mode = mode
        self._raise_errors = raise_errors
        self._queue = queue
        self._throttled_log = ThrottledLog()
        if settings.tracing:
            switch_on()
        self._open()
        stores.add(self)

    def _open(self) -> None:
        settings = self.settings
        lent = None if self._acting is None else self._acting.enter
        self.postgres = Postgres(settings.database_url, lent=lent)
        self._reads = ReplicaReads(self.postgres, settings.read_database_url, lent=lent)
        self.offers = Offers(settings, self._queue)
        self.capture = Capture(self.postgres, settings.memory)
        self._spool = Spool(settings.spool, settings.database_url)
        recorder = Recorder(self.capture, self.postgres, settings.memory)
        deliverer = recorder if self._acting is None else RecorderFor(recorder, self._acting)
        self._writer = Writer(deliverer, self._spool, self._offer_due)
        self._shown = Shown()
        self._mem0: Mem0Connection | None = None
        self._questions: Questions | None = None
        self._closed = False
        # Keys sort by time, are short, and differ between processes and forks.
        self._prefix = f"{time.time_ns() // 1_000_000:x}-{os.urandom(6).hex()}"
        self._calls = itertools.count()
        if spooled(settings.spool).files:
            self._writer.start()

    def new_key(self) -> str:
        """A fresh idempotency key for one call."""
        return f"{self._prefix}-{next(self._calls):x}"

    @property
    def mem0(self) -> "Mem0Connection":
        """Return the mem0 client of the settings; it is imported and connected on first use."""
        if self._mem0 is None:
            from slowwave.mem0_backend import Mem0Connection  # noqa: PLC0415 (few have this backend)

            self._mem0 = Mem0Connection(self.settings)
        return self._mem0

    def warm(self) -> None:
        """Start to connect to mem0 in a thread, if mem0 is the backend."""
        if self.settings.memory.backend == "mem0":
            self.mem0.warm()

    def source(self) -> "Source":
        """Return the sources for reads."""
        from slowwave.read_routing import Source  # noqa: PLC0415 (writers need none of it)

        if self._questions is None:
            from slowwave.recall import Questions  # noqa: PLC0415 (as above)

            self._questions = Questions(self.embedders)
        return Source(self.settings, self._reads.read, lambda: self.mem0, self._questions)

    def record(self, entry: Entry) -> tuple[Captured | None, Stored]:
        """Record an entry. Return its outcome, or None if the entry is not in Postgres yet.

        Raises `Refused`, `SpoolFull`, and with `raise_errors` StoreUnavailable after the entry was spooled.
        """
        if self._closed:
            raise SlowwaveError("this memory is closed")
        with hook_span("hook/record", entry):
            recorded = self._record(entry)
        if (shown := self._shown.take(entry)) is not None:
            shown.by = None if self._acting is None else self._acting.current()
            with suppress(SpoolFull):
                self._writer.put(shown)
        return recorded

    def show(self, ref: SessionRef, memories: Iterable[str]) -> None:
        """Note that a context showed memories. A thread stores the note after the next record of the session."""
        rules = self.settings.memory.consolidation
        if rules.enabled and rules.learn_from_use:
            self._shown.add(ref, memories)

    def _record(self, entry: Entry) -> tuple[Captured | None, Stored]:
        if self._mode == "background":
            entry.stamp(_now())
            return None, self._writer.put(entry)
        # Spooled entries come first, because no entry may overtake an older one.
        if not self._spool.pending:
            try:
                captured = self.capture.one(entry)
            except StoreUnavailable as error:
                if self._acting is not None and isinstance(error, NotPermitted):
                    raise  # this caller has lost the right, and waiting does not change this
                self._spool_away(entry, error)
                return None, "spool"
            if captured.due:
                self.offers.enqueue_async([entry.ref], "normal")
            return captured, "postgres"
        self._spool_away(entry, StoreUnavailable("earlier events still wait in the spool"))
        return None, "spool"

    def set_aside(self, entry: Entry, error: StoreUnavailable) -> None:
        """Spool an entry until Postgres is available; it is on the disk when the call returns. Raises SpoolFull."""
        if self._closed:
            raise SlowwaveError("this memory is closed")
        entry.stamp(_now())
        if self._acting is not None:
            entry.by = self._acting.current()
        self._writer.store([entry])
        self._throttled_log.warn("recorded messages and notes wait in %s: %s", self._spool.folder, error)

    def boost(self, tenant: str, agent: str, session: str) -> list[str]:
        """Mark the other dirty sessions of an agent as due, and offer them first. Return their names.

        A lost boost only delays work, so it is not spooled. With `raise_errors` raises StoreUnavailable.
        """
        flushing = self.settings.memory.auto_flush
        if not flushing.enabled or not flushing.max_cross_session_reprioritize:
            return []
        limit = str(flushing.max_cross_session_reprioritize)
        with hook_span("hook/boost", SessionRef(tenant, agent, session)):
            try:
                rows = self.postgres.call(_BOOST, (tenant.encode(), agent.encode(), session.encode(), limit.encode()))
            except StoreUnavailable as error:
                if self._raise_errors:
                    raise
                self._throttled_log.warn("no session could be boosted: %s", error)
                return []
            names = [row[0].decode() for row in rows if row[0]]
            self.offers.enqueue_async([SessionRef(tenant, agent, name) for name in names], "high")
            return names

    def flush(self, timeout: float) -> bool:
        """Deliver queue, spool and offers now. Return False if this takes longer than `timeout` seconds."""
        end = time.monotonic() + timeout
        return self._writer.flush(timeout) and self.offers.settle(max(0.0, end - time.monotonic()))

    def close(self, timeout: float = CLOSE_SECONDS) -> None:
        """Commit or spool queued entries, and close all connections. Raises SpoolFull if both fail."""
        if self._closed:
            return
        self._closed = True
        try:
            self._writer.close(timeout)
            self.offers.settle(OFFER_SECONDS)
        finally:
            self.offers.close()
            self._reads.close()
            self.postgres.close()

    def _offer_due(self, refs: Sequence[SessionRef]) -> None:
        self.offers.enqueue([(ref, "normal") for ref in refs])

    def _spool_away(self, entry: Entry, error: StoreUnavailable) -> None:
        self.set_aside(entry, error)
        if self._raise_errors:
            raise StoreUnavailable(f"the events wait in {self._spool.folder} and will be delivered: {error}")

    def begin_anew(self) -> None:
        """In a forked child: abandon the parent's connections and queue, and start empty."""
        inherited.append((self.postgres, self._reads, self.offers, self.capture))
        inherited.append((self._spool, self._writer, self._mem0))
        self._spool.abandon()
        if not self._closed:
            self._open()


def _now() -> str:
    return datetime.now(UTC).isoformat()
