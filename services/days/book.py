"""The book of days: the number of events of each day, the number of summarised events, and the days that have ended.

The search for ended days uses indexes of pending and unfinished days and never scans all days. Workers search for all
tenants at once, as the sweep of sessions does; all other functions take one tenant.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Literal, get_args

from slowwave_server.models.driver import Reads, read_rows
from slowwave_server.services.lookup import find_agent

DayStatus = Literal["open", "settling", "final"]
STATUSES: tuple[DayStatus, ...] = get_args(DayStatus)


@dataclass(frozen=True, slots=True)
class DayRef:
    """A local day of an agent in one scope. scope: None for the agent's own, else "room:NAME" or "team:NAME"."""

    agent_id: int
    scope_id: int
    day: date
    tenant: str
    agent: str
    scope: str | None

    def __str__(self) -> str:
        return f"{self.agent}/{self.day}" + (f" in {self.scope}" if self.scope else "")


@dataclass(frozen=True, slots=True)
class DayEntry:
    """The present state of a day. `status` considers late events: a final day with a newer event is "open".

    Attributes:
        last_summarized_total: the number of events in the newest summary.
        attempts: the number of attempts at the summary that is due.
        not_before: the time at which the back-off before the next attempt ends.
        last_error: the error of the last attempt.
    """

    ref: DayRef
    status: DayStatus
    version: int
    total_messages: int
    last_summarized_total: int
    messages_since_last_summary: int
    summarized_at: datetime | None
    finalized_at: datetime | None
    attempts: int
    not_before: datetime | None
    last_error: str | None


_LATELY = timedelta(days=7)
"""For this long after a day, workers retry a summary that the rules wrote because the model's budget was spent."""
NAMES = "a.tenant, a.name AS agent, CASE WHEN k.kind <> 'agent' THEN k.kind || ':' || k.name END AS scope"
_COUNTED = """
SELECT d.agent_id, d.scope_id, d.day, sum(d.total_messages)::bigint AS total,
       sum(d.total_messages - d.summarized)::bigint AS unsummarized
FROM slowwave.session_days d JOIN slowwave.agents a ON a.id = d.agent_id
WHERE a.tenant = %(tenant)s AND (CAST(%(agent)s AS text) IS NULL OR a.name = %(agent)s)
  AND (CAST(%(since)s AS date) IS NULL OR d.day >= %(since)s) AND (CAST(%(day)s AS date) IS NULL OR d.day = %(day)s)
GROUP BY 1, 2, 3
"""
_BOOK = f"""
WITH counted AS ({_COUNTED}), kept AS (
    SELECT y.* FROM slowwave.days y JOIN slowwave.agents a ON a.id = y.agent_id
    WHERE a.tenant = %(tenant)s AND (CAST(%(agent)s AS text) IS NULL OR a.name = %(agent)s)
      AND (CAST(%(since)s AS date) IS NULL OR y.day >= %(since)s) AND (CAST(%(day)s AS date) IS NULL OR y.day = %(day)s)
)
SELECT agent_id, scope_id, day, {NAMES}, coalesce(c.total, 0) AS total_messages,
       coalesce(c.unsummarized, 0) AS messages_since_last_summary,
       slowwave.day_status(y.status, y.last_summarized_total, coalesce(c.total, 0)) AS status,
       coalesce(y.version, 0) AS version, coalesce(y.last_summarized_total, 0) AS last_summarized_total,
       y.summarized_at, y.finalized_at, coalesce(y.attempts, 0) AS attempts, y.not_before, y.last_error
FROM counted c FULL JOIN kept y USING (agent_id, scope_id, day)
JOIN slowwave.agents a ON a.id = agent_id
JOIN slowwave.scopes k ON k.id = scope_id
WHERE CAST(%(last_day)s AS date) IS NULL OR day < CAST(%(last_day)s AS date) OR day = CAST(%(last_day)s AS date)
      AND (a.name COLLATE "C", k.kind, k.name COLLATE "C")
          > (CAST(%(last_agent)s AS text), CAST(%(last_kind)s AS text), CAST(%(last_name)s AS text))
ORDER BY day DESC, a.name COLLATE "C", k.kind, k.name COLLATE "C" LIMIT %(limit)s
"""
NOT_IN_BACK_OFF = "(y.not_before IS NULL OR y.not_before <= {})"
"""A condition of days; its place is the present time."""
# A local day is at most 15 hours ahead of the day in UTC. So the index gives days that may have ended, and the agent's
# own zone and cut-off hour decide. Each part follows the order of its index and stops when it has enough days. Names
# are looked up one by one by key, so that no plan sorts all open days to take the first of them.
_AFTER = "({0}.day, {0}.agent_id, {0}.scope_id) > (CAST(%(day)s AS date), CAST(%(agent_id)s AS bigint), %(scope_id)s)"
_OVER = """
    AND {0}.day <= %(latest)s AND {0}.day < (
        SELECT slowwave.local_day(%(now)s, a.time_zone, a.cutoff_hour) FROM slowwave.agents a WHERE a.id = {0}.agent_id)
"""
_ENDED = f"""
WITH pending AS MATERIALIZED (
    SELECT d.day, d.agent_id, d.scope_id FROM slowwave.session_days d
    WHERE d.pending AND {_AFTER.format("d")} {_OVER.format("d")}
      AND NOT EXISTS (SELECT FROM slowwave.days y WHERE y.agent_id = d.agent_id AND y.scope_id = d.scope_id
                      AND y.day = d.day AND y.not_before > %(now)s OFFSET 0)
    GROUP BY 1, 2, 3 ORDER BY 1, 2, 3 LIMIT %(limit)s
), unsettled AS MATERIALIZED (
    SELECT y.day, y.agent_id, y.scope_id FROM slowwave.days y
    WHERE y.status <> 'final' AND {_AFTER.format("y")} {_OVER.format("y")} AND {NOT_IN_BACK_OFF.format("%(now)s")}
    ORDER BY 1, 2, 3 LIMIT %(limit)s
), first AS MATERIALIZED (
    SELECT * FROM pending UNION SELECT * FROM unsettled ORDER BY 1, 2, 3 LIMIT %(limit)s
)
SELECT u.agent_id, u.scope_id, u.day, {NAMES}
FROM first u JOIN slowwave.agents a ON a.id = u.agent_id JOIN slowwave.scopes k ON k.id = u.scope_id
ORDER BY u.day, u.agent_id, u.scope_id
"""
_FOR_WANT_OF_BUDGET = f"""
SELECT y.agent_id, y.scope_id, y.day, {NAMES}
FROM slowwave.days y JOIN slowwave.agents a ON a.id = y.agent_id JOIN slowwave.scopes k ON k.id = y.scope_id
WHERE y.status = 'final' AND y.day >= %(since)s AND EXISTS (
    SELECT FROM slowwave.day_segments g
    WHERE (g.agent_id, g.scope_id, g.day) = (y.agent_id, y.scope_id, y.day)
      AND g.summarizer LIKE 'rules/%% until model %%')
ORDER BY y.day, y.agent_id, y.scope_id LIMIT %(limit)s
"""
_SETTLE = (
    "SELECT slowwave.settle_days(CAST(%(agents)s AS bigint[]), CAST(%(scopes)s AS bigint[]), CAST(%(days)s AS date[]))"
)
_FURTHEST_AHEAD = timedelta(hours=15)


def day_book(
    connection: Reads,
    tenant: str,
    agent: str | None = None,
    *,
    since: date | None = None,
    day: date | None = None,
    after: tuple[date, str, str | None] | None = None,
    limit: int = 50,
) -> list[DayEntry]:
    """List the days of a tenant, or of one of its agents, newest first.

    day: only this day; since: only this day and later ones; after: (day, agent, scope) of an entry; only entries after
    it in this order. Raises UnknownName for an unknown agent.
    """
    if agent is not None:
        find_agent(connection, tenant, agent)
    values = {"tenant": tenant, "agent": agent, "since": since, "day": day, "limit": limit}
    values |= _last(after)
    return [_entry(row) for row in read_rows(connection, _BOOK, values)]


def _last(after: tuple[date, str, str | None] | None) -> dict[str, Any]:
    """Return the position after which the book continues; an agent's own scope sorts by the agent's name."""
    if after is None:
        return {"last_day": None, "last_agent": None, "last_kind": None, "last_name": None}
    day, agent, scope = after
    kind, _, name = ("agent", "", agent) if scope is None else scope.partition(":")
    return {"last_day": day, "last_agent": agent, "last_kind": kind, "last_name": name}


def ended_days(connection: Reads, *, now: datetime, limit: int, after: DayRef | None = None) -> list[DayRef]:
    """List days that are over and not final, or not final any more, oldest first. after: only later ones."""
    at = (date.min, 0, 0) if after is None else (after.day, after.agent_id, after.scope_id)
    values = {"latest": (now + _FURTHEST_AHEAD).date(), "now": now, "limit": limit}
    values |= dict(zip(("day", "agent_id", "scope_id"), at, strict=True))
    return [DayRef(**row) for row in read_rows(connection, _ENDED, values)]


def days_for_want_of_budget(connection: Reads, *, now: datetime, limit: int) -> list[DayRef]:
    """List final days of the last week that the rules summarised, in whole or in part, because a budget was used up."""
    values = {"since": (now - _LATELY).date(), "limit": limit}
    return [DayRef(**row) for row in read_rows(connection, _FOR_WANT_OF_BUDGET, values)]


def mark_settling(connection: Reads, days: Sequence[DayRef]) -> None:
    """Mark ended days as settling: their final summary is requested. Days that are already final do not change."""
    values = {
        "agents": [day.agent_id for day in days],
        "scopes": [day.scope_id for day in days],
        "days": [day.day for day in days],
    }
    read_rows(connection, _SETTLE, values)


def find_days(connection: Reads, tenant: str, agent: str, day: date, *, scope: str | None = None) -> list[DayRef]:
    """Return the day of an agent in each scope with events or a summary. Raises UnknownName for the agent.

    scope: only "agent" (the agent's own), "room:NAME" or "team:NAME".
    """
    entries = day_book(connection, tenant, agent, day=day, limit=10_000)
    return [entry.ref for entry in entries if scope is None or (entry.ref.scope or "agent") == scope]


def _entry(row: dict[str, Any]) -> DayEntry:
    names = ("agent_id", "scope_id", "day", "tenant", "agent", "scope")
    return DayEntry(ref=DayRef(**{name: row.pop(name) for name in names}), **row)
