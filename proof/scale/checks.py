"""Check the loaded data in SQL: the product could have made this database."""

from collections.abc import Callable

import psycopg
from psycopg.rows import TupleRow

CHECKS = {
    "I2: windows begin at 1, follow each other and end at the watermark": """
        SELECT count(*) FROM (
            SELECT f.session_id, min(f.from_seq) AS first, max(f.to_seq) AS last, sum(f.to_seq - f.from_seq + 1) AS held
            FROM slowwave.flushes f GROUP BY f.session_id
        ) AS w FULL JOIN (SELECT * FROM slowwave.sessions s WHERE s.processed_until > 0) AS s ON s.id = w.session_id
        WHERE (w.first, w.last, w.held) IS DISTINCT FROM (1, s.processed_until, s.processed_until)""",
    "I1: events are numbered from 1 to the last": """
        SELECT count(*) FROM (
            SELECT e.session_id, count(*) AS held, min(e.seq) AS first, max(e.seq) AS last
            FROM slowwave.events e GROUP BY e.session_id
        ) AS n FULL JOIN slowwave.sessions s ON s.id = n.session_id
        WHERE (n.held, n.first, n.last) IS DISTINCT FROM (s.last_seq, 1, s.last_seq)""",
    "I5: the counts of days equal their events": """
        SELECT count(*) FROM (
            SELECT e.session_id, e.day, count(*) AS held FROM slowwave.events e GROUP BY e.session_id, e.day
        ) AS n FULL JOIN slowwave.session_days d ON d.session_id = n.session_id AND d.day = n.day
        WHERE n.held IS DISTINCT FROM d.total_messages""",
    "I5: a final day has nothing unsummarised": """
        SELECT count(*) FROM slowwave.days y
        JOIN (SELECT d.agent_id, d.scope_id, d.day, sum(d.total_messages) AS total FROM slowwave.session_days d
              GROUP BY d.agent_id, d.scope_id, d.day) AS n
          ON (n.agent_id, n.scope_id, n.day) = (y.agent_id, y.scope_id, y.day)
        WHERE y.status = 'final' AND y.last_summarized_total <> n.total""",
    "every memory has a source that is there": """
        SELECT count(*) FROM slowwave.memories m
        WHERE NOT EXISTS (SELECT FROM slowwave.memory_sources x
                          JOIN slowwave.events e ON e.session_id = x.session_id AND e.seq = x.seq
                          WHERE x.memory_id = m.id)""",
    "what is flushed is found: a passage each": """
        SELECT abs((SELECT count(*) FROM slowwave.passages p WHERE p.part = 0)
                   - (SELECT sum(s.processed_until) FROM slowwave.sessions s))::bigint""",
    "a dirty session is due, a clean one is not": """
        SELECT count(*) FROM slowwave.sessions s
        WHERE (s.last_seq > s.processed_until) <> (s.flush_due_at IS NOT NULL)
           OR (s.last_seq > s.processed_until) <> (s.dirty_since IS NOT NULL)""",
}
"""What must hold, and how often it does not."""


def check(connection: psycopg.Connection[TupleRow], say: Callable[[str], None]) -> None:
    """Raise AssertionError with the first violated check."""
    for what, statement in CHECKS.items():
        row = connection.execute(statement.encode()).fetchone()
        if row is None or row[0]:
            raise AssertionError(f"{what}: {row and row[0]} times not so")
        say(f"holds: {what}")
