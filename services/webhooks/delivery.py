"""Deliver the outbox: put changes into it, send them in messages with no transaction open, and store the outcome.

One worker at a time serves an endpoint, with one message in flight: an advisory lock of Postgres says which, and ends
with the worker's connection. A worker that lost its lock can repeat a message, and never overtake one: a change waits
for the changes of its memory that failed. A message that failed is not repeated as a whole. Its changes are sent one by
one, less and less often, so one that a receiver can't take holds up its memory only. After days an endpoint that fails
is disabled.
"""

import json
import logging
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import takewhile
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Engine, Row, text

from slowwave.changes import Change
from slowwave_server.services.webhooks.outbox import fill, read_each
from slowwave_server.services.webhooks.sending import Line, Outcome, Sender
from slowwave_server.services.webhooks.signing import signed

log = logging.getLogger(__name__)

BACKOFF_SECONDS = (5, 30, 120, 600, 1800, 3600, 10_800, 21_600, *(43_200,) * 9)
"""After so long a change is sent again; when these are used up, it is dead. Together: five days."""
PAUSE_SECONDS = (1, 5, 15, 60, 300)
"""So long an endpoint that fails is left alone, whichever change is due."""
OLD_SECRET_HOURS = 24
MOST_CHANGES = 100
MOST_BYTES = 262_144
"""A message has so many changes and bytes at most, but always one change."""
PAGE = 500
"""So many changes are read in one transaction, and their outcomes stored in the next one."""
MOST_WAITING = 10_000
"""While so many changes of a webhook wait for others that failed, the rest of the feed stays where it is."""
AT_ONCE = 16
GONE = 410

_LOCK = text(
    "WITH open AS MATERIALIZED (SELECT e.id, e.url FROM slowwave.webhook_endpoints e WHERE e.disabled_at IS NULL"
    " AND (e.paused_until IS NULL OR e.paused_until <= :now))"
    " SELECT o.id, o.url FROM open o WHERE pg_try_advisory_lock(hashtextextended('slowwave.webhook:' || o.id, 0))"
    " ORDER BY random()"
)
# The server learns within a minute that the host of a worker is gone, and gives its locks to others.
_KEEPALIVES = text(
    "SELECT set_config('tcp_keepalives_idle', '30', false), set_config('tcp_keepalives_interval', '10', false),"
    " set_config('tcp_keepalives_count', '3', false)"
)
_ENDPOINT = text(
    "SELECT e.id, e.tenant, e.cursor, e.agents, e.scopes, e.types, e.failures FROM slowwave.webhook_endpoints e"
    " WHERE e.id = :endpoint AND e.disabled_at IS NULL AND (e.paused_until IS NULL OR e.paused_until <= :now)"
    " FOR NO KEY UPDATE"
)
_DUE = text(
    "SELECT p.number, p.id, p.change_id, p.attempts FROM slowwave.webhook_deliveries p"
    " WHERE p.endpoint_id = :endpoint AND p.state = 'pending' AND p.next_attempt_at <= :now"
    " AND NOT EXISTS (SELECT FROM slowwave.webhook_deliveries o WHERE o.endpoint_id = p.endpoint_id"
    "  AND o.memory_id = p.memory_id AND o.state = 'pending' AND o.number < p.number AND o.next_attempt_at > :now)"
    " ORDER BY p.number LIMIT :most"
)
_WAITING = text(
    "SELECT count(*) FROM (SELECT FROM slowwave.webhook_deliveries d WHERE d.endpoint_id = :endpoint"
    " AND d.state = 'pending' LIMIT :most) AS w"
)
_SECRETS = text(
    "SELECT s.secret, s.made_at FROM slowwave.webhook_secrets s WHERE s.endpoint_id = :endpoint"
    " ORDER BY s.id DESC LIMIT 2"
)
_DONE = text(
    "UPDATE slowwave.webhook_deliveries SET state = :state, attempts = attempts + 1, finished_at = :now,"
    " response_status = :status, error = :error WHERE number = ANY(:numbers) AND state = 'pending'"
)
_LATER = text(
    "UPDATE slowwave.webhook_deliveries SET attempts = attempts + 1, next_attempt_at = :next,"
    " response_status = :status, error = :error WHERE number = ANY(:numbers) AND state = 'pending'"
)
_WELL = text(
    "UPDATE slowwave.webhook_endpoints SET failing_since = NULL, failures = 0, paused_until = NULL,"
    " last_success_at = :now WHERE id = :endpoint"
    " AND (failures > 0 OR last_success_at IS NULL OR last_success_at < :stale)"
)
_ILL = text(
    "UPDATE slowwave.webhook_endpoints SET failures = failures + 1, failing_since = coalesce(failing_since, :now),"
    " paused_until = CAST(:now AS timestamptz) + make_interval(secs =>"
    "  (CAST(:pauses AS double precision[]))[least(failures + 1, :steps)]),"
    " disabled_at = CASE WHEN :gone OR failing_since <= :since THEN :now ELSE disabled_at END,"
    " disabled_why = CASE WHEN :gone THEN 'the receiver answered 410'"
    "  WHEN failing_since <= :since THEN 'every attempt of ' || :days || ' days failed' ELSE disabled_why END"
    " WHERE id = :endpoint AND disabled_at IS NULL RETURNING disabled_why"
)


Result = tuple[Sequence[Row[Any]], Outcome]
_SKIPPED = Outcome(None)
"""Of rows whose memory was deleted: nothing is sent."""


@dataclass(frozen=True, slots=True)
class Taken:
    """The next messages for an endpoint. more: True if the feed continues after a page that has none for it."""

    rows: Sequence[Row[Any]]
    changes: Mapping[str, Change]
    keys: Sequence[str]
    more: bool


@dataclass(frozen=True, slots=True)
class Deliverer:
    """Sends due changes. days: the days of failures after which an endpoint is disabled."""

    engine: Engine
    sender: Sender
    days: float
    clock: Callable[[], datetime]

    def pump(self, seconds: float) -> int:
        """Serve endpoints that no other worker serves, for a limited time; return the number of tried changes."""
        until = time.monotonic() + seconds
        with (
            self._served() as endpoints,
            ThreadPoolExecutor(AT_ONCE, thread_name_prefix="slowwave-webhooks") as pool,
        ):
            return sum(pool.map(lambda endpoint: self._serve(endpoint.id, endpoint.url, until), endpoints))

    @contextmanager
    def _served(self) -> Iterator[Sequence[Row[Any]]]:
        with self.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(_KEEPALIVES)
            try:
                yield connection.execute(_LOCK, {"now": self.clock()}).all()
            finally:
                connection.execute(text("SELECT pg_advisory_unlock_all()"))

    def _serve(self, endpoint: UUID, url: str, until: float) -> int:
        tried = 0
        results: list[Result] = []
        with closing(Line(self.sender, url)) as line:
            while True:
                goes_on = time.monotonic() < until and all(outcome.accepted for _, outcome in results)
                taken = self._turn(endpoint, results, goes_on=goes_on)
                if taken is None or not (taken.rows or taken.more):
                    return tried
                results = self._send(taken, line)
                tried += sum(len(rows) for rows, _ in results)

    def _turn(self, endpoint: UUID, results: Sequence[Result], *, goes_on: bool) -> Taken | None:
        """Store the outcomes of one page and take the next."""
        with self._transaction() as connection:
            for rows, outcome in results:
                self._settle(connection, endpoint, rows, outcome)
            return self._take(connection, endpoint) if goes_on else None

    def _take(self, connection: Connection, endpoint: UUID) -> Taken | None:
        """Return the due rows, else the next changes of the feed. None: disabled, deleted or paused."""
        now = self.clock()
        found = connection.execute(_ENDPOINT, {"endpoint": endpoint, "now": now}).first()
        if found is None:
            return None
        due = {"endpoint": endpoint, "now": now, "most": 1 if found.failures else PAGE}
        rows, known, more = connection.execute(_DUE, due).all(), dict[str, Change](), False
        if not rows and connection.execute(_WAITING, due | {"most": MOST_WAITING}).scalar_one() < MOST_WAITING:
            known, more = fill(connection, found, now, PAGE)
            rows = connection.execute(_DUE, due).all() if known else []
        # A change that failed before is sent alone.
        rows = list(takewhile(lambda row: not row.attempts, rows)) or rows[:1]
        older = [row.change_id for row in rows if row.change_id not in known]
        changes = known | read_each(connection, found.tenant, older)
        return Taken(rows, changes, self._keys(connection, endpoint), more and not known)

    def _send(self, taken: Taken, line: Line) -> list[Result]:
        """Send messages until one fails. Return the rows of each with its outcome."""
        gone = [row for row in taken.rows if row.change_id not in taken.changes]
        results: list[Result] = [(gone, _SKIPPED)] if gone else []
        for rows, changes in _messages(taken):
            message = str(rows[0].id) if len(rows) == 1 else f"{rows[0].id}+{len(rows) - 1}"
            told = {"type": "memory.changes", "timestamp": changes[-1]["at"], "data": {"changes": changes}}
            body = _encoded(told)
            headers = {"Content-Type": "application/json", "User-Agent": "slowwave-webhooks"}
            outcome = line.send(headers | signed(message, self.clock(), body, taken.keys), body)
            results.append((rows, outcome))
            if not outcome.accepted:
                break
        return results

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        # Whatever the engine is used for otherwise: rows and cursor move together.
        with self.engine.connect().execution_options(isolation_level="READ COMMITTED") as link, link.begin():
            yield link

    def _keys(self, connection: Connection, endpoint: UUID) -> list[str]:
        found = connection.execute(_SECRETS, {"endpoint": endpoint}).all()
        fresh = self.clock() - timedelta(hours=OLD_SECRET_HOURS)
        # The previous secret also signs until a day after the newest one was made.
        return [row.secret for place, row in enumerate(found) if place == 0 or found[0].made_at > fresh]

    def _settle(self, connection: Connection, endpoint: UUID, rows: Sequence[Row[Any]], outcome: Outcome) -> None:
        now, numbers, attempts = self.clock(), [row.number for row in rows], rows[0].attempts
        if outcome is _SKIPPED:
            self._finish(connection, numbers, "skipped", Outcome(None, "the memory is gone"))
            return
        if outcome.accepted:
            self._finish(connection, numbers, "delivered", outcome)
            connection.execute(_WELL, {"endpoint": endpoint, "now": now, "stale": now - timedelta(seconds=60)})
            return
        if attempts >= len(BACKOFF_SECONDS):
            self._finish(connection, numbers, "dead", outcome)
        else:
            rest = BACKOFF_SECONDS[attempts] * random.uniform(0.9, 1.1)  # noqa: S311 (no secret)
            values = {"next": now + timedelta(seconds=rest), "status": outcome.status, "error": outcome.error}
            connection.execute(_LATER, values | {"numbers": numbers})
        why = connection.execute(
            _ILL,
            {
                "endpoint": endpoint,
                "now": now,
                "since": now - timedelta(days=self.days),
                "days": f"{self.days:g}",
                "gone": outcome.status == GONE,
                "pauses": list(PAUSE_SECONDS),
                "steps": len(PAUSE_SECONDS),
            },
        ).scalar()
        if why:
            log.warning("webhook %s is disabled: %s", endpoint, why)

    def _finish(self, connection: Connection, numbers: Sequence[int], state: str, outcome: Outcome) -> None:
        values = {"state": state, "now": self.clock(), "status": outcome.status, "error": outcome.error}
        connection.execute(_DONE, values | {"numbers": numbers})


def _messages(taken: Taken) -> Iterator[tuple[list[Row[Any]], list[dict[str, Any]]]]:
    """Return the rows and changes of each message."""
    rows: list[Row[Any]] = []
    changes: list[dict[str, Any]] = []
    size = 0
    for row in taken.rows:
        if (change := taken.changes.get(row.change_id)) is None:
            continue
        told = change.to_json()
        length = len(_encoded(told))
        if rows and (size + length > MOST_BYTES or len(rows) == MOST_CHANGES):
            yield rows, changes
            rows, changes, size = [], [], 0
        size += length
        rows.append(row)
        changes.append(told)
    if rows:
        yield rows, changes


def _encoded(told: object) -> bytes:
    return json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
