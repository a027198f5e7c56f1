"""Find days that wait for a summary: days with enough new events, and quiet days with at least one new event."""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, RowMapping, text

from slowwave.identity import SessionRef
from slowwave.settings import Days
from slowwave_server.domain.failures import LONGEST_DELAY_SECONDS
from slowwave_server.services.days.book import NAMES, NOT_IN_BACK_OFF, DayRef

_PAGE = 1000
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
_CLOCK_SLACK_SECONDS = 60.0

# Days whose check is due: with the first event since a summary, or possibly quiet now. Also days whose next check is
# later than any wait lasts, because a clock was ahead (I3).
_TO_LOOK_AT = text("""
(SELECT d.look_at, d.session_id, d.day, d.agent_id, d.scope_id FROM slowwave.session_days d
 WHERE d.pending AND d.look_at <= :now AND (d.look_at, d.session_id, d.day) > (:after, :session, :day)
 ORDER BY d.look_at, d.session_id, d.day LIMIT :page)
UNION ALL
(SELECT d.look_at, d.session_id, d.day, d.agent_id, d.scope_id FROM slowwave.session_days d
 WHERE d.pending AND d.look_at > :too_late LIMIT :page)
ORDER BY 1, 2, 3
""")
# Group by agent and day, so that the planner does not read the events of all other agents on this day in a large scope.
_DUE = text(f"""
SELECT g.agent_id, g.scope_id, g.day, {NAMES}, c.seen,
       (c.unsummarized >= :threshold OR c.seen <= :quiet_since) AND {NOT_IN_BACK_OFF.format(":now")} AS due,
       greatest(c.seen + :quiet, y.not_before) AS later
FROM (SELECT DISTINCT * FROM unnest(CAST(:agents AS bigint[]), CAST(:scopes AS bigint[]), CAST(:days AS date[]))
      AS u (agent_id, scope_id, day)) AS g
CROSS JOIN LATERAL (
    SELECT sum(d.total_messages - d.summarized) AS unsummarized, max(s.last_seen_at) AS seen
    FROM slowwave.session_days d JOIN slowwave.sessions s ON s.id = d.session_id
    WHERE d.pending AND d.agent_id = g.agent_id AND d.day = g.day AND d.scope_id + 0 = g.scope_id
) AS c
JOIN slowwave.agents a ON a.id = g.agent_id
JOIN slowwave.scopes k ON k.id = g.scope_id
LEFT JOIN slowwave.days y ON (y.agent_id, y.scope_id, y.day) = (g.agent_id, g.scope_id, g.day)
WHERE c.seen IS NOT NULL
""")
# Do not wait for a hook that counts an event right now: the next tick checks its day again.
_PUT_OFF = text("""
UPDATE slowwave.session_days d SET look_at = x.look_at FROM (
    SELECT q.session_id, q.day, u.look_at
    FROM unnest(CAST(:sessions AS bigint[]), CAST(:days AS date[]), CAST(:times AS timestamptz[]))
        AS u (session_id, day, look_at)
    JOIN slowwave.session_days q ON (q.session_id, q.day) = (u.session_id, u.day)
    FOR NO KEY UPDATE OF q SKIP LOCKED
) AS x WHERE (d.session_id, d.day) = (x.session_id, x.day)
""")
_DUE_OF_SESSIONS = text(f"""
SELECT d.agent_id, d.scope_id, d.day, {NAMES}
FROM (SELECT DISTINCT own.agent_id, own.day, own.scope_id
      FROM unnest(CAST(:tenants AS text[]), CAST(:agents AS text[]), CAST(:sessions AS text[]))
          AS w (tenant, agent, session)
      JOIN slowwave.agents a ON a.tenant = w.tenant AND a.name = w.agent
      JOIN slowwave.sessions s ON s.agent_id = a.id AND s.name = w.session
      JOIN slowwave.session_days own ON own.session_id = s.id AND own.pending) AS own
JOIN slowwave.session_days d
    ON d.pending AND d.agent_id = own.agent_id AND d.day = own.day AND d.scope_id + 0 = own.scope_id
JOIN slowwave.agents a ON a.id = d.agent_id
JOIN slowwave.scopes k ON k.id = d.scope_id
LEFT JOIN slowwave.days y ON (y.agent_id, y.scope_id, y.day) = (d.agent_id, d.scope_id, d.day)
WHERE {NOT_IN_BACK_OFF.format(":now")}
GROUP BY d.agent_id, d.scope_id, d.day, a.tenant, a.name, k.kind, k.name
HAVING sum(d.total_messages - d.summarized) >= :threshold
ORDER BY d.day, d.agent_id, d.scope_id
""")


def due_days(connection: Connection, settings: Days, *, now: datetime, limit: int) -> list[DayRef]:
    """List days that wait for a summary, the longest waiting first: days with enough new events, and days that became
    quiet.

    For the other pending days, the function writes the time of their next check. After a commit, the next call reads
    only days whose check is due, not all pending days. A day that gets enough events before this time is due by
    `due_days_of_sessions`; if its message is lost, this function finds the day when it may have become quiet, at the
    latest.
    """
    due: dict[tuple[int, int, date], tuple[datetime, DayRef]] = {}
    after: tuple[Any, ...] = (_LONG_AGO, 0, date.min)
    while True:
        page = _to_look_at(connection, settings, now, after)
        later: dict[tuple[int, int, date], datetime] = {}
        for row in _look_at(connection, page, settings, now):
            key = row["agent_id"], row["scope_id"], row["day"]
            if row["due"]:
                ref = DayRef(**{name: row[name] for name in DayRef.__dataclass_fields__})
                due[key] = row["seen"], ref
            else:
                later[key] = row["later"]
        _put_off(connection, page, later)
        seen = [row for row in page if row["look_at"] <= now]
        if len(seen) < _PAGE or len(due) >= limit:
            first = sorted(due.items(), key=lambda item: (item[1][0], item[0]))[:limit]
            return [ref for _, (_, ref) in first]
        after = tuple(seen[-1][name] for name in ("look_at", "session_id", "day"))


def _to_look_at(connection: Connection, settings: Days, now: datetime, after: tuple[Any, ...]) -> Sequence[RowMapping]:
    longest = max(settings.quiet_seconds, LONGEST_DELAY_SECONDS) + _CLOCK_SLACK_SECONDS
    values = {"now": now, "too_late": now + timedelta(seconds=longest), "page": _PAGE}
    values |= dict(zip(("after", "session", "day"), after, strict=True))
    return connection.execute(_TO_LOOK_AT, values).mappings().all()


def _look_at(connection: Connection, page: Sequence[RowMapping], settings: Days, now: datetime) -> Sequence[RowMapping]:
    quiet = timedelta(seconds=settings.quiet_seconds)
    columns = {f"{name}s": [row[f"{name}_id"] for row in page] for name in ("agent", "scope")}
    values = {"threshold": settings.realtime_summary_turn_threshold, "quiet": quiet, "quiet_since": now - quiet}
    days = [row["day"] for row in page]
    return connection.execute(_DUE, values | columns | {"days": days, "now": now}).mappings().all()


def _put_off(
    connection: Connection, page: Sequence[RowMapping], later: Mapping[tuple[int, int, date], datetime]
) -> None:
    rows = [(row, later.get((row["agent_id"], row["scope_id"], row["day"]))) for row in page]
    put_off = [(row["session_id"], row["day"], until) for row, until in rows if until is not None]
    if put_off:
        sessions, days, times = zip(*put_off, strict=True)
        connection.execute(_PUT_OFF, {"sessions": list(sessions), "days": list(days), "times": list(times)})


def due_days_of_sessions(
    connection: Connection, sessions: Collection[SessionRef], settings: Days, *, now: datetime
) -> list[DayRef]:
    """List the days on which these sessions have new events and all their sessions together have enough new events."""
    values = {
        "tenants": [session.tenant for session in sessions],
        "agents": [session.agent for session in sessions],
        "sessions": [session.session for session in sessions],
        "threshold": settings.realtime_summary_turn_threshold,
        "now": now,
    }
    return [DayRef(**row) for row in connection.execute(_DUE_OF_SESSIONS, values).mappings()]
