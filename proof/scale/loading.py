"""Load the world into a migrated database: events by COPY, derived rows by the rules of the product.

Indexes are made after the rows, and triggers of foreign keys are off during the load; proof.scale.checks then checks
the rows. Two processes load at a time.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import islice
from typing import Any, TypeVar
from uuid import UUID

import psycopg
from psycopg.rows import TupleRow
from sqlalchemy import Engine

from proof.scale.derived import AFTER, OF_MEMORIES, OF_SESSIONS
from proof.scale.vectors import Stems
from proof.scale.world import (
    LARGEST,
    TEAM,
    TEAM_SCOPE,
    TENANT,
    Said,
    Sizes,
    Talk,
    agents_of,
    said_in,
    scope_of,
    statements,
    talks,
)
from slowwave_server.domain.blocking import block_keys
from slowwave_server.domain.similarity import read
from slowwave_server.domain.statements import content_hash
from slowwave_server.services.search.statistics import refresh_statistics

Connection = psycopg.Connection[TupleRow]
Say = Callable[[str], None]
T = TypeVar("T")
SESSIONS_A_CHUNK = 5_000
MEMORIES_A_CHUNK = 5_000
PROCESSES = 2
# Every nth conversation of an agent's own scope left a memory there.
OWN_EVERY = 20

_SESSIONS = (
    "id, agent_id, scope_id, name, last_seq, last_turn, processed_until, processed_turn, dirty_since, last_seen_at,"
    " flush_due_at, created_at"
)
_EVENTS = "session_id, seq, turn, kind, role, name, content, happened_at, recorded_at, day, key"
_MEMORIES = (
    "id, scope_id, type, content, content_hash, status, confidence, importance, trust, valid_from, reaffirmed_at,"
    " recorded_at, checked_at, archive_reason, search"
)
_SOURCES = "memory_id, session_id, seq, confidence, importance, trust, holds_from"
_STATUSES = ("active",) * 16 + ("inbox",) * 2 + ("episode", "archived")
_TYPES = ("fact", "fact", "preference", "decision", "task", "event")
_INDEXES = (
    "SELECT c.relname, pg_get_indexdef(i.indexrelid) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
    " WHERE c.relnamespace = 'slowwave'::regnamespace AND NOT c.relispartition"
    " AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = i.indexrelid) ORDER BY 1"
)
_LOADING = "SET session_replication_role = replica; SET synchronous_commit = off; SET maintenance_work_mem = '1GB'"


def load(url: str, engine: Engine, sizes: Sizes, say: Say) -> None:
    """Fill a migrated, empty database."""
    with psycopg.connect(url, autocommit=True) as connection, ProcessPoolExecutor(PROCESSES) as pool:
        connection.execute(_LOADING)
        indexes = connection.execute(_INDEXES).fetchall()
        for name, _ in indexes:
            connection.execute(f"DROP INDEX slowwave.{name}".encode())
        _names(connection, sizes)
        chunks = range(1, sizes.sessions + 1, SESSIONS_A_CHUNK)
        jobs = [pool.submit(_load_sessions, url, sizes, first) for first in chunks]
        jobs += [pool.submit(_load_memories, url, sizes, rows) for rows in _chunks(_memories(sizes), MEMORIES_A_CHUNK)]
        for place, job in enumerate(jobs, 1):
            job.result()
            if place % 20 == 0:
                say(f"{place} of {len(jobs)} chunks of conversations and memories are loaded")
        for _, definition in indexes:
            connection.execute(definition.replace(" ON ONLY ", " ON ").encode())
        connection.execute("ANALYZE")
        for statement in AFTER:
            connection.execute(statement, {"now": sizes.now})
            say(statement.strip().partition("\n")[0][:90])
        with engine.begin() as counting:
            for scope in (TEAM_SCOPE, scope_of(1)):
                refresh_statistics(counting, scope, sizes.now)
        connection.execute("VACUUM (ANALYZE)")
        connection.execute("CHECKPOINT")


def _names(connection: Connection, sizes: Sizes) -> None:
    agents, _ = agents_of(sizes.sessions)
    rows = ((number, TENANT, f"agent-{number}" if number > 1 else LARGEST) for number in range(1, agents + 1))
    _copy(connection, "agents (id, tenant, name)", rows)
    _copy(connection, "scopes (id, tenant, kind, name)", [(TEAM_SCOPE, TENANT, "team", TEAM)])
    own = ((number + 1, TENANT, "agent", f"agent-{number}") for number in range(1, agents + 1))
    _copy(connection, "scopes (id, tenant, kind, name)", own)


def _load_sessions(url: str, sizes: Sizes, first: int) -> None:
    last = min(first + SESSIONS_A_CHUNK - 1, sizes.sessions)
    chosen = list(talks(sizes, first, last))
    with psycopg.connect(url) as connection:
        connection.execute(_LOADING)
        spoken = [(talk, list(said_in(talk, sizes.now))) for talk in chosen]
        _copy(
            connection,
            f"sessions ({_SESSIONS})",
            (_session(talk, said[-1].at, said[min(talk.processed, len(said) - 1)].at) for talk, said in spoken),
        )
        _copy(connection, f"events ({_EVENTS})", (row for talk, said in spoken for row in _events(talk, said)))
        _copy(connection, "passages (session_id, seq, ends, scope_id, search)", _passages(stems_of(url), spoken))
        for statement in OF_SESSIONS:
            connection.execute(statement, {"first": first, "last": last, "now": sizes.now})


def _session(talk: Talk, seen: datetime, since: datetime) -> tuple[Any, ...]:
    turns, done = (talk.events + 1) // 2, (talk.processed + 1) // 2
    # Not due yet: a measurement makes its own sessions due.
    waits = (since, seen, seen + timedelta(days=365)) if talk.dirty else (None, seen, None)
    place = f"s{talk.id}"
    return (talk.id, talk.agent, talk.scope, place, talk.events, turns, talk.processed, done, *waits, talk.begun)


def _events(talk: Talk, said: Iterable[Said]) -> Iterator[tuple[Any, ...]]:
    for one in said:
        key = f"{talk.id:x}-{one.seq:x}" if talk.id % 3 == 0 else None
        when = (one.at, one.at, one.at.date())
        yield (
            talk.id,
            one.seq,
            (one.seq + 1) // 2,
            one.kind,
            one.kind,
            _speaker(talk, one),
            " ".join(one.sentences),
            *when,
            key,
        )


def _passages(stems: Stems, spoken: Iterable[tuple[Talk, Sequence[Said]]]) -> Iterator[tuple[Any, ...]]:
    for talk, said in spoken:
        told = [(one.sentences, _speaker(talk, one) or one.kind, one.at) for one in said[: talk.processed]]
        # Sentences in this data are short, so each event is one passage.
        for seq, vector in enumerate(stems.vectors(talk.scope, told), 1):
            yield talk.id, seq, len(" ".join(told[seq - 1][0])), talk.scope, vector


def _speaker(talk: Talk, one: Said) -> str | None:
    return f"Person {talk.agent}" if one.kind == "user" else None


@lru_cache(maxsize=1)
def stems_of(url: str) -> Stems:
    """Return the stems; each process computes them once."""
    with psycopg.connect(url) as connection:
        return Stems(connection)


def _memories(sizes: Sizes) -> Iterator[tuple[int, int, int, str]]:
    """Yield (number, scope, session, text): the team's memories, and sometimes one of an agent's own scope."""
    _, agents = agents_of(sizes.sessions)
    own = [place for place, agent in enumerate(agents, 1) if scope_of(agent) != TEAM_SCOPE][::OWN_EVERY]
    team = [place for place, agent in enumerate(agents, 1) if scope_of(agent) == TEAM_SCOPE]
    texts = statements(7)
    for number, text in enumerate(islice(texts, sizes.memories), 1):
        yield number, TEAM_SCOPE, team[(number - 1) * len(team) // sizes.memories], text
    for number, (place, text) in enumerate(zip(own, texts, strict=False), sizes.memories + 1):
        yield number, scope_of(agents[place - 1]), place, text


def _chunks(rows: Iterator[T], size: int) -> Iterator[list[T]]:
    while chunk := list(islice(rows, size)):
        yield chunk


def _load_memories(url: str, sizes: Sizes, rows: list[tuple[int, int, int, str]]) -> None:
    with psycopg.connect(url) as connection:
        connection.execute(_LOADING)
        made = [(_id(sizes, number), scope, session, text) for number, scope, session, text in rows]
        _copy(connection, f"memories ({_MEMORIES})", (_memory(sizes, *row) for row in made))
        sources = ((id_, session, 1, 0.6, 0.5, "user", _begun(sizes, session)) for id_, _, session, _ in made)
        _copy(connection, f"memory_sources ({_SOURCES})", sources)
        keys = sorted({(scope, key, id_) for id_, scope, _, text in made for key in block_keys(read(text))})
        _copy(connection, "memory_blocks (scope_id, key, memory_id)", keys)
        read.cache_clear()
        for statement in OF_MEMORIES:
            connection.execute(statement, {"ids": [row[0] for row in made], "now": sizes.now})


def _begun(sizes: Sizes, session: int) -> datetime:
    """Return the approximate start of a conversation, which is the age of a memory."""
    return sizes.now - timedelta(days=730 * (1 - (session - 0.5) / sizes.sessions) ** 1.5, minutes=30)


def _id(sizes: Sizes, number: int) -> UUID:
    """Return an id in the order of the numbers, before all ids that the database will make."""
    at = int((sizes.now - timedelta(days=1000)).timestamp() * 1000) + number
    return UUID(int=(at << 80) | (7 << 76) | (2 << 62) | number)


def _memory(sizes: Sizes, id_: UUID, scope: int, session: int, text: str) -> tuple[Any, ...]:
    draw = random.Random(id_.int)
    status, at = draw.choice(_STATUSES), _begun(sizes, session)
    checked = None if draw.random() < 0.002 and status != "archived" else sizes.now
    reason = "expired" if status == "archived" else None
    share = round(draw.random() ** 2, 2)
    about = (id_, scope, draw.choice(_TYPES), text, content_hash(text), status, 0.6, share, "user")
    return (*about, at, at, at if checked else sizes.now, checked, reason, "")


def _copy(connection: Connection, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
    with connection.cursor().copy(f"COPY slowwave.{table} FROM STDIN".encode()) as copy:
        for row in rows:
            copy.write_row(row)
