"""What holds whatever `memory.backend` is: one suite over Postgres, files, and the real mem0 over two vector stores."""

from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest

from slowwave.mem0_backend import Owner
from slowwave.settings import Days
from slowwave_server.domain.memory_files import scope_folder
from slowwave_server.services.forget.target import Target
from slowwave_server.services.memory_files.export import export_scope
from slowwave_server.services.memory_files.importing import Target as ImportTarget
from slowwave_server.services.memory_files.importing import import_scope
from slowwave_server.services.undo.undo import undo
from tests.support.backing import Down, World

pytestmark = pytest.mark.servers

TEA, PARSER, TURIN = "Maya drinks green tea", "The parser ships on Friday", "Jonas lives in Turin"


def fill(world: World, agent: str | None = None) -> dict[str, UUID]:
    heard = {content: world.agent(agent).hear(content, session="monday") for content in (TEA, PARSER, TURIN)}
    world.deliver(agent)
    return heard


def test_what_was_said_is_found_again_with_where_it_comes_from(world: World) -> None:
    heard = fill(world)
    assert world.held() == sorted(heard)
    asked = {TEA: "What tea does Maya drink?", PARSER: "When will the parser ship?", TURIN: "Does Jonas live in Turin?"}
    for place, (content, question) in enumerate(asked.items(), start=1):
        first = world.ask(question)[0]
        assert (first.content, first.id, first.status) == (content, str(heard[content]), "inbox")
        assert first.sources == (("monday", place),)
        assert first.valid_from == world.now() - timedelta(days=30)
        assert (first.scope, first.type) == (None, "fact")
    assert world.ask("   ") == []
    assert len(world.ask("Maya, the parser, Jonas", limit=1)) == 1


def test_new_words_a_later_value_and_an_archived_memory_follow(world: World) -> None:
    heard = fill(world)
    rome = world.agent().hear("Jonas lives in Rome", days_ago=2)
    world.change(heard[TURIN], superseded_by=rome, valid_to=world.now() - timedelta(days=2))
    world.change(heard[PARSER], status="archived", archive_reason="expired")
    world.change(heard[TEA], status="active")
    world.deliver()
    found = [hit.content for hit in world.ask("Where does Jonas live?")]
    assert found.index("Jonas lives in Rome") < found.index(TURIN)
    assert PARSER not in [hit.content for hit in world.ask("When does the parser ship?")]
    assert PARSER not in world.held()
    assert world.ask("What tea does Maya drink?")[0].status == "active"


def test_what_a_run_did_and_its_undo_follow(world: World) -> None:
    """I6."""
    heard = fill(world)
    run = world.change(heard[TEA], status="archived", archive_reason="expired")
    world.deliver()
    assert world.held() == sorted((PARSER, TURIN))
    undo(world.engine, "default", run, by="Priya", now=world.now())
    world.deliver()
    assert world.held() == sorted(heard)
    assert world.ask("What tea does Maya drink?")[0].id == str(heard[TEA])


def test_a_memory_in_review_shows_to_who_asks_for_it_alone(world: World) -> None:
    heard = fill(world)
    world.change(heard[TEA], status="review")
    world.deliver()
    assert TEA not in [hit.content for hit in world.ask("What tea does Maya drink?")]
    assert world.ask("What tea does Maya drink?", include_review=True)[0].status == "review"


def test_i8_scopes_are_walls_whatever_their_names(world: World) -> None:
    names = ["maya", "Maya", "maya*", "*", "maya maya", "agent:maya", "%6daya"]
    for number, name in enumerate(names):
        world.agent(name).hear(f"The secret number of this agent is {number}")
        world.deliver(name)
    for number, name in enumerate(names):
        (hit,) = world.ask("What is the secret number?", name)
        assert hit.content.endswith(f" {number}")
    scope_of_jonas = world.agent(world.other).scope_id
    world.agent(world.other).hear("The secret number of the kitchen is 7")
    world.agent().sql("UPDATE slowwave.scopes SET kind = 'room', name = 'maya' WHERE id = :id", id=scope_of_jonas)
    world.deliver(world.other)
    found = world.ask("What is the secret number?", "*", scopes=["room:maya"])
    assert {(hit.scope, hit.content[-1]) for hit in found} == {(None, "3"), ("room:maya", "7")}
    assert world.ask("What is the secret number?", tenant="*") == []


def test_i10_what_is_forgotten_is_gone_and_its_neighbour_stays(world: World) -> None:
    heard = fill(world)
    fill(world, world.other)
    report = world.forget(Target.of_agent("default", world.who))
    assert report.problems == ()
    assert report.counts.get("copies in mem0") == (3 if world.kind == "mem0" else None)
    assert world.ask("What tea does Maya drink?") == []
    assert world.held() == []
    world.deliver()
    assert world.held() == [], "no delivery brings it back"
    assert world.waiting() == 0
    assert world.held(world.other) == sorted(heard)


def test_a_delivery_made_twice_changes_nothing(fed: World) -> None:
    fill(fed)
    before = snapshot(fed)
    fed.agent().sql("UPDATE slowwave.outbox SET changes = changes + 1 WHERE scope_id = :s", s=fed.agent().scope_id)
    fed.deliver()
    assert snapshot(fed) == before
    assert fed.waiting() == 0


def snapshot(world: World) -> object:
    if world.kind == "file":
        return {str(path): path.read_bytes() for path in world.files().rglob("*.md")}
    return world.rows(Owner("default", "agent", world.who))


def test_a_backend_that_is_down_loses_nothing(fed: World) -> None:
    heard = fill(fed)
    late = fed.agent().hear("Priya plays the cello")
    fed.change(heard[TEA], status="archived", archive_reason="expired")
    root = fed.folder / "memory"
    if fed.kind == "file":
        root.rename(fed.folder / "aside")
        root.write_text("no folder")
    report = fed.deliver(store=Down())
    assert report is not None
    assert report.state == "failed"
    assert fed.waiting() == 2
    if fed.kind == "file":
        root.unlink()
        (fed.folder / "aside").rename(root)
    fed.deliver()
    assert fed.held() == sorted((PARSER, TURIN, "Priya plays the cello"))
    assert fed.ask("Who plays the cello?")[0].id == str(late)


def test_switching_back_and_forth_brings_it_up_to_date(fed: World) -> None:
    heard, kind = fill(fed), fed.kind
    fed.choose("postgres")
    fed.agent().hear("Priya plays the cello")
    fed.change(heard[TEA], status="archived", archive_reason="expired")
    assert fed.waiting() == 0, "nothing is kept for a backend that nobody feeds"
    assert fed.ask("Who plays the cello?")
    fed.choose(kind)
    fed.deliver()
    assert fed.held() == sorted((PARSER, TURIN, "Priya plays the cello"))


def test_i10_what_is_forgotten_while_another_backend_serves_is_gone_from_the_one_that_was_left(fed: World) -> None:
    heard, kind = fill(fed), fed.kind
    fed.choose("postgres")
    report = fed.forget(Target.of_memory("default", heard[TEA]))
    fed.kind = kind
    assert TEA not in fed.held()
    assert report.problems == ()


def test_what_is_exported_and_imported_elsewhere_is_found_there(world: World, tmp_path: Path) -> None:
    fill(world)
    out = tmp_path / "out"
    export_scope(world.engine, "default", "agent", world.who, out, append_only=True)
    world.agent(world.other)
    target, folder = ImportTarget("default", "agent", world.other), out / scope_folder("default", "agent", world.who)
    assert import_scope(world.engine, target, folder, days=Days(), by="Priya", now=world.now()).added == 3
    world.deliver(world.other)
    assert world.held(world.other) == sorted((TEA, PARSER, TURIN))
    assert world.ask("What tea does Maya drink?", world.other)[0].content == TEA
