"""The writer thread: it commits queued calls, and delivers the spool when Postgres is available again.

The thread keeps the order of calls: before an entry goes to the spool, all entries of the queue go there, so a
session's events arrive in the order of its calls.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, Protocol

from slowwave.capture import Delivery, Entry
from slowwave.errors import SpoolFull, StoreUnavailable
from slowwave.identity import SessionRef
from slowwave.offers import ThrottledLog
from slowwave.spool import Segment, Spool

log = logging.getLogger(__name__)

MAX_QUEUED_EVENTS = 10_000
BATCH_EVENTS = 500
BATCH_CHARACTERS = 2_000_000
GATHER_SECONDS = 0.01
"""How long the writer lets a batch grow: a commit of many calls costs hardly more than one of a single call."""

LINGER_SECONDS = 1.0
"""After a batch the writer looks by itself for so long: waking a thread would be the dearest part of a call."""

FIRST_RETRY_SECONDS = 0.5
LAST_RETRY_SECONDS = 30.0
ADOPT_SECONDS = 30.0
"""How often a running writer looks for segments of processes that are gone."""


class Deliverer(Protocol):
    """The interface that delivers entries; `slowwave.capture.Capture` implements it."""

    def deliver(self, entries: Sequence[Entry]) -> Delivery: ...


class Writer:
    """A bounded queue and the spool, both emptied by one thread. A forked child makes its own queue and thread.

    on_due: a function that is called after each commit with the sessions that are due for a flush.
    """

    def __init__(
        self,
        capture: Deliverer,
        spool: Spool,
        on_due: Callable[[Sequence[SessionRef]], None],
        *,
        max_events: int = MAX_QUEUED_EVENTS,
    ) -> None:
        self._capture = capture
        self._spool = spool
        self._on_due = on_due
        self._max_events = max_events
        self._queue: deque[Entry] = deque()
        self._events = 0
        self._in_flight: list[Entry] = []
        self._lock = threading.Lock()
        self._settled = threading.Condition(self._lock)
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._closing = False
        self._asleep = False
        self._linger_until = 0.0
        self._retry_seconds = FIRST_RETRY_SECONDS
        self._retry_at = 0.0
        self._adopt_at = 0.0
        self._throttled_log = ThrottledLog()

    def put(self, entry: Entry) -> Literal["queued", "spool"]:
        """Queue an entry for the next commit. If the queue is full, all queued entries and this entry go to the spool.

        Returns the entry's location: "queued" or "spool". Raises SpoolFull if the entry was not accepted.
        """
        with self._lock:
            self._queue.append(entry)
            self._events += len(entry.events)
            full = self._events > self._max_events
            if full:
                try:
                    self._spool.append(self._queue)
                except SpoolFull:
                    self._queue.pop()
                    self._events -= len(entry.events)
                    raise
                self._queue.clear()
                self._events = 0
            asleep = self._asleep
        if asleep:
            self._wake.set()
        elif self._thread is None:
            self.start()
        return "spool" if full else "queued"

    def store(self, entries: Iterable[Entry]) -> None:
        """Write entries to the end of the spool, and start the thread that delivers them. Raises SpoolFull."""
        self._spool.append(list(entries))
        self._wake.set()
        self.start()

    def start(self) -> None:
        """Start the thread if it isn't running."""
        with self._lock:
            if self._thread is None and not self._closing:
                self._thread = threading.Thread(target=self._run, name="slowwave-writer", daemon=True)
                self._thread.start()

    def flush(self, timeout: float) -> bool:
        """Commit all entries now, and wait. Return False if this takes longer than `timeout` seconds.

        All entries include spool files of ended processes, even if this process has not found them yet.
        """
        if self._spool.adopt():
            self.start()
        with self._lock:
            if not self._busy():
                return True
            self._retry_at = 0.0
            self._wake.set()
            return self._settled.wait_for(lambda: not self._busy(), timeout)

    def close(self, timeout: float) -> None:
        """Commit the queue for at most `timeout` seconds, then write the rest to the spool.

        Raises SpoolFull if that fails.
        """
        with self._lock:
            self._closing = True
            thread = self._thread
        self._wake.set()
        if thread is not None:
            thread.join(timeout)
        with self._lock:
            # The server may still execute a statement that timed out; idempotency keys make the second delivery
            # harmless.
            left = [*self._in_flight, *self._queue]
            self._queue.clear()
            self._events = 0
            if left:
                self._spool.append(left, front=True)
        if thread is None or not thread.is_alive():
            self._spool.close()

    def _busy(self) -> bool:
        return bool(self._queue or self._in_flight or self._spool.pending)

    def _run(self) -> None:
        while True:
            try:
                if not self._step():
                    return
            except Exception:
                # The thread must not end while entries wait: log the error, pause, continue.
                log.exception("the writer met an error and will try again")
                self._rest()

    def _step(self) -> bool:
        """Do the next piece of work. Return False if no work is left and the writer is closing."""
        if time.monotonic() >= self._adopt_at:
            self._adopt_at = time.monotonic() + ADOPT_SECONDS
            self._spool.adopt()
        if batch := self._taken():
            self._commit(batch)
        elif self._closing:
            return False
        elif (segment := self._due_segment()) is not None:
            self._deliver(segment)
        else:
            self._sleep()
        return True

    def _sleep(self) -> None:
        now = time.monotonic()
        with self._lock:
            if self._queue or self._closing:
                return
            if not self._busy():
                self._settled.notify_all()
            until = min(self._retry_at, self._adopt_at) if self._spool.pending else self._adopt_at
            # Set the flag under the lock: a caller who adds an entry after this point sees the flag and wakes this
            # thread.
            self._asleep = now >= self._linger_until
            asleep = self._asleep
        woken = self._wake.wait(min(GATHER_SECONDS, until - now) if not asleep else max(0.0, until - now))
        self._asleep = False
        if woken:
            self._wake.clear()
            if asleep and not self._closing:
                time.sleep(GATHER_SECONDS)

    def _taken(self) -> list[Entry]:
        with self._lock:
            events = characters = 0
            while self._queue and events < BATCH_EVENTS and characters < BATCH_CHARACTERS:
                entry = self._queue.popleft()
                self._in_flight.append(entry)
                events += len(entry.events)
                characters += sum(len(event["content"]) for event in entry.events)
            self._events -= events
            return self._in_flight

    def _commit(self, batch: list[Entry]) -> None:
        try:
            if self._spool.pending:
                self._spool.append(batch)
            else:
                self._send(batch)
        except StoreUnavailable as error:
            self._complain(error)
            try:
                # These entries are older than all entries that were spooled in the meantime.
                self._spool.append(batch, front=True)
            except SpoolFull as full:
                self._put_back(full)
                return
        except SpoolFull as full:
            self._put_back(full)
            return
        with self._lock:
            self._in_flight = []

    def _put_back(self, error: SpoolFull) -> None:
        """Return a batch to the queue after both server and spool refused it. While the queue is full, callers get
        SpoolFull.
        """
        self._throttled_log.warn("events wait in memory: %s", error)
        with self._lock:
            self._events += sum(len(entry.events) for entry in self._in_flight)
            self._queue.extendleft(reversed(self._in_flight))
            self._in_flight = []
        self._rest()

    def _send(self, batch: Sequence[Entry]) -> None:
        delivery = self._capture.deliver(batch)
        self._linger_until = time.monotonic() + LINGER_SECONDS
        self._retry_seconds = FIRST_RETRY_SECONDS
        if delivery.rejected:
            self._spool.reject(_reasons(delivery))
        self._on_due(delivery.due)

    def _due_segment(self) -> Segment | None:
        return self._spool.oldest() if time.monotonic() >= self._retry_at else None

    def _deliver(self, segment: Segment) -> None:
        entries, rejected = segment.read()
        try:
            for batch in _batches(entries):
                delivery = self._capture.deliver(batch)
                rejected.extend(_reasons(delivery))
                self._on_due(delivery.due)
        except StoreUnavailable as error:
            self._complain(error)
            self._retry_at = time.monotonic() + self._retry_seconds
            self._retry_seconds = min(self._retry_seconds * 2, LAST_RETRY_SECONDS)
            return
        self._retry_seconds = FIRST_RETRY_SECONDS
        self._spool.finish(segment, rejected)

    def _complain(self, error: StoreUnavailable) -> None:
        self._throttled_log.warn("events wait in %s: %s", self._spool.folder, error)

    def _rest(self) -> None:
        if not self._closing:
            time.sleep(FIRST_RETRY_SECONDS)


def _batches(entries: Iterable[Entry]) -> Iterable[list[Entry]]:
    batch: list[Entry] = []
    events = characters = 0
    for entry in entries:
        batch.append(entry)
        events += len(entry.events)
        characters += sum(len(event["content"]) for event in entry.events)
        if events >= BATCH_EVENTS or characters >= BATCH_CHARACTERS:
            yield batch
            batch, events, characters = [], 0, 0
    if batch:
        yield batch


def _reasons(delivery: Delivery) -> list[dict[str, Any]]:
    for entry, reason in delivery.rejected:
        log.error("events of %s are refused and set aside: %s", entry.ref, reason)
    return [{"error": reason, "entry": entry.to_json()} for entry, reason in delivery.rejected]
