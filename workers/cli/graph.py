"""`slowwave memory graph`: relations between entities, as rows, JSON or GraphML."""

import re
from collections import Counter
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.console import Console

from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.workers.cli.options import Agent, Json, Scope, scope_parts
from slowwave_server.workers.cli.output import (
    XML_ESCAPED,
    console,
    json_text,
    one_line,
    print_rows,
    styled,
)
from slowwave_server.workers.cli.pipe import PIPE_WIDTH
from slowwave_server.workers.cli.state import shell_of

if TYPE_CHECKING:
    from slowwave_server.services.reports.graph import EntityGraph

LONGEST_NAME = 48
NEAREST = 4
"""The list of entities names this many neighbours of each."""
# Characters that XML 1.0 forbids even when escaped; conversation text may contain them.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

Format = Literal["text", "json", "graphml"]


def graph(
    context: typer.Context,
    agent: Agent,
    entity: Annotated[
        str | None, typer.Argument(help="A person, place or thing; default: the entities with most relations.")
    ] = None,
    *,
    depth: Annotated[int, typer.Option(min=1, max=6, help="The largest number of steps from the entity.")] = 1,
    scope: Scope = None,
    links: Annotated[
        bool, typer.Option("--links", help="Also print the memories, and the links between them.")
    ] = False,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="The largest number of entities.")] = 100,
    form: Annotated[
        Format, typer.Option("--format", help="The output format; Gephi and networkx read GraphML.")
    ] = "text",
    output: Annotated[Path | None, typer.Option(help="Write to this file instead of stdout.")] = None,
    as_json: Json = False,
) -> None:
    """Show how people, places and things are related according to an agent's memories."""
    from slowwave_server.services.reports.graph import best_connected, neighbourhood

    shell = shell_of(context)
    place = None if scope is None else scope_parts(scope)
    chosen: Format = "json" if as_json else form
    with shell.connection() as connection:
        if entity is None:
            found = best_connected(connection, shell.tenant, agent, scope=place, max_nodes=limit, links=links)
        else:
            found = neighbourhood(
                connection, shell.tenant, agent, entity, scope=place, depth=depth, max_nodes=limit, links=links
            )
    found.graph.graph.update(_origin(shell.tenant, agent, scope, found, depth))
    _write(found, chosen, output)
    if found.cut:
        console(stderr=True).print(f"The graph has more than {limit} entities; --limit shows more.")


def _origin(tenant: str, agent: str, scope: str | None, found: "EntityGraph", depth: int) -> dict[str, Any]:
    """Return the attributes of the graph; scalars only, because GraphML allows no others."""
    about: dict[str, Any] = {"tenant": tenant, "scope": scope or f"agent:{agent}", "cut": found.cut}
    return about if found.entity is None else about | {"entity": found.entity, "depth": depth}


def _write(found: "EntityGraph", form: Format, output: Path | None) -> None:
    if form == "text" and output is None:
        _print_text(found, console())
        return
    content = _as_json(found) if form == "json" else _as_graphml(found)
    if output is None:
        typer.echo(content)
        return
    if form == "text":
        with output.open("w", encoding="utf-8") as file:
            _print_text(found, Console(file=file, markup=False, highlight=False, emoji=False, width=PIPE_WIDTH))
    else:
        output.write_text(content + "\n", encoding="utf-8")
    console().print(f"{output}: {_size(found)}.", soft_wrap=True)


def _size(found: "EntityGraph") -> str:
    entities = sum(kind == "entity" for _, kind in found.graph.nodes(data="kind"))
    relations = sum("memory" in edge and "since" in edge for *_, edge in found.graph.edges(data=True))
    return f"{pluralize(entities, 'entity', 'entities')}, {pluralize(relations, 'relation')}"


def _as_json(found: "EntityGraph") -> str:
    import networkx as nx

    return json_text(nx.node_link_data(found.graph, edges="edges"), indent=2)


def _as_graphml(found: "EntityGraph") -> str:
    """Return the graph in GraphML, with characters that XML forbids replaced."""
    import networkx as nx

    clean = nx.relabel_nodes(found.graph, {node: _for_xml(node) for node in found.graph})
    for attributes in (
        clean.graph,
        *(of for _, of in clean.nodes(data=True)),
        *(of for *_, of in clean.edges(data=True)),
    ):
        attributes.update({name: _for_xml(value) for name, value in attributes.items()})
    written = BytesIO()
    nx.write_graphml(clean, written)
    return written.getvalue().decode().translate(XML_ESCAPED)


def _for_xml(value: Any) -> Any:
    return _NOT_XML.sub("\ufffd", value) if isinstance(value, str) else value


def _print_text(found: "EntityGraph", out: Console) -> None:
    if found.graph.number_of_nodes() == 0:
        out.print("There are no relations yet.")
    elif found.entity is None:
        _print_entities(found, out)
    else:
        _print_relations(found, out)
    _print_links(found, out)


def _print_entities(found: "EntityGraph", out: Console) -> None:
    """Print one row per entity: name, type, number of relations, and its most frequent neighbours."""
    rows: list[tuple[str, ...]] = [_head("entity", "type", "relations", "related most to")]
    for key, node in _entities(found):
        near = Counter(other for pair in _neighbours(found, key) for other in pair if other != key)
        names = ", ".join(found.graph.nodes[other]["name"] for other, _ in near.most_common(NEAREST))
        rows.append((_name(node), node["type"], f"{node['relations']:,}", one_line(names, LONGEST_NAME)))
    print_rows(out, rows)


def _neighbours(found: "EntityGraph", key: str) -> list[tuple[str, str]]:
    both = (*found.graph.out_edges(key), *found.graph.in_edges(key))
    return [pair for pair in both if all(found.graph.nodes[end]["kind"] == "entity" for end in pair)]


def _entities(found: "EntityGraph") -> list[tuple[str, dict[str, Any]]]:
    entities = [(key, node) for key, node in found.graph.nodes(data=True) if node["kind"] == "entity"]
    return sorted(entities, key=lambda entity: (-entity[1]["relations"], entity[0]))


def _print_relations(found: "EntityGraph", out: Console) -> None:
    """Print one row per relation, nearest to the entity first: both ends, the start date, and the source memory."""
    nodes = found.graph.nodes
    node = nodes[found.entity]
    out.print(styled(f"{_name(node)} · {node['type']} · {_size(found)}", "bold"), soft_wrap=True)
    stated: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for source, target, edge in found.graph.edges(data=True):
        if nodes[source]["kind"] == "entity":
            stated.setdefault((source, edge["predicate"], target), []).append(edge)
    rows: list[tuple[str, ...]] = [_head("entity", "relation", "entity", "since", "memory")]
    for source, predicate, target in sorted(stated, key=lambda ends: _distance(found, ends)):
        edges = sorted(stated[source, predicate, target], key=lambda edge: edge["since"])
        memory = edges[0]["memory"] + (f" and {len(edges) - 1:,} more" if len(edges) > 1 else "")
        rows.append((_name(nodes[source]), predicate, _name(nodes[target]), edges[0]["since"][:10], memory))
    print_rows(out, rows, indent=2)


def _distance(found: "EntityGraph", ends: tuple[str, str, str]) -> tuple[int, int, str, str, str]:
    source, predicate, target = ends
    hops = [found.graph.nodes[end]["hops"] for end in (source, target)]
    return (min(hops), max(hops), source, predicate, target)


def _print_links(found: "EntityGraph", out: Console) -> None:
    nodes = found.graph.nodes
    rows = [
        (source, edge["predicate"], target, f"{edge['confidence']:.2f}")
        for source, target, edge in found.graph.edges(data=True)
        if nodes[source]["kind"] == nodes[target]["kind"] == "memory"
    ]
    if rows:
        print_rows(out, [_head("memory", "link", "memory", "similarity"), *rows], indent=2)


def _head(*names: str) -> tuple[str, ...]:
    return tuple(styled(name, "dim") for name in names)


def _name(node: dict[str, Any]) -> str:
    return one_line(node["name"], LONGEST_NAME)
