"""What tests of agent frameworks share: what was recorded, a worker in this process, a memory without its servers."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from redis import Redis

from slowwave import Memory
from slowwave.coordination.flush_queue import FlushQueue
from slowwave.identity import scope_of
from slowwave.spool import spooled
from slowwave_server.domain.extraction.rules import RulesExtractor
from slowwave_server.models.engine import make_engine
from slowwave_server.services.working.consolidate import consolidate_working
from tests.fundamentals.stage import Stage
from tests.support.capturing import memory_on, rows
from tests.support.flushing import Clock


def recorded(memory: Memory, columns: str, session: str | None = None) -> list[tuple[Any, ...]]:
    """Columns of this tenant's events (e), their sessions (s) and scopes (k), in the order of the events."""
    return rows(
        memory.store.settings.database_url,
        f"SELECT {columns} FROM slowwave.events e JOIN slowwave.sessions s ON s.id = e.session_id"
        " JOIN slowwave.scopes k ON k.id = s.scope_id WHERE k.tenant = %s AND coalesce(s.name = %s, true)"
        " ORDER BY s.name, e.seq",
        [memory.tenant, session],
    )


def contents(memory: Memory, session: str | None = None) -> list[str]:
    """What was said in a session, or in all; without calls and results of tools."""
    said = recorded(memory, "e.kind, e.content", session)
    return [content for kind, content in said if kind != "tool"]


def of_tools(memory: Memory, session: str | None = None) -> list[tuple[Any, ...]]:
    """The speaker, the content and the turn of each call and result of a tool."""
    told = recorded(memory, "e.kind, e.name, e.content, e.turn", session)
    return [tuple(rest) for kind, *rest in told if kind == "tool"]


def work(memory: Memory, redis: Redis) -> None:
    """Be the workers: flush whatever was asked for."""
    settings = memory.store.settings
    engine = make_engine(settings.database_url)
    try:
        stage = Stage(memory, engine, redis, FlushQueue(redis), settings, RulesExtractor(), Clock())
        stage.work_until_idle()
    finally:
        engine.dispose()


def cycle(memory: Memory, agent: str, scope: str | None = None) -> None:
    """Be the workers: make memories of what was noted in a scope."""
    settings = memory.store.settings
    place = [memory.tenant, *scope_of(agent, scope)]
    query = "SELECT id FROM slowwave.scopes WHERE (tenant, kind, name) = (%s, %s, %s)"
    ((scope_id,),) = rows(settings.database_url, query, place)
    engine = make_engine(settings.database_url)
    try:
        clock = Clock()
        consolidate_working(engine, scope_id, settings=settings.memory.consolidation, clock=clock, by="test")
    finally:
        engine.dispose()


@contextmanager
def unreachable(folder: Path) -> Iterator[Memory]:
    """A memory whose servers are not there, and that spools into `folder`."""
    nowhere = "postgresql://nobody@127.0.0.1:1/nothing"
    with memory_on(nowhere, "redis://127.0.0.1:1/0", folder / "spool") as memory:
        yield memory


def is_spooled(memory: Memory) -> bool:
    """Whether turns wait for Postgres."""
    return spooled(memory.store.settings.spool).files > 0
