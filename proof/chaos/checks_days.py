"""Check I5, days add up: recount them from the events by the agents' own days; final days are complete."""

from collections import Counter
from datetime import date

from proof.chaos.evidence import Evidence
from proof.chaos.findings import Finding, none_of, rows, some
from slowwave_server.domain.local_days import local_day

_EVENTS = """
    SELECT e.session_id, e.happened_at, e.day, a.time_zone, a.cutoff_hour FROM slowwave.events e
    JOIN slowwave.sessions s ON s.id = e.session_id JOIN slowwave.agents a ON a.id = s.agent_id
"""
_COUNTED = "SELECT session_id, day, total_messages, summarized, pending FROM slowwave.session_days"
_FINAL = """
    SELECT y.agent_id, y.scope_id, y.day, y.last_summarized_total, coalesce(sum(d.total_messages), 0) AS total
    FROM slowwave.days y LEFT JOIN slowwave.session_days d
        ON (d.agent_id, d.scope_id, d.day) = (y.agent_id, y.scope_id, y.day)
    WHERE y.status = 'final' GROUP BY 1, 2, 3, 4
    HAVING y.last_summarized_total <> coalesce(sum(d.total_messages), 0)
        OR coalesce(sum(d.summarized), 0) <> coalesce(sum(d.total_messages), 0)
"""
_UNSETTLED = """
    SELECT d.agent_id, d.scope_id, d.day FROM slowwave.session_days d JOIN slowwave.agents a ON a.id = d.agent_id
    LEFT JOIN slowwave.days y ON (y.agent_id, y.scope_id, y.day) = (d.agent_id, d.scope_id, d.day)
    WHERE d.day < slowwave.local_day(cast(:now AS timestamptz), a.time_zone, a.cutoff_hour)
      AND y.status IS DISTINCT FROM 'final'
    GROUP BY 1, 2, 3
"""
_SUMMARIES = """
    SELECT y.agent_id, y.scope_id, y.day, y.last_summarized_total, u.messages, g.messages AS segments
    FROM slowwave.days y
    LEFT JOIN slowwave.day_summaries u ON (u.agent_id, u.scope_id, u.day, u.version)
        = (y.agent_id, y.scope_id, y.day, y.version)
    LEFT JOIN LATERAL (SELECT sum(g.messages) AS messages FROM slowwave.day_segments g
        WHERE (g.agent_id, g.scope_id, g.day) = (y.agent_id, y.scope_id, y.day)) AS g ON true
    WHERE y.last_summarized_total > 0 AND (u.messages IS DISTINCT FROM y.last_summarized_total
        OR g.messages IS DISTINCT FROM y.last_summarized_total)
"""


def days_count_their_events(evidence: Evidence) -> list[Finding]:
    """Check that the counters of each session and day equal the number of its events, computed from their
    times only.
    """
    wanted: Counter[tuple[int, date]] = Counter()
    wrong = []
    for row in rows(evidence.engine, _EVENTS):
        day = local_day(row.happened_at, row.time_zone, row.cutoff_hour)
        wanted[row.session_id, day] += 1
        if day != row.day:
            wrong.append((row.session_id, row.day))
    counted = rows(evidence.engine, _COUNTED)
    there = {(row.session_id, row.day): row.total_messages for row in counted}
    off = [key for key in wanted.keys() | there.keys() if wanted.get(key, 0) != there.get(key, 0)]
    over = [(row.session_id, row.day) for row in counted if row.summarized > row.total_messages]
    return [
        Finding("I5", f"{len(found)} {what}", some((session, str(day)) for session, day in found))
        for what, found in (
            ("events stand under another day than theirs", wrong),
            ("counters of days are not the number of their events", off),
            ("days count more events as summarised than they have", over),
        )
        if found
    ]


def final_days_are_whole(evidence: Evidence) -> list[Finding]:
    """Check days: a final day has no unsummarised event, days that are over are final, and versions count what they
    read.
    """
    engine = evidence.engine
    return [
        *none_of(engine, "I5", "final days have events that no summary counts", _FINAL),
        *none_of(engine, "I5", "days are over and not final", _UNSETTLED, now=evidence.now),
        *none_of(engine, "I5", "summaries or segments count other events than their day", _SUMMARIES),
    ]


CHECKS = (days_count_their_events, final_days_are_whole)
