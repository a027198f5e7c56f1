"""Names that mean the same: learned by flushes, changed by people, undone and forgotten."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from redis import Redis
from sqlalchemy import Engine, text

from slowwave.errors import InvalidMessage
from slowwave_server.services.aliases.editing import AliasEdit, CannotRename, add_alias, remove_alias
from slowwave_server.services.forget.target import Target
from slowwave_server.services.forget.transaction import Erased, erase
from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.reports.aliases import ListedAlias, list_aliases
from slowwave_server.services.undo.checks import CannotUndo
from slowwave_server.services.undo.undo import UndoReport, undo
from tests.support.flushing import Scene, make_scene
from tests.support.recalling import search

pytestmark = pytest.mark.servers

MAYA = ("agent", "maya")


class Named:
    """A scene, and what people do to its names."""

    def __init__(self, scene: Scene, reader: psycopg.Connection[Any]) -> None:
        self.scene = scene
        self.reader = reader

    def say(self, session: str, *lines: str, agent: str = "maya", **event: Any) -> None:
        self.scene.say(session, *lines, agent=agent, trigger="manual", **event)
        assert self.scene.flush(session, agent).outcome == "stored"

    def add(self, name: str, alias: str, by: str = "ann", tenant: str = "default") -> AliasEdit:
        return add_alias(self.scene.engine, tenant, MAYA, name, alias, by=by, now=self.scene.clock())

    def remove(self, name: str, alias: str | None = None) -> AliasEdit:
        return remove_alias(self.scene.engine, "default", MAYA, name, alias, by="ann", now=self.scene.clock())

    def undo(self, edit: AliasEdit) -> UndoReport:
        return undo(self.scene.engine, "default", edit.run, by="ann", now=self.scene.clock())

    def forget(self, target: Target) -> Erased:
        return erase(self.scene.engine, target, clock=self.scene.clock, by="ann", dry_run=False)

    def listed(self, name: str | None = None, **options: Any) -> list[ListedAlias]:
        with self.scene.engine.connect() as connection:
            return list_aliases(connection, "default", MAYA, name=name, **options)

    def pairs(self, name: str | None = None, **options: Any) -> list[tuple[str, str, str]]:
        return [(one.name, one.alias, one.status) for one in self.listed(name, **options)]

    def finds(self, question: str, agent: str = "maya") -> list[str]:
        return [hit.content for hit in search(self.reader, "default", agent, question)]

    def count(self, table: str) -> int:
        with self.scene.engine.connect() as connection:
            return int(connection.execute(text(f"SELECT count(*) FROM slowwave.{table}")).scalar_one())


@pytest.fixture
def named(database_url: str, engine: Engine, redis_client: Redis) -> Iterator[Named]:
    scene = make_scene(engine, redis_client)
    with psycopg.connect(database_url, autocommit=True) as connection:
        yield Named(scene, connection)


UPGRADE = "The Kubernetes upgrade is done."


def test_alias_says_where_it_comes_from(named: Named) -> None:
    named.say("monday", "Hello there.", "Our platform is Kubernetes (k8s).")
    named.say("tuesday", "k8s is short for Kubernetes.")
    (one,) = named.listed()
    assert (one.name, one.alias, one.status, one.decided_by, one.source_count) == (
        "Kubernetes",
        "k8s",
        "learned",
        None,
        2,
    )
    assert [(s.agent, s.session, s.seq) for s in one.sources] == [("maya", "monday", 2), ("maya", "tuesday", 1)]
    assert one.sources[0].content == "Our platform is Kubernetes (k8s)."


def test_speaker_of_an_event_is_called_otherwise(named: Named) -> None:
    named.say("monday", "Call me Bob.", name="Robert Miller")
    named.say("tuesday", "Robert Miller likes green tea.")
    assert "Robert Miller likes green tea." in named.finds("What does Bob drink?")


def test_window_that_is_committed_twice_teaches_once(named: Named) -> None:
    named.say("monday", "Kubernetes (k8s) is down.")
    named.say("monday", "Kubernetes (k8s) is up.")
    assert named.pairs() == [("Kubernetes", "k8s", "learned")]
    assert named.count("alias_sources") == 2


def test_added_alias_is_searched_with_and_undone(named: Named) -> None:
    named.say("monday", UPGRADE)
    assert named.finds("kates") == []
    edit = named.add("Kubernetes", "kates")
    assert edit.pairs == (("Kubernetes", "kates"),)
    assert UPGRADE in named.finds("kates")
    (one,) = named.listed()
    assert (one.status, one.decided_by, one.sources) == ("added", "ann", ())
    report = named.undo(edit)
    assert report.aliases == 1
    assert report.summary == f"run {edit.run} undone: 1 alias as before"
    assert named.finds("kates") == []
    assert named.pairs(removed=True) == []


def test_removed_alias_is_not_learned_again(named: Named) -> None:
    named.say("monday", "Kubernetes (k8s) is our platform.")
    named.say("tuesday", UPGRADE)
    assert UPGRADE in named.finds("k8s")
    named.remove("Kubernetes", "k8s")
    assert UPGRADE not in named.finds("k8s")
    named.say("monday", "Kubernetes (k8s) is our platform.")
    named.say("wednesday", "k8s is short for Kubernetes.")
    assert UPGRADE not in named.finds("k8s")
    assert named.pairs() == []
    assert named.pairs(removed=True) == [("Kubernetes", "k8s", "removed")]


def test_removed_alias_is_not_learned_the_other_way_round(named: Named) -> None:
    named.say("monday", "Falcon was renamed to Osprey.")
    named.remove("Falcon", "Osprey")
    named.say("tuesday", "Osprey was renamed to Falcon.")
    assert named.pairs() == []
    assert {status for *_, status in named.pairs(removed=True)} == {"removed"}


def test_undo_of_a_removal_restores_the_alias(named: Named) -> None:
    named.say("monday", "Kubernetes (k8s) is our platform.")
    named.say("tuesday", UPGRADE)
    edit = named.remove("k8s")
    assert named.undo(edit).aliases == 1
    assert UPGRADE in named.finds("k8s")
    (one,) = named.listed()
    assert (one.status, one.decided_by, one.decided_at) == ("learned", None, None)


def test_undo_of_an_addition_keeps_what_was_said_since(named: Named) -> None:
    named.say("monday", UPGRADE)
    edit = named.add("Kubernetes", "k8s")
    named.say("tuesday", "Kubernetes (k8s) is our platform.")
    assert named.pairs() == [("Kubernetes", "k8s", "added")]
    named.undo(edit)
    assert named.pairs() == [("Kubernetes", "k8s", "learned")]


def test_undo_refuses_what_a_later_run_changed(named: Named) -> None:
    named.say("monday", UPGRADE)
    added = named.add("Kubernetes", "k8s")
    removed = named.remove("Kubernetes", "k8s")
    with pytest.raises(CannotUndo, match=f"run {removed.run} later changed the alias 'k8s' of 'Kubernetes'"):
        named.undo(added)
    named.undo(removed)
    named.undo(added)
    assert named.pairs(removed=True) == []


def test_person_can_add_again_what_was_removed(named: Named) -> None:
    named.say("monday", "Kubernetes (k8s) is our platform.")
    named.remove("Kubernetes", "k8s")
    named.add("Kubernetes", "k8s")
    assert named.pairs() == [("Kubernetes", "k8s", "added")]


def test_edit_that_changes_nothing_is_refused(named: Named) -> None:
    named.say("monday", "Kubernetes (k8s) is our platform.")
    with pytest.raises(CannotRename, match="'K8S' is an alias of 'kubernetes' already"):
        named.add("kubernetes", "K8S")
    with pytest.raises(CannotRename):
        named.add("k8s", "Kubernetes")
    with pytest.raises(InvalidMessage, match="two names, got 'Bob' twice"):
        named.add("Bob", "Bob")
    with pytest.raises(InvalidMessage, match="alias must have letters or digits, got '!!'"):
        named.add("Bob", "!!")
    with pytest.raises(InvalidMessage, match="at most 80 characters, got 100"):
        named.add("Bob", "x" * 100)
    with pytest.raises(UnknownName, match="no pair of the names 'Bob' and 'Rob'"):
        named.remove("Bob", "Rob")
    with pytest.raises(UnknownName):
        named.add("Bob", "Rob", tenant="other")
    assert named.count("maintenance_runs") == 0


def test_groups_merge_by_one_alias(named: Named) -> None:
    named.say("monday", "Kubernetes (k8s) is our platform.", "kube, also known as Kubus, is fine.")
    named.add("kube", "kubes")
    named.add("Kubernetes", "kube")
    named.say("tuesday", UPGRADE)
    assert UPGRADE in named.finds("kubes")
    assert {alias for _, alias, _ in named.pairs("k8s")} >= {"k8s", "kube", "kubes"}


def test_list_of_one_name_leaves_others_out(named: Named) -> None:
    named.say("monday", "Kubernetes (k8s) is up.", "GitHub Actions (GHA) is down.")
    assert named.pairs("gha") == [("GitHub Actions", "GHA", "learned")]
    assert len(named.pairs()) == 2


def test_forgotten_event_takes_its_alias_along(named: Named) -> None:
    named.say("monday", "Kubernetes (k8s) is our platform.")
    named.say("tuesday", UPGRADE)
    done = named.forget(Target.of_session("default", "maya", "monday"))
    assert done.counts["aliases"] == 1
    assert named.count("aliases") == named.count("alias_sources") == 0
    assert UPGRADE not in named.finds("k8s")


def test_alias_of_two_sessions_stays_with_the_other(named: Named) -> None:
    named.say("monday", "Kubernetes (k8s) is our platform.")
    named.say("tuesday", "k8s is short for Kubernetes.")
    named.forget(Target.of_session("default", "maya", "monday"))
    (one,) = named.listed()
    assert [source.session for source in one.sources] == ["tuesday"]


def test_forgotten_event_takes_the_removal_along(named: Named) -> None:
    named.say("monday", "Kubernetes (k8s) is our platform.")
    edit = named.remove("k8s")
    named.forget(Target.of_session("default", "maya", "monday"))
    assert named.count("aliases") == named.count("alias_changes") == 0
    with pytest.raises(CannotUndo):
        named.undo(edit)


def test_what_a_person_wrote_outlives_its_events(named: Named) -> None:
    named.say("monday", UPGRADE)
    named.add("Kubernetes", "k8s")
    named.say("tuesday", "Kubernetes (k8s) is our platform.")
    named.forget(Target.of_session("default", "maya", "tuesday"))
    assert named.pairs() == [("Kubernetes", "k8s", "added")]


def test_forgotten_agent_has_no_names(named: Named) -> None:
    named.say("monday", "Kubernetes (k8s) is our platform.")
    named.add("Kubernetes", "kates")
    named.remove("Kubernetes", "k8s")
    named.forget(Target.of_agent("default", "maya"))
    assert [named.count(table) for table in ("aliases", "alias_sources", "alias_changes")] == [0, 0, 0]


def test_i8_agents_know_their_own_names_alone(named: Named) -> None:
    named.say("monday", "Kubernetes (k8s) is our platform.", agent="otto")
    named.say("tuesday", UPGRADE)
    assert named.finds("k8s") == []
    assert named.pairs() == []
