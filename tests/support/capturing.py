"""What tests of the write path share: a memory on a test's own servers, and what Postgres holds in the end."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psycopg
from redis import Redis

from slowwave import Memory, Settings
from slowwave.coordination.keys import agent_keys
from slowwave.store import Mode

TURN = [
    {"role": "user", "content": "I adopted a dog on Saturday, his name is Biscuit."},
    {"role": "assistant", "content": "Congratulations!"},
]


def settings_of(database_url: str, valkey_url: str, spool: Path, **flushing: Any) -> Settings:
    memory: Any = {"auto_flush": flushing}
    return Settings(database_url=database_url, broker_url=valkey_url, spool=spool, memory=memory)


def memory_on(database_url: str, valkey_url: str, spool: Path, mode: Mode = "durable", **flushing: Any) -> Memory:
    return Memory(settings_of(database_url, valkey_url, spool, **flushing), mode=mode)


def rows(database_url: str, query: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    with psycopg.connect(database_url, autocommit=True) as connection:
        return connection.execute(query.encode(), parameters).fetchall()


def contents(database_url: str, session: str) -> list[str]:
    """The texts of a session, in the order of their numbers."""
    query = (
        "SELECT e.content FROM slowwave.events e JOIN slowwave.sessions s ON s.id = e.session_id"
        " WHERE s.name = %s ORDER BY e.seq"
    )
    return [row[0] for row in rows(database_url, query, [session])]


def broken_sessions(database_url: str) -> list[tuple[Any, ...]]:
    """Sessions whose numbers have gaps or repeat, whose turns go back, or whose days do not add up (I5)."""
    return rows(
        database_url,
        """
        SELECT s.name, s.last_seq, s.last_turn, e.seqs, e.turns, d.total
        FROM slowwave.sessions s
        LEFT JOIN LATERAL (
            SELECT array_agg(e.seq ORDER BY e.seq) AS seqs, array_agg(e.turn ORDER BY e.seq) AS turns
            FROM slowwave.events e WHERE e.session_id = s.id
        ) e ON true
        LEFT JOIN LATERAL (
            SELECT sum(d.total_messages) AS total FROM slowwave.session_days d WHERE d.session_id = s.id
        ) d ON true
        WHERE coalesce(e.seqs, '{}') <> ARRAY(SELECT generate_series(1, s.last_seq))
           OR coalesce(d.total, 0) <> s.last_seq
           OR e.turns <> ARRAY(SELECT unnest(e.turns) ORDER BY 1)
           OR (s.last_seq > 0 AND e.turns[array_upper(e.turns, 1)] <> s.last_turn)
           OR EXISTS (
               SELECT FROM slowwave.session_days d
               WHERE d.session_id = s.id AND d.total_messages <> (
                   SELECT count(*) FROM slowwave.events x WHERE x.session_id = s.id AND x.day = d.day))
        """,
    )


def asked_for(redis: Redis, queue: str, agent: str = "maya") -> tuple[int, int]:
    """How many messages of flushes wait in the queue, and how many sessions of the agent are parked behind them."""
    return redis.llen(queue), redis.zcard(agent_keys("default", agent).waiting)
