"""Read a run from the database: the times of turns, of window starts and of commits.

The time of a commit is Postgres' own (`pg_xact_commit_timestamp`), because a worker's own time lies before the commit.
"""

from typing import Any

import psycopg

from proof.load.lags import Window

_RECORDED = (
    "SELECT s.name, e.turn, extract(epoch FROM max(e.recorded_at))::float8 FROM slowwave.sessions s"
    " JOIN slowwave.events e ON e.session_id = s.id WHERE s.name LIKE %s GROUP BY 1, 2"
)
# If a turn has more events than fit, a window ends inside it; the turn then counts for the next window.
_WINDOWS = (
    "SELECT s.name, a.turn, b.turn - (EXISTS (SELECT FROM slowwave.events n WHERE n.session_id = s.id"
    " AND n.seq = f.to_seq + 1 AND n.turn = b.turn))::integer, extract(epoch FROM f.started_at)::float8,"
    " extract(epoch FROM pg_xact_commit_timestamp(f.xmin))::float8"
    " FROM slowwave.sessions s JOIN slowwave.flushes f ON f.session_id = s.id"
    " JOIN slowwave.events a ON a.session_id = s.id AND a.seq = f.from_seq"
    " JOIN slowwave.events b ON b.session_id = s.id AND b.seq = f.to_seq"
    " WHERE s.name LIKE %s ORDER BY s.name, f.from_seq"
)
_MEMORIES = (
    "SELECT count(*), coalesce(sum(stored), 0) FROM slowwave.flushes f JOIN slowwave.sessions s ON s.id = f.session_id"
    " WHERE s.name LIKE %s"
)


def recorded(connection: "psycopg.Connection[Any]", run: str) -> dict[str, dict[int, float]]:
    """Return when each turn of a run was recorded (Unix time), by session and turn."""
    found: dict[str, dict[int, float]] = {}
    for session, turn, at in connection.execute(_RECORDED, (f"{run}-%",)):
        found.setdefault(session, {})[turn] = at
    return found


def windows(connection: "psycopg.Connection[Any]", run: str) -> dict[str, list[Window]]:
    """Return the committed windows of a run by session, in order."""
    found: dict[str, list[Window]] = {}
    for session, first, last, begun, committed in connection.execute(_WINDOWS, (f"{run}-%",)):
        found.setdefault(session, []).append(Window(first, last, begun, committed))
    return found


def flushes_and_memories(connection: "psycopg.Connection[Any]", run: str) -> tuple[int, int]:
    """Return the number of flushed windows of a run and the number of their memories."""
    row = connection.execute(_MEMORIES, (f"{run}-%",)).fetchone()
    return (0, 0) if row is None else (int(row[0]), int(row[1]))
