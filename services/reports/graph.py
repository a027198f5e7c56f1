"""Build a graph of a scope's entities and their relations: around one entity, or of the best connected ones.

A graph is a networkx.MultiDiGraph. Its nodes are names in lower case, with the attributes

    kind       "entity", or "memory" (only with links)
    name       the name as most memories write it; for a memory its content
    type       person, organisation, place, date, quantity, thing; for a memory its type
    relations  the number of the scope's relations that begin or end at the node, including those outside the graph; at
    most RELATIONS_COUNTED in each direction
    hops       steps from the queried entity, if there is one

and its edges, keyed by the number of the relation, have `predicate`, `memory` (its id), `since` (ISO 8601, the time
from which it is valid) and `confidence`. The graph uses only valid memories that answers may use.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import networkx as nx
from sqlalchemy import Connection, Row, TextClause, text

from slowwave_server.services.lookup import NAMES_COMPARED, find_agent, find_scope, unknown_name

MAX_NODES = 100
RELATIONS_A_NODE = 20
"""A step reads at most so many relations for each node that a graph may hold: one entity may have thousands."""
RELATIONS_COUNTED = 50
"""The largest number of relations of an entity, in one direction, that are counted and read."""
MEMORIES_READ = 2_000
"""The largest number of memories, newest first, from which the best connected entities of a scope are computed."""

_VALUES = frozenset({"date", "quantity"})
# Every query names the tenant and the scope (I8), and reads only valid memories that wait for no decision.
_FROM = (
    " FROM slowwave.triples t"
    " JOIN slowwave.scopes s ON s.id = t.scope_id AND s.tenant = :tenant"
    " JOIN slowwave.memories m ON m.id = t.memory_id AND m.scope_id = t.scope_id"
    " WHERE t.scope_id = :scope AND m.status IN ('inbox', 'episode', 'active') AND m.valid_to IS NULL"
)
# Read the newest memories by their index, and their relations by another.
_NEWEST = (
    " SELECT m.id FROM slowwave.memories m JOIN slowwave.scopes s ON s.id = m.scope_id AND s.tenant = :tenant"
    " WHERE m.scope_id = :scope AND m.status <> 'archived' AND m.status <> 'review' AND m.valid_to IS NULL"
    " ORDER BY m.valid_from DESC LIMIT :memories"
)
_BEST = text(
    f"WITH newest AS MATERIALIZED ({_NEWEST}), stated AS MATERIALIZED ("
    "  SELECT lower(t.subject) AS subject, lower(t.object) AS object FROM newest n"
    "  JOIN slowwave.triples t ON t.memory_id = n.id AND t.scope_id = :scope"
    " ), ends AS (SELECT subject AS key FROM stated UNION ALL SELECT object FROM stated)"
    " SELECT key, count(*) AS relations, (SELECT count(*) FROM newest) = :memories AS cut FROM ends"
    " GROUP BY key ORDER BY relations DESC, key LIMIT :nodes"
)
_KEY = text(
    f"SELECT lower(:name) AS key{_FROM} AND (lower(t.subject) = lower(:name) OR lower(t.object) = lower(:name)) LIMIT 1"
)
# Read a limited number for each entity by the index of its end: one entity may have most relations ("the user").
_EACH = "FROM unnest(CAST(:keys AS text[])) AS k (key) CROSS JOIN LATERAL"
_NAMED = text(
    f"WITH ends AS (SELECT k.key, x.name, x.type {_EACH}"
    f" (SELECT t.subject AS name, t.subject_type AS type{_FROM} AND lower(t.subject) = k.key LIMIT :each) AS x"
    f" UNION ALL SELECT k.key, x.name, x.type {_EACH}"
    f" (SELECT t.object AS name, t.object_type AS type{_FROM} AND lower(t.object) = k.key LIMIT :each) AS x)"
    " SELECT key, mode() WITHIN GROUP (ORDER BY name) AS name, mode() WITHIN GROUP (ORDER BY type) AS type,"
    " count(*) AS relations FROM ends GROUP BY key ORDER BY relations DESC, key"
)
_RELATION = (
    "SELECT t.id, lower(t.subject) AS source, lower(t.object) AS target, t.object_type, t.predicate, t.confidence,"
    f" m.id AS memory, m.valid_from AS since{_FROM}"
)
_SUREST_FIRST = " ORDER BY r.confidence DESC, r.since DESC, r.id LIMIT :most"
_AROUND = text(
    f"SELECT * FROM (SELECT x.* {_EACH} ({_RELATION} AND lower(t.subject) = k.key LIMIT :each) AS x"
    f" UNION SELECT x.* {_EACH} ({_RELATION} AND lower(t.object) = k.key LIMIT :each) AS x) AS r{_SUREST_FIRST}"
)
_WITHIN = text(
    f"SELECT r.* FROM (SELECT x.* {_EACH} ({_RELATION} AND lower(t.subject) = k.key AND lower(t.object) = ANY(:keys)"
    f" LIMIT :each) AS x) AS r{_SUREST_FIRST}"
)
_MEMORIES = text(
    "SELECT m.id, m.content, m.type FROM slowwave.memories m"
    " JOIN slowwave.scopes s ON s.id = m.scope_id AND s.tenant = :tenant"
    " WHERE m.scope_id = :scope AND m.id = ANY(CAST(:memories AS uuid[]))"
)
_LINKS = text(
    "SELECT l.id, l.source_id, l.target_id, l.predicate, l.confidence, l.created_at FROM slowwave.memory_links l"
    " JOIN slowwave.memories a ON a.id = l.source_id AND a.scope_id = :scope"
    " JOIN slowwave.memories b ON b.id = l.target_id AND b.scope_id = :scope"
    " JOIN slowwave.scopes s ON s.id = a.scope_id AND s.tenant = :tenant"
    " WHERE l.source_id = ANY(CAST(:memories AS uuid[])) AND l.target_id = ANY(CAST(:memories AS uuid[]))"
)


@dataclass(frozen=True, slots=True)
class EntityGraph:
    """A part of the graph of relations. entity: the key of the queried entity; cut: True if a limit cut it."""

    graph: "nx.MultiDiGraph[str]"
    entity: str | None
    cut: bool


def neighbourhood(
    connection: Connection,
    tenant: str,
    agent: str,
    entity: str,
    *,
    scope: tuple[str, str] | None = None,
    depth: int = 1,
    max_nodes: int = MAX_NODES,
    links: bool = False,
) -> EntityGraph:
    """Return all entities within `depth` steps of `entity`, in either direction, and the relations among them.

    scope: ("room" or "team", name), or None for the agent's own scope. Raises UnknownName for the agent and the entity.
    """
    place = _Place.find(connection, tenant, agent, scope)
    start = place.key_of(entity)
    if start is None:
        raise unknown_name(f"nothing is related to {entity!r} in the memory of {agent!r}", entity, place.names())
    hops, cut = {start: 0}, False
    frontier = [start]
    for step in range(1, depth + 1):
        rows, more = place.around(frontier, max_nodes * RELATIONS_A_NODE)
        reached = [key for row in rows for key in (row.source, row.target) if key not in hops]
        frontier = list(dict.fromkeys(reached))
        room = max_nodes - len(hops)
        cut = cut or more or len(frontier) > room
        frontier = frontier[:room]
        hops |= dict.fromkeys(frontier, step)
        # Two people with two children each, or two deadlines on a Friday, are not related by this value.
        values = {row.target for row in rows if row.object_type in _VALUES}
        frontier = [key for key in frontier if key not in values]
        if not frontier:
            break
    graph = _nodes(place.named(list(hops)), hops)
    within, more = place.within(list(hops), max_nodes * RELATIONS_A_NODE)
    return place.complete(graph, within, start, cut=cut or more, links=links)


def best_connected(
    connection: Connection,
    tenant: str,
    agent: str,
    *,
    scope: tuple[str, str] | None = None,
    max_nodes: int = MAX_NODES,
    links: bool = False,
) -> EntityGraph:
    """Return the entities of the scope with most relations, and the relations among them. Raises UnknownName."""
    place = _Place.find(connection, tenant, agent, scope)
    best = place.best(max_nodes + 1)
    graph = _nodes(place.named([row.key for row in best[:max_nodes]]), {})
    within, more = place.within(list(graph), max_nodes * RELATIONS_A_NODE)
    cut = more or len(best) > max_nodes or any(row.cut for row in best)
    return place.complete(graph, within, None, cut=cut, links=links)


@dataclass(frozen=True, slots=True)
class _Place:
    """One scope of one tenant, the parameters of every query. scope: the id, 0 if the scope does not exist."""

    connection: Connection
    tenant: str
    scope: int

    @classmethod
    def find(cls, connection: Connection, tenant: str, agent: str, scope: tuple[str, str] | None) -> "_Place":
        find_agent(connection, tenant, agent)
        return cls(connection, tenant, find_scope(connection, tenant, *(scope or ("agent", agent))) or 0)

    def key_of(self, entity: str) -> str | None:
        """Return the key of an entity that some relation names, also written with an article ("the user")."""
        name = entity.strip()
        for tried in dict.fromkeys((name, name[4:] if name.lower().startswith("the ") else name)):
            if found := self._all(_KEY, name=tried):
                return str(found[0].key)
        return None

    def names(self) -> list[str]:
        """Return the names of entities, the best connected first."""
        return [row.name for row in self.named([row.key for row in self.best(NAMES_COMPARED)])]

    def best(self, most: int) -> Sequence[Row[Any]]:
        """Return entities with most relations in the newest memories: key, relations, cut (there are more memories)."""
        return self._all(_BEST, nodes=most, memories=MEMORIES_READ)

    def named(self, keys: list[str]) -> Sequence[Row[Any]]:
        """Return these entities: key, name, type, relations."""
        return self._all(_NAMED, keys=keys, each=RELATIONS_COUNTED)

    def around(self, keys: list[str], most: int) -> tuple[Sequence[Row[Any]], bool]:
        """Return at most `most` relations of these entities, the most certain first, and True if there are more."""
        return self._relations(_AROUND, keys, most)

    def within(self, keys: list[str], most: int) -> tuple[Sequence[Row[Any]], bool]:
        """Return at most `most` relations among these entities, the most certain first, and True if there are more."""
        return self._relations(_WITHIN, keys, most)

    def _relations(self, statement: TextClause, keys: list[str], most: int) -> tuple[Sequence[Row[Any]], bool]:
        each = max(RELATIONS_COUNTED, most // max(1, len(keys)) + 1)
        rows = self._all(statement, keys=keys, each=each, most=most + 1)
        return rows[:most], len(rows) > most

    def complete(
        self,
        graph: "nx.MultiDiGraph[str]",
        relations: Iterable[Row[Any]],
        entity: str | None,
        *,
        cut: bool,
        links: bool,
    ) -> EntityGraph:
        """Add the relations and, with `links`, the memories that state them and the links among these."""
        memories: dict[str, set[str]] = {}
        for row in relations:
            memory = str(row.memory)
            memories.setdefault(memory, set()).update((row.source, row.target))
            graph.add_edge(
                row.source,
                row.target,
                key=row.id,
                predicate=row.predicate,
                memory=memory,
                since=row.since.isoformat(),
                confidence=row.confidence,
            )
        if links:
            self._add_memories(graph, memories)
        return EntityGraph(graph, entity, cut)

    def _add_memories(self, graph: "nx.MultiDiGraph[str]", memories: dict[str, set[str]]) -> None:
        for row in self._all(_MEMORIES, memories=list(memories)):
            graph.add_node(str(row.id), kind="memory", name=row.content, type=row.type)
            for place, entity in enumerate(sorted(memories[str(row.id)])):
                graph.add_edge(str(row.id), entity, key=f"{row.id} {place}", predicate="speaks_of", memory=str(row.id))
        for row in self._all(_LINKS, memories=list(memories)):
            graph.add_edge(
                str(row.source_id),
                str(row.target_id),
                key=f"link {row.id}",
                predicate=row.predicate,
                confidence=row.confidence,
                since=row.created_at.isoformat(),
            )

    def _all(self, statement: TextClause, **values: Any) -> Sequence[Row[Any]]:
        return self.connection.execute(statement, {"tenant": self.tenant, "scope": self.scope} | values).all()


def _nodes(rows: Iterable[Row[Any]], hops: Mapping[str, int]) -> "nx.MultiDiGraph[str]":
    graph = nx.MultiDiGraph()
    for row in rows:
        graph.add_node(row.key, kind="entity", name=row.name, type=row.type, relations=row.relations)
        if row.key in hops:
            graph.nodes[row.key]["hops"] = hops[row.key]
    return graph
