"""The graph of trusted relations and the timeline of values, each beside a table with the same data."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection
from starlette.responses import Response

from slowwave_server.domain.change_words import day_words
from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.reports.graph import EntityGraph, best_connected, neighbourhood
from slowwave_server.services.reports.timeline import Changed, Value, changed_relations, values_of
from slowwave_server.workers.console.app_state import Link
from slowwave_server.workers.console.graph_layout import lay_out_graph
from slowwave_server.workers.console.request import PageRequest
from slowwave_server.workers.console.routing import Page, reads
from slowwave_server.workers.console.scope_params import ScopeParams, read_scope_params
from slowwave_server.workers.console.timeline import Held, draw_timeline

ENTITIES = 50
MOST_STEPS = 3
VALUES = 60
TRUSTED = 0.7
"""The confidence from which one memory is enough to draw a relation."""
LONGEST_NAME, LETTER = 24, 8.5
"""The most letters of a name in the plot, and the width of a letter."""
NAMED = 24
"""The most relations of one entity that have words in the plot; the table has the words of all."""


class Stated(NamedTuple):
    """One relation of the table: the day from which it is valid, and the memories that state it, oldest first.

    trusted: True if two memories state it, or one that names both ends or an attribute explicitly.
    """

    source: str
    predicate: str
    target: str
    since: str
    memories: list[str]
    trusted: bool


def graph(req: PageRequest) -> Response:
    """Show the entities of a scope with most relations, or the entities around one."""
    entity, depth = req.word("entity"), req.number("depth", 1, least=1, most=MOST_STEPS)
    found, problem = None, None
    with req.reading() as connection:
        place, agents = read_scope_params(req, connection)
        try:
            found = None if place is None else _read(connection, req, place, entity, depth)
        except UnknownName as unknown:
            if place is None or entity is None:
                raise
            # An entity without relations is not an error of the address: show the nearest names.
            problem = str(unknown)
    return _graph(req, place, agents, found, entity, depth, problem=problem)


def _read(connection: Connection, req: PageRequest, place: ScopeParams, entity: str | None, depth: int) -> EntityGraph:
    if entity is None:
        return best_connected(connection, req.tenant, place.agent, scope=place.shared, max_nodes=ENTITIES)
    return neighbourhood(
        connection, req.tenant, place.agent, entity, scope=place.shared, depth=depth, max_nodes=ENTITIES
    )


def _graph(
    req: PageRequest,
    place: ScopeParams | None,
    agents: list[str],
    found: EntityGraph | None,
    entity: str | None,
    depth: int,
    *,
    problem: str | None = None,
) -> Response:
    everything = req.word("all") is not None
    stated = [] if found is None else _stated(found)
    trusted = stated if everything else [row for row in stated if row.trusted]
    nodes = {} if found is None else _nodes(found, trusted)
    weaker, stated = len(stated) - len(trusted), trusted
    ring = None
    if found is not None and nodes:
        pairs = [(row.source, row.target) for row in stated]
        ring = lay_out_graph(list(nodes), pairs, found.entity, margin=_margin(nodes))
    return req.page(
        "graph.html",
        problem=problem,
        place=place,
        agents=agents,
        entity=entity or "",
        depth=depth,
        depths=[(str(steps), str(steps)) for steps in range(1, MOST_STEPS + 1)],
        nodes=nodes,
        ring=ring,
        words={} if ring is None else _words(stated),
        worded=ring is not None and sum(curve.spoke for curve in ring.curves) <= NAMED,
        stated=stated,
        cut=found is not None and found.cut,
        most=ENTITIES,
        longest=LONGEST_NAME,
        weaker=weaker,
        everything=everything,
        trusted=TRUSTED,
    )


def _nodes(found: EntityGraph, stated: Sequence[Stated]) -> dict[str, Any]:
    """Return the entities of these relations and the entity in the address, in the order of the graph."""
    ends = {end for row in stated for end in (row.source, row.target)} | {found.entity}
    return {name: node for name, node in found.graph.nodes(data=True) if name in ends}


def _words(stated: Sequence[Stated]) -> dict[tuple[str, str], list[str]]:
    """Return the predicates between two entities, by the pair."""
    words: dict[tuple[str, str], list[str]] = {}
    for row in stated:
        words.setdefault((row.source, row.target), []).append(row.predicate)
    return words


def _margin(nodes: Mapping[str, Any]) -> float:
    """Return the room for the longest name after the template has shortened it."""
    longest = max(len(node["name"]) for node in nodes.values())
    return 30.0 + LETTER * min(longest, LONGEST_NAME)


def _stated(found: EntityGraph) -> list[Stated]:
    """Return relations by their first entity, each once even if several memories state it."""
    rows: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for source, target, edge in found.graph.edges(data=True):
        rows.setdefault((source, edge["predicate"], target), []).append(edge)
    told = []
    for (source, predicate, target), edges in sorted(rows.items()):
        edges.sort(key=lambda edge: (edge["since"], edge["memory"]))
        memories = [edge["memory"] for edge in edges]
        trusted = len(set(memories)) > 1 or max(edge["confidence"] for edge in edges) >= TRUSTED
        told.append(Stated(source, predicate, target, day_words(edges[0]["since"]), memories, trusted))
    return told


def timeline(req: PageRequest) -> Response:
    """Show the values of one relation in order, or the relations that changed most."""
    subject, predicate = req.word("subject"), req.word("predicate")
    changed: list[Changed] = []
    values: list[Value] = []
    with req.reading() as connection:
        place, agents = read_scope_params(req, connection)
        if place is not None and subject is not None and predicate is not None:
            values = values_of(
                connection, req.tenant, place.agent, subject, predicate, scope=place.shared, limit=VALUES
            )
        elif place is not None:
            changed = changed_relations(connection, req.tenant, place.agent, scope=place.shared)
    return req.page(
        "timeline.html",
        place=place,
        agents=agents,
        subject=subject or "",
        predicate=predicate or "",
        asked=subject is not None and predicate is not None,
        values=values,
        spans=draw_timeline([_held(value) for value in values], req.now) if values else None,
        changed=changed,
    )


def _held(value: Value) -> Held:
    following = None if value.superseded_by is None else str(value.superseded_by)
    return Held(str(value.memory), value.value, value.valid_from, value.valid_to, following)


TIMELINE_LINK = Link(
    title="Timeline",
    group="Knowledge",
    place=3,
    icon="M4 6h9M8 12h12M4 18h7",
    shows="the values of a relation over time, by event time",
)
GRAPH_LINK = Link(
    title="Graph",
    group="Knowledge",
    place=4,
    icon=(
        "M6 8a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM18 11a2 2 0 1 0 0-4 2 2 0 0 0 0 4z"
        "M9 20a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM8 6.6l8 1.8M7 8l1.6 8M16.5 10.5l-6 6"
    ),
    shows="entities and their relations, beside a table that says the same",
)
ROUTES: list[Page] = [reads("/graph", graph, link=GRAPH_LINK), reads("/timeline", timeline, link=TIMELINE_LINK)]
