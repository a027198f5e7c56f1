"""Wait until all work is done: no message in transit, no due session, no spooled event.

While it waits, it requests work that beat would request hours later: final summaries of ended days, cycles over notes,
passes over memories. It does not help with work that must recover by itself: flushes, leases, tickets, messages.

For an end within a limited time, the workers need `memory.consolidation.min_age_days` 0 and seconds for
`memory.auto_flush.idle_seconds` and `memory.days.quiet_seconds`.
"""

import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from redis import Redis
from sqlalchemy import Engine

from proof.chaos.findings import rows
from proof.chaos.held import held_keys, messages, model_slots
from slowwave.coordination.consolidation_queue import ask_for_pass
from slowwave.settings import Consolidation
from slowwave.spool import spooled
from slowwave_server.services.consolidation.scope_pass import Order, consolidate
from slowwave_server.services.days.book import ended_days
from slowwave_server.services.days.day_queue import ask_for_finalize

_POLL_SECONDS = 0.5
_ASK_SECONDS = 5.0
_SHOWN = 5
_ALL = 10_000

_DIRTY = (
    "SELECT a.tenant, a.name AS agent, s.name AS session, s.last_seq - s.processed_until AS events, s.flush_due_at,"
    " s.not_before, s.attempts, s.failures, s.last_error FROM slowwave.sessions s"
    " JOIN slowwave.agents a ON a.id = s.agent_id WHERE s.last_seq > s.processed_until ORDER BY s.flush_due_at"
)
_DAYS = (
    "SELECT a.tenant, a.name AS agent, d.day, sum(d.total_messages - d.summarized) AS events"
    " FROM slowwave.session_days d JOIN slowwave.agents a ON a.id = d.agent_id WHERE d.pending GROUP BY 1, 2, 3"
)
_NOTES = (
    "SELECT k.tenant, k.kind, k.name, count(*) AS notes FROM slowwave.working_memory w"
    " JOIN slowwave.scopes k ON k.id = w.scope_id WHERE w.outcome IS NULL AND (w.marked OR w.importance >= 0.4)"
    " GROUP BY 1, 2, 3"
)
_UNCHECKED = (
    "SELECT k.tenant, k.kind, k.name, count(*) AS memories FROM slowwave.memories m"
    " JOIN slowwave.scopes k ON k.id = m.scope_id"
    " WHERE m.checked_at IS NULL AND m.status IN ('inbox', 'episode', 'active') GROUP BY 1, 2, 3"
)
_AHEAD = (
    "SELECT m.scope_id AS id, max(m.recorded_at) AS newest FROM slowwave.memories m"
    " WHERE m.checked_at IS NULL AND m.status IN ('inbox', 'episode', 'active') AND m.recorded_at > now()"
    " GROUP BY 1"
)
_RUNS = "SELECT id, kind FROM slowwave.maintenance_runs WHERE status = 'running'"


class NotQuiet(Exception):
    """The system did not come to rest in time; the message names the remaining work."""


def until_quiet(engine: Engine, redis_client: Redis, seconds: float, *, spools: Sequence[Path] = ()) -> float:
    """Wait until no work is left. Return how many seconds this took.

    spools: the folders of the producers, which must run until they are empty. Raises NotQuiet, with the remaining work.
    """
    began, asked = time.monotonic(), float("-inf")
    while left := list(_left(engine, redis_client, spools)):
        now = time.monotonic()
        if now - began > seconds:
            raise NotQuiet(f"not quiet within {seconds:g} s: " + "; ".join(left))
        if now - asked > _ASK_SECONDS:
            _ask(engine, redis_client)
            asked = now
        time.sleep(_POLL_SECONDS)
    return time.monotonic() - began


def _left(engine: Engine, client: Redis, spools: Sequence[Path]) -> Iterator[str]:
    """Return the remaining work, the most basic first: while spooled events wait, no other check is needed."""
    waiting = [folder for folder in spools if spooled(folder).files]
    if waiting:
        yield f"spools hold entries: {', '.join(str(folder) for folder in waiting)}"
        return
    for what, query in (
        ("sessions are dirty", _DIRTY),
        ("notes are due", _NOTES),
        ("days have events that no summary counts", _DAYS),
        ("scopes have memories that no pass has looked at", _UNCHECKED),
        ("runs are under way", _RUNS),
    ):
        if found := rows(engine, query):
            shown = "; ".join(str(dict(row._mapping)) for row in found[:_SHOWN])  # noqa: SLF001 (its documented name)
            yield f"{len(found)} {what}: {shown}"
    with engine.connect() as connection:
        if days := ended_days(connection, now=datetime.now(UTC), limit=_ALL):
            yield f"{len(days)} days are over and not final: {', '.join(str(day) for day in days[:_SHOWN])}"
    if depths := messages(client):
        yield f"messages: {depths}"
    if held := held_keys(client):
        yield f"{len(held)} keys are held: {', '.join(held[:_SHOWN])}"
    if slots := model_slots(client):
        yield f"{slots} slots of the model are taken"


def _ask(engine: Engine, client: Redis) -> None:
    """Request work that would otherwise be due hours later. Each request is sent once while it is in transit."""
    if rows(engine, _DIRTY):
        return
    with engine.connect() as connection:
        if ended_days(connection, now=datetime.now(UTC), limit=1):
            ask_for_finalize(client)
    for scope in rows(engine, _NOTES):
        ask_for_pass(client, scope.tenant, scope.kind, scope.name, "working")
    if not rows(engine, _NOTES):
        for scope in rows(engine, _UNCHECKED):
            ask_for_pass(client, scope.tenant, scope.kind, scope.name, "light")
        _look_ahead(engine)


def _look_ahead(engine: Engine) -> None:
    """Run passes that wait for a time that a wrong clock wrote. They would run by themselves, but hours later."""
    for scope in rows(engine, _AHEAD):
        ahead = scope.newest + timedelta(seconds=1) - datetime.now(UTC)
        order, rules = Order(scope.id, "light", "quiet"), Consolidation(min_age_days=0)
        consolidate(engine, order, settings=rules, clock=partial(_ahead, ahead))


def _ahead(by: timedelta) -> datetime:
    # The clock must run, because with a stopped clock the lease of a long pass would expire.
    return datetime.now(UTC) + by
