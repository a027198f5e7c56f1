"""Relations are kept once, and shown as a graph of one scope of one tenant (I8), bounded, that others can read."""

import json
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import networkx as nx
import pytest
from sqlalchemy import Engine, delete, func, select, update
from typer.testing import Result

from slowwave_server.domain.similarity import read
from slowwave_server.domain.triples import Relation, triples
from slowwave_server.models import MaintenanceRun, Memory, MemoryLink, Triple
from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.memories.triples import store_triples
from slowwave_server.services.reports.graph import best_connected, neighbourhood
from slowwave_server.workers.cli.main import app
from tests.support.installation import NOW, Installation, ago
from tests.support.shelling import CliRunner

pytestmark = pytest.mark.servers

FILM = "Lord of the\x0bFlies"


class Related(Installation):
    """What Maya's concierge knows of her circle; a room and another tenant know of people of the same names."""

    def __init__(self, engine: Engine, database_url: str) -> None:
        super().__init__(engine)
        self.url = database_url
        self.agent("concierge")
        self.agent("concierge", tenant="other")
        self.own = self.scope("concierge")
        self.room = self.scope("lobby", kind="room")
        self.foreign = self.scope("concierge", tenant="other")
        self.run = int(self._insert(MaintenanceRun, kind="working", scope_id=self.own, started_at=NOW))
        self.job = self.keep(self.own, "Maya works at Initech", valid_from=ago(86_400))
        self.manages = self.keep(self.own, "Maya manages Jonas")
        self.again = self.keep(self.own, "Maya manages Jonas.", type="event")
        self.home = self.keep(self.own, "Jonas lives in Porto")
        self.keep(self.room, "Maya manages Priya")
        self.keep(self.foreign, "Maya manages Oleg")

    def keep(self, scope_id: int, content: str, **columns: Any) -> UUID:
        memory = self.memory(scope_id, content, [], status="active", **columns)
        assert self.store(scope_id, memory, triples(read(content))) > 0
        return memory

    def store(self, scope_id: int, memory: UUID, relations: tuple[Relation, ...]) -> int:
        with self.engine.begin() as connection:
            return store_triples(connection, scope_id, {memory: relations}, run_id=self.run, now=NOW)

    def around(self, entity: str, **options: Any) -> Any:
        with self.engine.connect() as connection:
            return neighbourhood(connection, "default", "concierge", entity, **options)

    def best(self, **options: Any) -> Any:
        with self.engine.connect() as connection:
            return best_connected(connection, "default", "concierge", **options)

    def alter(self, memory: UUID, **columns: Any) -> None:
        with self.engine.begin() as connection:
            connection.execute(update(Memory).where(Memory.id == memory).values(**columns))

    def shell(self, *arguments: str) -> Result:
        return CliRunner().invoke(app, ["memory", "graph", *arguments], env={"SLOWWAVE_DATABASE_URL": self.url})


@pytest.fixture
def circle(engine: Engine, database_url: str) -> Related:
    return Related(engine, database_url)


def edges(graph: Any) -> set[tuple[str, str, str]]:
    return {(source, edge["predicate"], target) for source, target, edge in graph.edges(data=True)}


def test_mistake_23_the_same_relations_kept_twice_are_kept_once(circle: Related) -> None:
    relation = triples(read("Maya manages Jonas"))
    assert circle.store(circle.own, circle.manages, relation) == 0
    with circle.engine.connect() as connection:
        kept = connection.execute(select(func.count()).where(Triple.memory_id == circle.manages)).scalar()
    assert kept == 1


def test_a_relation_says_where_it_comes_from(circle: Related) -> None:
    with circle.engine.connect() as connection:
        columns = (Triple.scope_id, Triple.run_id, Triple.extractor, Triple.subject, Triple.object_type)
        row = connection.execute(select(*columns).where(Triple.memory_id == circle.home)).one()
    assert tuple(row) == (circle.own, circle.run, "rules 1", "Jonas", "place")


def test_i8_nothing_is_kept_for_a_memory_of_another_scope(circle: Related) -> None:
    assert circle.store(circle.room, circle.job, (Relation("Maya", "person", "owns", "Rex", "thing", 0.9),)) == 0
    assert circle.store(circle.own, uuid4(), (Relation("Maya", "person", "owns", "Rex", "thing", 0.9),)) == 0


def test_a_neighbourhood_ends_after_so_many_steps(circle: Related) -> None:
    near = circle.around("MAYA")
    assert edges(near.graph) == {("maya", "works at", "initech"), ("maya", "manages", "jonas")}
    far = circle.around("initech", depth=3)
    assert edges(far.graph) == edges(near.graph) | {("jonas", "lives in", "porto")}
    assert far.graph.nodes["porto"] == {"kind": "entity", "name": "Porto", "type": "place", "relations": 1, "hops": 3}
    assert not far.cut


def test_no_step_leads_through_a_number_or_a_date(circle: Related) -> None:
    circle.keep(circle.own, "Jonas has two children")
    circle.keep(circle.own, "Oleg has two children")
    assert "oleg" not in circle.around("Jonas", depth=3).graph
    assert "oleg" in circle.around("two").graph


def test_an_edge_names_its_memory_and_since_when_it_holds(circle: Related) -> None:
    (edge,) = circle.around("Initech").graph.get_edge_data("maya", "initech").values()
    assert edge["memory"] == str(circle.job)
    assert edge["since"] == ago(86_400).isoformat()
    assert 0 < edge["confidence"] <= 1


def test_i8_a_graph_is_of_one_scope_and_one_tenant(circle: Related) -> None:
    assert set(circle.around("Maya", depth=6).graph) == {"maya", "initech", "jonas", "porto"}
    assert set(circle.around("Maya", scope=("room", "lobby")).graph) == {"maya", "priya"}
    assert set(circle.best().graph) == {"maya", "initech", "jonas", "porto"}
    assert set(circle.best(scope=("team", "lobby")).graph) == set()
    with pytest.raises(UnknownName):
        circle.around("Oleg")


def test_what_is_archived_superseded_or_waits_for_review_takes_no_part(circle: Related) -> None:
    circle.alter(circle.job, status="archived")
    circle.alter(circle.home, status="review")
    circle.alter(circle.again, valid_to=NOW)
    assert edges(circle.best().graph) == {("maya", "manages", "jonas")}
    assert circle.best().graph.nodes["maya"]["relations"] == 1


def test_the_best_connected_come_first_and_the_rest_is_said_to_be_cut(circle: Related) -> None:
    found = circle.best(max_nodes=2)
    assert (set(found.graph), found.cut) == ({"maya", "jonas"}, True)
    assert found.graph.nodes["maya"]["relations"] == 3
    assert found.graph.number_of_edges("maya", "jonas") == 2


def test_a_neighbourhood_is_bounded_and_says_when_it_cut(circle: Related) -> None:
    for number in range(40):
        circle.keep(circle.own, f"Maya visited Ruritania{number}")
    found = circle.around("Maya", max_nodes=10, depth=2)
    assert (found.graph.number_of_nodes(), found.cut) == (10, True)
    assert circle.around("Maya", max_nodes=100, depth=2).cut is False


def test_an_unknown_entity_names_the_nearest(circle: Related) -> None:
    with pytest.raises(UnknownName, match="did you mean 'Jonas'"):
        circle.around("Jonsa")
    result = circle.shell("concierge", "Jonsa")
    assert result.exit_code == 1
    assert "did you mean 'Jonas'" in result.stderr


def test_links_add_the_memories_and_what_joins_them(circle: Related) -> None:
    circle._insert(
        MemoryLink,
        source_id=circle.home,
        target_id=circle.manages,
        predicate="related_to",
        confidence=0.75,
        created_at=NOW,
    )
    assert str(circle.home) not in circle.around("Jonas").graph
    graph = circle.around("Jonas", links=True).graph
    (link,) = graph.get_edge_data(str(circle.home), str(circle.manages)).values()
    assert (link["predicate"], link["confidence"]) == ("related_to", 0.75)
    assert graph.nodes[str(circle.home)]["name"] == "Jonas lives in Porto"
    assert (str(circle.home), "speaks_of", "porto") in edges(graph)
    shown = circle.shell("concierge", "Jonas", "--links").stdout
    assert f"{circle.home}  related_to  {circle.manages}  0.75" in shown


def test_text_shows_who_is_related_to_whom_since_when_and_by_which_memory(circle: Related) -> None:
    lines = circle.shell("concierge", "Maya", "--depth", "2").stdout.splitlines()
    assert lines[0] == "Maya · person · 4 entities, 4 relations"
    assert [line.split() for line in lines[2:]] == [
        ["Maya", "manages", "Jonas", f"{ago(100):%Y-%m-%d}", str(circle.manages), "and", "1", "more"],
        ["Maya", "works", "at", "Initech", f"{ago(86_400):%Y-%m-%d}", str(circle.job)],
        ["Jonas", "lives", "in", "Porto", f"{ago(100):%Y-%m-%d}", str(circle.home)],
    ]


def test_without_an_entity_the_best_connected_are_listed(circle: Related) -> None:
    lines = circle.shell("concierge", "--limit", "3").stdout.splitlines()
    assert lines[0].split() == ["entity", "type", "relations", "related", "most", "to"]
    assert [line.split() for line in lines[1:]] == [
        ["Jonas", "person", "3", "Maya"],
        ["Maya", "person", "3", "Jonas,", "Initech"],
        ["Initech", "organisation", "1", "Maya"],
    ]


def test_json_loads_again_as_the_same_graph(circle: Related) -> None:
    document = json.loads(circle.shell("concierge", "Maya", "--json").stdout)
    graph = nx.node_link_graph(document, edges="edges")
    assert edges(graph) == edges(circle.around("Maya").graph)
    assert graph.graph == {"tenant": "default", "scope": "agent:concierge", "cut": False, "entity": "maya", "depth": 1}


def test_graphml_loads_again_whatever_was_said(circle: Related, tmp_path: Path) -> None:
    circle.store(circle.own, circle.job, (Relation("Maya", "person", "watched", FILM, "thing", 0.7),))
    file = tmp_path / "circle.graphml"
    result = circle.shell("concierge", "Maya", "--format", "graphml", "--output", str(file), "--depth", "6", "--links")
    assert result.stdout == f"{file}: 5 entities, 5 relations.\n"
    graph = nx.read_graphml(file)
    assert {node for node in graph if graph.nodes[node]["kind"] == "entity"} == {
        "maya", "initech", "jonas", "porto", "lord of the\ufffdflies",
    }  # fmt: skip
    assert ("jonas", "lives in", "porto") in edges(graph)
    assert "\\x0b" in circle.shell("concierge", "Maya").stdout
    assert (
        nx.read_graphml(_saved(tmp_path, circle.shell("concierge", "--format", "graphml").stdout)).number_of_nodes()
        == 5
    )


def _saved(folder: Path, content: str) -> Path:
    path = folder / "printed.graphml"
    path.write_text(content, encoding="utf-8")
    return path


def test_an_empty_scope_is_a_sentence_and_an_empty_document(circle: Related) -> None:
    with circle.engine.begin() as connection:
        connection.execute(delete(Triple))
    assert circle.shell("concierge").stdout == "There are no relations yet.\n"
    assert json.loads(circle.shell("concierge", "--json").stdout)["nodes"] == []


def test_a_file_that_cannot_be_written_is_exit_2(circle: Related, tmp_path: Path) -> None:
    result = circle.shell("concierge", "--json", "--output", str(tmp_path / "no" / "file.json"))
    assert result.exit_code == 2
    assert "Traceback" not in result.output
