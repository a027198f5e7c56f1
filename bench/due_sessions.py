"""Create due sessions in bulk, for the benchmarks of flushes and sweeps."""

import itertools
import random
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

import psycopg

from slowwave.identity import SessionRef

NAMES = ("Maya", "Jonas", "Priya", "Tomas", "Aiko", "Lena")
LINES = (
    "I moved to a small flat near the harbour last month.",
    "My sister works as a nurse in the children's hospital.",
    "We decided to meet every Thursday for the project.",
    "I really like strong coffee in the morning.",
    "My dog is called Biscuit and he is three years old.",
    "Thanks, that sounds great!",
)


def make_due_sessions(
    connection: psycopg.Connection, agents: Iterable[tuple[str, int]], *, due_ago: float = 1.0, seed: int = 1
) -> list[SessionRef]:
    """Write sessions of one turn each, due for `due_ago` seconds, for each (agent, count). Return all sessions.

    The texts contain different numbers, so that no two sessions say exactly the same.
    """
    draw = random.Random(seed)
    now = datetime.now(UTC)
    refs: list[SessionRef] = []
    for agent, count in agents:
        agent_id, scope_id = _agent(connection, agent)
        names = [f"{agent}-s{n}" for n in range(count)]
        with connection.cursor() as cursor:
            _copy_sessions(cursor, agent_id, scope_id, names, now - timedelta(seconds=due_ago))
            rows = cursor.execute("SELECT id FROM slowwave.sessions WHERE agent_id = %s ORDER BY id", (agent_id,))
            _copy_events(cursor, [row[0] for row in rows.fetchall()][-count:], draw, now)
        refs += [SessionRef("default", agent, name) for name in names]
    connection.commit()
    return refs


def _agent(connection: psycopg.Connection, name: str) -> tuple[int, int]:
    agent = connection.execute(
        "INSERT INTO slowwave.agents (tenant, name) VALUES ('default', %s) RETURNING id", (name,)
    ).fetchone()
    scope = connection.execute(
        "INSERT INTO slowwave.scopes (tenant, kind, name) VALUES ('default', 'agent', %s) RETURNING id", (name,)
    ).fetchone()
    if agent is None or scope is None:
        raise AssertionError("RETURNING answers a row")
    return agent[0], scope[0]


def _copy_sessions(cursor: psycopg.Cursor, agent_id: int, scope_id: int, names: Sequence[str], due: datetime) -> None:
    columns = "agent_id, scope_id, name, last_seq, last_turn, invalidated_at, invalidated_by, dirty_since"
    with cursor.copy(f"COPY slowwave.sessions ({columns}, last_seen_at, flush_due_at) FROM STDIN") as copy:
        for name in names:
            copy.write_row((agent_id, scope_id, name, 2, 1, 2, "idle", due, due, due))


def _copy_events(cursor: psycopg.Cursor, session_ids: Sequence[int], draw: random.Random, now: datetime) -> None:
    columns = "session_id, seq, turn, kind, role, name, content, happened_at, recorded_at, day"
    numbers = itertools.count(1)
    with cursor.copy(f"COPY slowwave.events ({columns}) FROM STDIN") as copy:
        for session_id in session_ids:
            text = f"{draw.choice(LINES)} Number {next(numbers)}."
            copy.write_row((session_id, 1, 1, "user", "user", draw.choice(NAMES), text, now, now, now.date()))
            copy.write_row((session_id, 2, 1, "assistant", "assistant", None, "I see.", now, now, now.date()))
