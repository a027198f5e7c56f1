"""Two tenants, two agents, rooms and a team: everything that is said or kept in a place carries that place's own word.

So whatever a reader is told shows where it comes from, and a wall that leaks (I8) shows as a word that does not belong.
The names of tenants' agents, rooms and sessions' kinds are the same on both sides: only the walls tell them apart.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from redis import Redis
from sqlalchemy import Engine, text

from slowwave import Memory, Settings
from slowwave.coordination.flush_queue import FlushQueue
from slowwave.identity import SessionRef
from slowwave.settings import Consolidation, Days
from slowwave_server.domain.extraction import RulesExtractor
from slowwave_server.services.aliases.editing import add_alias
from slowwave_server.services.consolidation.scope_pass import Order, consolidate
from slowwave_server.services.days.book import find_days
from slowwave_server.services.days.summarize import summarize_day
from slowwave_server.services.dead_letters.store import store_dead_letter
from slowwave_server.services.flush.flusher import Flusher
from slowwave_server.services.lookup import find_scope
from slowwave_server.services.working.consolidate import consolidate_working
from slowwave_server.workers.leases import LeaseThread
from tests.support.midday import TODAY, ZONE, at

RULES = Consolidation(min_age_days=0)


@dataclass(frozen=True, slots=True)
class Place:
    """What one agent says in one scope; scope None: its own. word: occurs in all of it, and nowhere else."""

    tenant: str
    agent: str
    scope: str | None
    word: str

    @property
    def key(self) -> tuple[str, str]:
        """The scope as services name it."""
        kind, _, name = (self.scope or f"agent:{self.agent}").partition(":")
        return kind, name


PLACES = (
    Place("acme", "atlas", None, "Quorvex"),
    Place("acme", "atlas", "room:kitchen", "Zimbrel"),
    Place("acme", "atlas", "team:garden", "Mortwen"),
    Place("acme", "boreas", None, "Dalquin"),
    Place("acme", "boreas", "room:kitchen", "Fyndor"),
    Place("globex", "atlas", None, "Jaskill"),
    Place("globex", "atlas", "room:kitchen", "Brovane"),
)
EARLY = at(TODAY)
YESTERDAY = at(TODAY, 12) - timedelta(days=1)


@dataclass
class World:
    """All places on one database, and the numbers under which what they hold can be asked for."""

    engine: Engine
    memory: Memory
    queue: FlushQueue
    folder: Path

    def of(self, place: Place) -> Memory:
        return self.memory.for_tenant(place.tenant)

    def sql(self, statement: str, **values: Any) -> list[Any]:
        with self.engine.begin() as connection:
            result = connection.execute(text(statement), values)
            return list(result) if result.returns_rows else []

    def scope_id(self, place: Place) -> int:
        with self.engine.connect() as connection:
            found = find_scope(connection, place.tenant, *place.key)
        assert found is not None
        return found

    def memories(self, place: Place) -> list[UUID]:
        """The memories of the place that carry its word, the first two of them at odds and under review."""
        rows = self.sql(
            "SELECT id FROM slowwave.memories WHERE scope_id = :scope AND content LIKE :word ORDER BY id",
            scope=self.scope_id(place),
            word=f"%{place.word}%",
        )
        return [row.id for row in rows]

    def numbers(self, table: str, place: Place) -> list[int]:
        """The ids of the scope's rows in a table that names its scope."""
        query = f"SELECT id FROM slowwave.{table} WHERE scope_id = :scope ORDER BY id"
        return [row.id for row in self.sql(query, scope=self.scope_id(place))]


def settle(world: World, places: Sequence[Place] = PLACES) -> None:
    """Fill every place, by the ways in which things get there."""
    for place in places:
        _talk(world, place)
    for place in places:
        _keep(world, place)
        _summarise(world, place)


def told(answer: Any) -> str:
    """All that an answer holds, as text."""
    from slowwave_server.workers.shared.json_document import document  # noqa: PLC0415 (as the shell itself prints it)

    try:
        return json.dumps(document(answer), ensure_ascii=False, default=str)
    except TypeError:
        return repr(answer)


def words_in(answer: Any) -> set[str]:
    """The words of places that occur in an answer, however they are written."""
    folded = told(answer).casefold()
    return {place.word for place in PLACES if place.word.casefold() in folded}


def _talk(world: World, place: Place) -> None:
    """Events of both days: flushed ones, one that no flush has read, one that no flush could digest."""
    memory, word = world.of(place), place.word
    lines = (
        f"My favourite editor is {word}.",
        f"I moved to {word} last spring, and I want to learn how to sail there.",
        f"We decided to name the boat {word}.",
        f"My brother Jonas works at {word}.",
    )
    for number, line in enumerate(lines):
        said = {"role": "user", "name": f"Maya {word}", "content": line, "at": YESTERDAY + timedelta(minutes=number)}
        reply = {"role": "assistant", "content": f"Noted, {word} it is.", "at": YESTERDAY + timedelta(minutes=number)}
        memory.turn_completed(place.agent, f"{word}-talk", [said, reply], scope=place.scope, room_id=f"{word}-hall")
    milestone = {"role": "task", "content": f"The import of {word} finished.", "metadata": {"event": "run_finished"}}
    memory.turn_completed(place.agent, f"{word}-talk", [milestone | {"at": YESTERDAY}], scope=place.scope)
    _flush(world, SessionRef(place.tenant, place.agent, f"{word}-talk"))
    memory.turn_completed(
        place.agent, f"{word}-odd", [{"role": "user", "content": f"{word} is odd.", "at": EARLY}], scope=place.scope
    )
    _flush(world, SessionRef(place.tenant, place.agent, f"{word}-odd"))
    world.sql(
        "UPDATE slowwave.events SET quarantined_at = now() WHERE session_id ="
        " (SELECT id FROM slowwave.sessions WHERE name = :name)",
        name=f"{word}-odd",
    )
    world.sql(
        "UPDATE slowwave.flushes SET outcome = 'quarantined', error = :error WHERE session_id ="
        " (SELECT id FROM slowwave.sessions WHERE name = :name)",
        name=f"{word}-odd",
        error=f"{word}Error",
    )
    memory.turn_completed(
        place.agent, f"{word}-tail", [{"role": "user", "content": f"Tomorrow {word}!", "at": EARLY}], scope=place.scope
    )


def _flush(world: World, ref: SessionRef) -> None:
    memory = world.memory.for_tenant(ref.tenant)
    memory.session_idle(ref.agent, ref.session)
    flusher = Flusher(
        engine=world.engine.execution_options(isolation_level="AUTOCOMMIT"),
        queue=world.queue,
        keeper=LeaseThread(world.queue, lease_seconds=30),
        extractor=RulesExtractor(),
        settings=memory.store.settings.memory.auto_flush,
        clock=lambda: datetime.now(UTC),
        jitter=lambda: 0.5,
        pause=lambda _seconds: None,
    )
    world.queue.offer(ref, "normal")
    while (result := flusher.flush(ref)).more:
        pass
    assert result.outcome in {"stored", "no_reply"}, result


def _keep(world: World, place: Place) -> None:
    """Notes, a cycle over them, a pass, two memories at odds with a question about each, a letter."""
    memory, word, scope_id = world.of(place), place.word, world.scope_id(place)
    memory.remember(place.agent, f"The key of {word} lies under the mat.", 0.9, f"{word}-talk", scope=place.scope)
    consolidate_working(world.engine, scope_id, settings=RULES, clock=lambda: datetime.now(UTC), by=f"{word}-person")
    memory.remember(place.agent, f"The tide of {word} was low.", 0.1, f"{word}-talk", scope=place.scope)
    consolidate(
        world.engine, Order(scope_id, "deep", f"{word}-person"), settings=RULES, clock=lambda: datetime.now(UTC)
    )
    first, second = world.memories(place)[:2]
    (conflict,) = world.sql(
        "INSERT INTO slowwave.memory_conflicts (scope_id, memory_id, conflicting_memory_id, reason, evidence)"
        " VALUES (:scope, :first, :second, :reason, CAST(:evidence AS jsonb)) RETURNING id",
        scope=scope_id,
        first=first,
        second=second,
        reason="value",
        evidence=json.dumps({"said": word}),
    )
    for column, value in (("memory_id", first), ("conflict_id", conflict.id)):
        world.sql(
            f"INSERT INTO slowwave.review_items (scope_id, {column}, why, tier, expires_at)"
            " VALUES (:scope, :value, :why, 'low', now() + interval '9 days')",
            scope=scope_id,
            value=value,
            why=f"{word} is doubtful",
        )
    world.sql(
        "INSERT INTO slowwave.memory_imports (memory_id, digest, file, sources, confidence, importance, trust,"
        " holds_from) VALUES (:memory, 'digest', :file, CAST(:sources AS jsonb), 0.1, 0.1, 'import', now())",
        memory=first,
        file=f"daily/{word}.md",
        sources=json.dumps([[f"{word}-talk", 1]]),
    )
    add_alias(
        world.engine, place.tenant, place.key, f"Port {word}", f"Anchorage {word}s", by=f"{word}-person",
        now=datetime.now(UTC),
    )  # fmt: skip
    with world.engine.begin() as connection:
        payload = {"agent": place.agent, "content": word}
        store_dead_letter(
            connection, task="slowwave.remember", tenant=place.tenant, payload=payload, error=f"{word} is too long",
            now=datetime.now(UTC),
        )  # fmt: skip


def _summarise(world: World, place: Place) -> None:
    """Both of its days; the summaries of the one that is over are final."""
    for day in (YESTERDAY.date(), TODAY):
        with world.engine.connect() as connection:
            found = find_days(connection, place.tenant, place.agent, day, scope=place.scope or "agent")
        (ref,) = found
        report = summarize_day(world.engine, ref, settings=Days(), now=datetime.now(UTC), final=True)
        assert report.outcome == "summarized", report


def open_world(
    engine: Engine, settings: Settings, redis: Redis, folder: Path, places: Sequence[Place] = PLACES
) -> Iterator[World]:
    """A filled world on an empty database. folder: where exports go."""
    rules = settings.memory.auto_flush
    queue = FlushQueue(redis, ticket_seconds=60, lease_seconds=30, per_agent_concurrency=rules.per_agent_concurrency)
    with Memory(settings) as memory:
        world = World(engine, memory, queue, folder)
        settle(world, places)
        yield world


def settings_on(database_url: str, broker_url: str, folder: Path) -> Settings:
    memory: Any = {"days": {"timezone": ZONE}}
    return Settings(database_url=database_url, broker_url=broker_url, spool=folder / "spool", memory=memory)
