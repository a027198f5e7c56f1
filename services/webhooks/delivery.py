"""Deliver the outbox: take rows that are due, send each with no transaction open, store the outcome.

An endpoint has one row of a memory in flight at a time, the oldest first. If a worker dies, its rows are due again when
their lease ends. An endpoint that fails gets one row at a time, less and less often; after days it is disabled.
"""

import json
import logging
import random
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Engine, Row, text

from slowwave_server.services.webhooks.outbox import fill, read_change
from slowwave_server.services.webhooks.sending import Outcome, Sender
from slowwave_server.services.webhooks.signing import signed

log = logging.getLogger(__name__)

BACKOFF_SECONDS = (5, 30, 120, 600, 1800, 3600, 10_800, 21_600, *(43_200,) * 9)
"""After so long a row is sent again; when these are used up, it is dead. Together: five days."""
PAUSE_SECONDS = (1, 5, 15, 60, 300)
"""So long an endpoint that fails is left alone, whichever row is due."""
OLD_SECRET_HOURS = 24
IN_FLIGHT = 16
PER_ENDPOINT = 8
LEASE_SPARE_SECONDS = 30.0
PUMPS = 2
"""As many workers deliver at once."""
PUMP_LOCK = 7_305_118_240_100
GONE = 410

_DUE = text(
    "SELECT e.id, least(CASE WHEN e.failures > 0 THEN 1 ELSE :each END, :most) AS most"
    " FROM slowwave.webhook_endpoints e WHERE e.disabled_at IS NULL"
    " AND (e.paused_until IS NULL OR e.paused_until <= :now)"
    " AND EXISTS (SELECT FROM slowwave.webhook_deliveries d WHERE d.endpoint_id = e.id AND d.state = 'pending'"
    "  AND d.next_attempt_at <= :now) ORDER BY random() LIMIT :most"
)
_TAKE = text(
    "UPDATE slowwave.webhook_deliveries d SET taken_until = :until, attempts = d.attempts + 1"
    " FROM slowwave.webhook_endpoints e WHERE e.id = d.endpoint_id AND d.number IN ("
    " SELECT p.number FROM slowwave.webhook_deliveries p WHERE p.endpoint_id = :endpoint AND p.state = 'pending'"
    "  AND p.next_attempt_at <= :now AND (p.taken_until IS NULL OR p.taken_until <= :now)"
    "  AND NOT EXISTS (SELECT FROM slowwave.webhook_deliveries o WHERE o.endpoint_id = p.endpoint_id"
    "   AND o.memory_id = p.memory_id AND o.state = 'pending' AND o.number < p.number)"
    "  ORDER BY p.number LIMIT :most FOR UPDATE SKIP LOCKED)"
    " RETURNING d.number, d.id, d.change_id, d.change_type, d.attempts, e.id AS endpoint, e.tenant, e.url"
)
_IN_FLIGHT = (
    "SELECT count(*) FROM slowwave.webhook_deliveries d WHERE d.endpoint_id = :endpoint AND d.state = 'pending'"
    " AND d.taken_until > :now"
)
_SECRETS = text(
    "SELECT s.secret, s.made_at FROM slowwave.webhook_secrets s WHERE s.endpoint_id = :endpoint"
    " ORDER BY s.id DESC LIMIT 2"
)
_DONE = text(
    "UPDATE slowwave.webhook_deliveries SET state = :state, finished_at = :now, taken_until = NULL,"
    " response_status = :status, error = :error WHERE number = :number AND state = 'pending' AND attempts = :attempts"
)
_LATER = text(
    "UPDATE slowwave.webhook_deliveries SET next_attempt_at = :next, taken_until = NULL, response_status = :status,"
    " error = :error WHERE number = :number AND state = 'pending' AND attempts = :attempts"
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


@dataclass(frozen=True, slots=True)
class Deliverer:
    """Sends due rows. days: after so many of failure an endpoint is disabled."""

    engine: Engine
    sender: Sender
    days: float
    clock: Callable[[], datetime]

    def pump(self, seconds: float) -> int:
        """Fill outboxes and deliver for so long at most, or until nothing is due; answer how many rows were sent.

        0, too, if enough other workers do it.
        """
        until, sent = time.monotonic() + seconds, 0
        with _turn(self.engine) as mine, ThreadPoolExecutor(IN_FLIGHT, thread_name_prefix="slowwave-webhooks") as pool:
            while mine and time.monotonic() < until:
                put = fill(self.engine, self.clock(), lambda: time.monotonic() < until)
                taken = self.take()
                sent += len(taken)
                list(pool.map(self.deliver, taken))
                if not taken and not put:
                    break
        return sent

    def take(self) -> list[Row[Any]]:
        """Take rows that are due, for as long as one request may last."""
        now = self.clock()
        taken: list[Row[Any]] = []
        until = now + timedelta(seconds=self.sender.seconds + LEASE_SPARE_SECONDS)
        with self.engine.begin() as connection:
            endpoints = connection.execute(_DUE, {"now": now, "each": PER_ENDPOINT, "most": IN_FLIGHT}).all()
            share = max(1, IN_FLIGHT // max(1, len(endpoints)))
            for endpoint, most in endpoints:
                busy = connection.execute(text(_IN_FLIGHT), {"endpoint": endpoint, "now": now}).scalar_one()
                wanted = min(most - busy, max(share, 1), IN_FLIGHT - len(taken))
                if wanted > 0:
                    values = {"endpoint": endpoint, "now": now, "until": until, "most": wanted}
                    taken += connection.execute(_TAKE, values).all()
        return sorted(taken, key=lambda row: row.number)

    def deliver(self, row: Row[Any]) -> None:
        """Send one row, and store the outcome."""
        with self.engine.connect() as connection:
            change = read_change(connection, row.tenant, row.change_id)
            keys = self._keys(connection, row.endpoint)
        if change is None:
            with self.engine.begin() as connection:
                self._finish(connection, row, "skipped", Outcome(None, "the memory is gone"))
            return
        told = {"type": f"memory.{row.change_type}", "timestamp": change.at.isoformat(), "data": change.to_json()}
        body = json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        headers = {"Content-Type": "application/json", "User-Agent": "slowwave-webhooks"}
        headers |= signed(str(row.id), self.clock(), body, keys)
        outcome = self.sender.send(row.url, headers, body)
        with self.engine.begin() as connection:
            self._settle(connection, row, outcome)

    def _keys(self, connection: Connection, endpoint: UUID) -> list[str]:
        found = connection.execute(_SECRETS, {"endpoint": endpoint}).all()
        fresh = self.clock() - timedelta(hours=OLD_SECRET_HOURS)
        # The one before signs as well until a day after the newest one was made.
        return [row.secret for place, row in enumerate(found) if place == 0 or found[0].made_at > fresh]

    def _settle(self, connection: Connection, row: Row[Any], outcome: Outcome) -> None:
        now = self.clock()
        if outcome.accepted:
            self._finish(connection, row, "delivered", outcome)
            connection.execute(_WELL, {"endpoint": row.endpoint, "now": now, "stale": now - timedelta(seconds=60)})
            return
        if row.attempts > len(BACKOFF_SECONDS):
            self._finish(connection, row, "dead", outcome)
        else:
            rest = BACKOFF_SECONDS[row.attempts - 1] * random.uniform(0.9, 1.1)  # noqa: S311 (no secret)
            values = {"next": now + timedelta(seconds=rest), "status": outcome.status, "error": outcome.error}
            connection.execute(_LATER, values | {"number": row.number, "attempts": row.attempts})
        why = connection.execute(
            _ILL,
            {
                "endpoint": row.endpoint,
                "now": now,
                "since": now - timedelta(days=self.days),
                "days": f"{self.days:g}",
                "gone": outcome.status == GONE,
                "pauses": list(PAUSE_SECONDS),
                "steps": len(PAUSE_SECONDS),
            },
        ).scalar()
        if why:
            log.warning("webhook %s is disabled: %s", row.endpoint, why)

    def _finish(self, connection: Connection, row: Row[Any], state: str, outcome: Outcome) -> None:
        values = {"state": state, "now": self.clock(), "status": outcome.status, "error": outcome.error}
        connection.execute(_DONE, values | {"number": row.number, "attempts": row.attempts})


@contextmanager
def _turn(engine: Engine) -> Iterator[bool]:
    """Whether this worker may deliver now: some at a time do. A worker that dies loses its turn with its connection."""
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        turns = range(PUMP_LOCK, PUMP_LOCK + PUMPS)
        lock = text("SELECT pg_try_advisory_lock(:key)")
        mine = next((key for key in turns if connection.execute(lock, {"key": key}).scalar_one()), None)
        try:
            yield mine is not None
        finally:
            if mine is not None:
                connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": mine})
