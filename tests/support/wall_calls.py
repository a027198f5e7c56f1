"""Calls of the functions that read the database: whose words an answer may hold, and what the calls are given."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import networkx as nx
from sqlalchemy import Connection
from sqlalchemy.orm import Session

from slowwave.identity import SessionRef
from slowwave_server.models import MemoryChange
from slowwave_server.services.access.reach import Reach
from slowwave_server.services.memory_files import export
from slowwave_server.services.reports import days, graph, inbox, mentioned
from tests.support.walls import PLACES, YESTERDAY, Place, World

Ask = Callable[[World, Connection, Place], Any]


@dataclass(frozen=True)
class Reader:
    """A reading function. ask: calls it for a place. wide: it answers for the whole tenant, or for all of an agent's
    scopes. silent: its answer holds numbers and names of the caller alone.
    """

    function: Callable[..., Any]
    ask: Ask
    wide: str = "scope"
    silent: bool = False


def may_hold(reader: Reader, place: Place) -> set[str]:
    """The words that the answer may hold."""
    fits: Mapping[str, Callable[[Place], bool]] = {
        "scope": lambda other: other.key == place.key,
        "reader": lambda other: other.key in {place.key, ("agent", place.agent)},
        "agent": lambda other: other.agent == place.agent,
        "tenant": lambda _other: True,
        "place": lambda other: other == place,
    }
    return {other.word for other in PLACES if other.tenant == place.tenant and fits[reader.wide](other)}


def reach(place: Place) -> Reach:
    """Of a key that reaches this place and nothing else."""
    kind, name = place.key
    return Reach((name,)) if kind == "agent" else Reach(("nobody",), (f"{kind}:{name}",))


def scopes(place: Place) -> list[str]:
    return [] if place.scope is None else [place.scope]


def shared(place: Place) -> tuple[str, str] | None:
    return None if place.scope is None else place.key


def day_lines(connection: Connection, place: Place) -> list[dict[str, Any]]:
    """What the summary of a place's day says, beside a line that names an event of every other place."""
    story = days.read_day(connection, place.tenant, place.agent, YESTERDAY.date(), scope=place.scope)
    assert story.summary is not None
    elsewhere = [other for other in PLACES if (other.tenant, other.agent) != (place.tenant, place.agent)]
    return [*story.summary.lines, *({"session": f"{other.word}-talk", "seq": 1} for other in elsewhere)]


def ref(place: Place, session: str = "talk") -> SessionRef:
    return SessionRef(place.tenant, place.agent, f"{place.word}-{session}")


def as_data(found: graph.EntityGraph) -> Any:
    return nx.node_link_data(found.graph, edges="edges")


def relations_of(found: graph.EntityGraph) -> set[tuple[str, str]]:
    return {(source, edge["predicate"]) for source, _, edge in found.graph.edges(data=True)}


def exported(world: World, place: Place) -> dict[str, str]:
    """What is written of a place's scope, by path."""
    report = export.export_scope(world.engine, place.tenant, *place.key, world.folder, append_only=True)
    return {path: (report.folder / path).read_text(encoding="utf-8") for path in _paths(report.folder)}


def _paths(folder: Path) -> list[str]:
    return [str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()]


def changes(memories: Sequence[UUID]) -> list[mentioned.Changed]:
    """Changes that name these memories, as a merge names the survivor."""
    return [SimpleNamespace(before=None, after={"merged_into": str(memory)}) for memory in memories]


def events_of(place: Place, seq: int = 1) -> list[tuple[str, str, int]]:
    return [(place.agent, f"{place.word}-{session}", seq) for session in ("talk", "odd", "tail")]


def open_keys_of(connection: Connection, place: Place) -> list[str]:
    return inbox.open_keys(connection, place.tenant, scope=place.key)


def answered(world: World, connection: Connection, place: Place) -> tuple[int, str]:
    """A run of the place that answered its first question, and the key of that; gone with the transaction."""
    run, question = (world.numbers(table, place)[0] for table in ("maintenance_runs", "review_items"))
    change = MemoryChange(
        memory_id=world.memories(place)[0],
        run_id=run,
        action="decided",
        after={"review_item": question, "by": place.word},
        reason=f"{place.word} was asked",
    )
    with Session(connection, join_transaction_mode="create_savepoint") as session:
        session.add(change)
        session.flush()
        session.commit()
    return run, f"q{question}"


def keys_answered(world: World, connection: Connection, place: Place) -> list[str]:
    """What is found of the place's run, after the runs of all places have answered."""
    runs_of = {other: answered(world, connection, other) for other in PLACES}
    run, key = runs_of[place]
    found = inbox.keys_of_run(connection, place.tenant, run)
    assert found == [key]
    return found


def by_memory(function: Callable[..., Any]) -> Reader:
    return Reader(function, lambda w, c, p: [function(c, w.scope_id(p), memory) for memory in w.memories(p)])


def letter(world: World, place: Place) -> int:
    (row,) = world.sql(
        "SELECT id FROM slowwave.dead_letters WHERE tenant = :tenant AND payload ->> 'content' = :word",
        tenant=place.tenant,
        word=place.word,
    )
    return int(row.id)


def keys_of(world: World, place: Place) -> list[str]:
    """The keys of the place's questions and contradictions, whether the inbox lists them or not."""
    questions, conflicts_there = (world.numbers(table, place) for table in ("review_items", "memory_conflicts"))
    assert questions
    assert conflicts_there
    return [*(f"q{number}" for number in questions), *(f"c{number}" for number in conflicts_there)]
