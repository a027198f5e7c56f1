"""What a key reaches: patterns mean the same in Python and in SQL, and reports leave out everything else (I8)."""

from collections.abc import Callable
from fnmatch import fnmatchcase
from itertools import product
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection, Engine, select

from slowwave_server.models import Scope
from slowwave_server.services.access.reach import Reach, matches
from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.reports.agents import list_agents
from slowwave_server.services.reports.memories import list_memories
from slowwave_server.services.reports.records import as_records, read_record
from slowwave_server.services.reports.review import Asked, list_questions, read_question
from slowwave_server.services.reports.run_list import list_runs
from slowwave_server.services.reports.runs import read_run
from tests.support.installation import Installation
from tests.support.reviewing import Dispute

words = st.text("ab*", max_size=6)


@given(st.text("ab", max_size=6), words)
def test_a_star_stands_for_any_characters(name: str, pattern: str) -> None:
    assert matches(name, pattern) == fnmatchcase(name, pattern)


@pytest.mark.parametrize("name", ["a[b]", "a?", "a.b", "a\nb"])
def test_nothing_but_the_star_is_special_in_a_pattern(name: str) -> None:
    assert matches(name, name)
    assert matches(name, "a*")
    assert not matches("ab", name)


@given(st.lists(words.filter(bool), max_size=3), st.lists(words.filter(bool), max_size=3), st.text("ab", max_size=5))
def test_what_a_reach_covers_lies_within_it(mine: list[str], asked: list[str], name: str) -> None:
    wide, narrow = Reach(agents=tuple(mine)), Reach(agents=tuple(asked))
    if wide.covers(narrow) and narrow.admits_agent(name):
        assert wide.admits_agent(name)


def test_a_reach_without_agents_covers_all_and_only_it_covers_them() -> None:
    assert Reach().covers(Reach(agents=("atlas",)))
    assert not Reach(agents=("atlas",)).covers(Reach())
    assert not Reach().covers(Reach(scopes=("room:kitchen",)))
    assert Reach(scopes=("room:*",)).covers(Reach(scopes=("room:k*",)))
    assert [one.is_all for one in (Reach(), Reach(scopes=("*",)), Reach(("a",), ("*",)))] == [False, True, False]
    assert Reach(scopes=("room:*", "team:*")).is_all


REACHES = [
    Reach(),
    Reach(agents=("atlas",)),
    Reach(agents=("at*", "50%_off")),
    Reach(agents=("a_las", "a%")),
    Reach(agents=("atlas",), scopes=("room:k*",)),
    Reach(scopes=("*",)),
    Reach(agents=("nobody",), scopes=("team:kitchen", "room:50%*")),
]
NAMES = ["atlas", "atlantis", "a_las", "50%_off", "kitchen", "50%\\x"]


@pytest.mark.servers
def test_a_reach_means_the_same_in_python_and_sql(engine: Engine) -> None:
    made = Installation(engine)
    for kind, name in product(("agent", "room", "team"), NAMES):
        made.scope(name, kind=kind)
    for reach in REACHES:
        with engine.connect() as connection:
            found = connection.execute(select(Scope.kind, Scope.name).where(reach.scopes_condition())).all()
        expected = {
            (kind, name) for kind, name in product(("agent", "room", "team"), NAMES) if reach.admits(kind, name)
        }
        assert {(row.kind, row.name) for row in found} == expected, reach


@pytest.mark.servers
def test_i8_reports_show_nothing_that_is_out_of_reach(engine: Engine) -> None:
    dispute = Dispute(engine)
    acme, globex = dispute.memory("Maya works at Acme.", days=9), dispute.memory("Maya works at Globex.", days=2)
    _, item = dispute.conflict(globex, acme)
    scope = dispute.sql("SELECT k.kind, k.name FROM slowwave.scopes k JOIN slowwave.memories m ON m.scope_id = k.id")[0]
    run = dispute.sql("SELECT max(id) AS id FROM slowwave.maintenance_runs")[0].id
    mine, others = Reach(agents=(scope.name,)), Reach(agents=("somebody-else",))
    with engine.connect() as connection:
        assert read_record(connection, "default", acme, mine).scope == f"{scope.kind}:{scope.name}"
        assert [one.id for one in list_questions(connection, "default", Asked(reach=mine))] == [item]
        assert read_question(connection, "default", item, reach=mine).question.id == item
        assert run in [one.id for one in list_runs(connection, "default", reach=mine)]
        assert read_run(connection, "default", run, reach=mine).run.id == run
        assert list_questions(connection, "default", Asked(reach=others)) == []
        assert list_runs(connection, "default", reach=others) == []
        assert list_agents(connection, "default", reach=others) == []
        for what, name in (("memory", acme), ("question", item), ("run", run)):
            hidden = _told(READS[what], connection, name, others)
            assert hidden == _told(READS[what], connection, _unknown(name), others)


@pytest.mark.servers
def test_records_of_another_time_hide_what_came_later(engine: Engine) -> None:
    dispute = Dispute(engine)
    memory = dispute.memory("Maya works at Acme.")
    agent = dispute.sql("SELECT name FROM slowwave.agents")[0].name
    with engine.connect() as connection:
        listed = list_memories(connection, "default", agent)
        (now,) = as_records(connection, "default", f"agent:{agent}", listed, then=False)
        (then,) = as_records(connection, "default", f"agent:{agent}", listed, then=True)
    assert (now.id, now.revision, then.id, then.revision) == (memory, 0, memory, None)
    assert now.scope == then.scope == f"agent:{agent}"
    assert now.sources == then.sources


Read = Callable[[Connection, Any, Reach], object]
READS: dict[str, Read] = {
    "memory": lambda connection, name, reach: read_record(connection, "default", name, reach),
    "question": lambda connection, name, reach: read_question(connection, "default", name, reach=reach),
    "run": lambda connection, name, reach: read_run(connection, "default", name, reach=reach),
}


def _told(read: Read, connection: Connection, name: UUID | int, reach: Reach) -> str:
    with pytest.raises(UnknownName) as refused:
        read(connection, name, reach)
    return str(refused.value).replace(str(name), "…")


def _unknown(name: UUID | int) -> UUID | int:
    return uuid4() if isinstance(name, UUID) else 987_654_321
