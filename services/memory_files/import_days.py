"""Import summaries of days from files, for days of which the scope has no events.

A day without events has nothing to summarize, so it is final with a total of 0; its first event reopens it, like any
final day (I5).
"""

import json
from datetime import date

from sqlalchemy import Connection, text

from slowwave_server.domain.memory_files import FileSummary

_KNOWN = text(
    "SELECT s.text FROM slowwave.day_summaries s WHERE (s.agent_id, s.scope_id, s.day) = (:agent, :scope, :day)"
    " ORDER BY s.version DESC LIMIT 1"
)
_HAS_EVENTS = text(
    "SELECT 1 FROM slowwave.session_days d WHERE d.agent_id = :agent AND d.scope_id = :scope AND d.day = :day LIMIT 1"
)
_DAY = text(
    "INSERT INTO slowwave.days (agent_id, scope_id, day, status, version, last_summarized_total, summarized_at,"
    " finalized_at) VALUES (:agent, :scope, :day, 'final', :version, 0, :made_at, :made_at)"
    " ON CONFLICT DO NOTHING RETURNING 1"
)
_SUMMARY = text(
    "INSERT INTO slowwave.day_summaries (agent_id, scope_id, day, version, final, messages, segments, text, lines,"
    " made_by, summarizer, created_at, run_id)"
    " VALUES (:agent, :scope, :day, :version, :final, :messages, :segments, :text, CAST(:lines AS jsonb), 'import',"
    " :summarizer, :made_at, :run)"
)


def take_over(
    connection: Connection, agent_id: int, scope_id: int, day: date, summary: FileSummary, run: int
) -> bool | None:
    """Import a summary. True: imported; None: the same summary exists; False: the day has events or another summary."""
    key = {"agent": agent_id, "scope": scope_id, "day": day}
    known = connection.execute(_KNOWN, key).scalar()
    if known is not None:
        return None if known == summary.text else False
    values = key | {
        "version": summary.version,
        "final": summary.final,
        "messages": summary.messages,
        "segments": summary.segments,
        "text": summary.text,
        "lines": json.dumps([dict(line) for line in summary.lines]),
        "summarizer": summary.summarizer,
        "made_at": summary.made_at,
        "run": run,
    }
    if connection.execute(_HAS_EVENTS, key).first() or connection.execute(_DAY, values).first() is None:
        return False
    connection.execute(_SUMMARY, values)
    return True
