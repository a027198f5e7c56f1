"""What must be true when the dust has settled, read from Postgres and Redis."""

from typing import Any

import redis
from sqlalchemy import Engine, text

from proof.chaos.held import held_keys, lasting_keys
from tests.support.processes import wait_until

_WINDOWS = """
    SELECT count(*) FILTER (WHERE w.windows <> 1) AS not_in_one, count(*) AS events
    FROM (SELECT (SELECT count(*) FROM slowwave.flushes f
                  WHERE f.session_id = e.session_id AND e.seq BETWEEN f.from_seq AND f.to_seq) AS windows
          FROM slowwave.events e JOIN slowwave.sessions s ON s.id = e.session_id
          JOIN slowwave.agents a ON a.id = s.agent_id WHERE a.name LIKE :agents) AS w
"""
_GAPS = """
    SELECT count(*) FROM (
        SELECT f.from_seq - 1 - lag(f.to_seq, 1, 0::bigint) OVER (PARTITION BY f.session_id ORDER BY f.from_seq) AS gap
        FROM slowwave.flushes f) AS x
    WHERE gap <> 0
"""
_MEMORIES = """
    SELECT m.content, count(*) AS sources,
           (SELECT count(*) FROM slowwave.memory_changes c WHERE c.memory_id = m.id) AS changes
    FROM slowwave.memories m JOIN slowwave.memory_sources x ON x.memory_id = m.id
    JOIN slowwave.sessions s ON s.id = x.session_id JOIN slowwave.agents a ON a.id = s.agent_id
    WHERE a.name LIKE :agents GROUP BY m.id, m.content
"""
_DIRTY = """
    SELECT count(*) FROM slowwave.sessions s JOIN slowwave.agents a ON a.id = s.agent_id
    WHERE a.name LIKE :agents AND s.last_seq > s.processed_until
"""


def rows(engine: Engine, statement: str, **parameters: Any) -> list[Any]:
    with engine.connect() as connection:
        return list(connection.execute(text(statement), parameters))


def value(engine: Engine, statement: str, **parameters: Any) -> Any:
    return rows(engine, statement, **parameters)[0][0]


def until_flushed(engine: Engine, seconds: float, agents: str = "%") -> None:
    """Wait until no session of these agents is dirty."""
    wait_until(lambda: value(engine, _DIRTY, agents=agents) == 0, seconds, f"every session of {agents!r} is flushed")


def check_as_if_nothing_had_happened(engine: Engine, lines: set[str], agents: str = "%") -> None:
    """I1 and I2: each line is one event, in one window, kept once, from one source, by one change."""
    counted = rows(engine, _WINDOWS, agents=agents)[0]
    assert counted.not_in_one == 0, f"{counted.not_in_one} events are not in exactly one window"
    assert counted.events == len(lines), f"{counted.events} events of {len(lines)} lines"
    assert value(engine, _GAPS) == 0, "windows of a session are not contiguous"
    kept = {(row.content, row.sources, row.changes) for row in rows(engine, _MEMORIES, agents=agents)}
    wanted = {(line, 1, 1) for line in lines}
    assert kept == wanted, f"kept and not wanted: {kept - wanted}; wanted and not kept: {wanted - kept}"


def check_nothing_is_held(client: redis.Redis) -> None:
    """No lease, ticket or place stays, and no key of ours could stay for ever."""
    wait_until(lambda: not held_keys(client), 15, f"no lease, ticket or place is left, but {held_keys(client)}")
    assert lasting_keys(client) == [], "a key could stay for ever"
