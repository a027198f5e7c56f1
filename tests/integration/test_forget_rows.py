"""Forgetting in Postgres: what goes, what stays, and that nothing dangles (I10, mistakes 38 and 40)."""

import pytest
from sqlalchemy import Engine, text

from slowwave_server.models import Base
from slowwave_server.services.consolidation.neighbours import load
from slowwave_server.services.consolidation.synthesis import Pair, keep
from slowwave_server.services.forget.evidence import REASON
from slowwave_server.services.forget.plan import LEFT, TAKEN
from slowwave_server.services.forget.target import Target
from slowwave_server.services.forget.transaction import Erased, erase
from slowwave_server.services.undo.undo import undo
from tests.support.flushing import Clock
from tests.support.forgetting import dump_tables
from tests.support.passing import Past, day

pytestmark = pytest.mark.servers


def forget(engine: Engine, target: Target, *, dry_run: bool = False) -> Erased:
    return erase(engine, target, clock=Clock(), by="test", dry_run=dry_run)


def count(engine: Engine, table: str) -> int:
    with engine.connect() as connection:
        return int(connection.execute(text(f"SELECT count(*) FROM slowwave.{table}")).scalar_one())


def test_mistake_40_every_table_is_known_to_forget() -> None:
    tables = {table.name for table in Base.metadata.tables.values()}
    assert tables == TAKEN | set(LEFT)
    assert not TAKEN & set(LEFT)


def test_an_agent_with_all_that_hangs_on_it(engine: Engine) -> None:
    past = Past(engine, agent="maya")
    a, b, c = past.say("Maya likes tea"), past.say("Maya loves tea", session="tuesday"), past.say("Maya is in Rome")
    d = past.say("Maya is in Oslo", at=day(3))
    with past.run("light", at=day(4)) as step:
        step.merge(b, a)
        step.supersede(c, d, day(3))
        step.conflict(d, c)
        step.ask(memory=a)
        step.triple(d, "Maya", "lives in", "Oslo")
    item = past.note("Maya has a cat")
    with past.run("working", at=day(5)) as step:
        step.keep(item, "Maya has a cat")
    preview = forget(engine, Target.of_agent("default", "maya"), dry_run=True)
    assert count(engine, "memories") == 5
    done = forget(engine, Target.of_agent("default", "maya"))
    assert done.counts == preview.counts
    assert {table: count(engine, table) for table in sorted(TAKEN) if count(engine, table)} == {}


def test_a_session_takes_what_it_alone_said(engine: Engine) -> None:
    past = Past(engine, agent="maya")
    a, b = past.say("Maya likes tea"), past.say("Maya likes green tea", session="tuesday")
    both = past.say("Maya has a cat")
    past.say("Maya has a cat", session="tuesday", at=day(1))
    with past.run("light", at=day(4)) as step:
        step.merge(b, a)
    run = step.id
    forget(engine, Target.of_session("default", "maya", "monday"))
    assert past.row(a) is None
    assert past.row(b)["status"] == "inbox"
    assert past.row(b)["merged_into"] is None
    assert past.row(both)["confidence"] == pytest.approx(0.6)
    assert count(engine, "memories") == 2
    with engine.connect() as connection:
        rest = connection.execute(
            text("SELECT action, reason FROM slowwave.memory_changes WHERE run_id = :r"), {"r": run}
        ).all()
    assert {row.action for row in rest} == {"merged", "forgotten"}


def test_i6_what_stays_tells_what_a_forget_made_of_it(engine: Engine) -> None:
    past = Past(engine, agent="maya")
    a, b = past.say("Maya likes tea", session="tuesday"), past.say("Maya likes green tea")
    rome, oslo = past.say("Maya is in Rome", session="tuesday"), past.say("Maya is in Oslo", at=day(3))
    bergen = past.say("Maya is in Bergen", session="tuesday", at=day(4))
    with past.run("light", at=day(5)) as step:
        step.merge(a, b)
        step.supersede(rome, oslo, day(3))
        step.supersede(oslo, bergen, day(4))
    forget(engine, Target.of_session("default", "maya", "monday"))
    with engine.connect() as connection:
        rows = connection.execute(
            text("SELECT memory_id, action, before, after FROM slowwave.memory_changes WHERE reason = :reason"
                 " AND run_id IS NULL"), {"reason": REASON}
        ).all()  # fmt: skip
    until = {
        number: {"valid_to": day(number).isoformat(), "superseded_by": str(by)}
        for number, by in ((3, oslo), (4, bergen))
    }
    assert {row.memory_id: (row.action, row.before, row.after) for row in rows} == {
        a: (
            "unmerged",
            {"status": "archived", "archive_reason": "merged", "merged_into": str(b)},
            {"status": "inbox", "archive_reason": None, "merged_into": None},
        ),
        rome: ("holding", until[3], until[4]),
    }


def test_i10_summaries_that_were_read_from_files_go_with_the_sessions_that_they_tell_of(engine: Engine) -> None:
    past = Past(engine, agent="maya")
    past.say("Maya likes tea")
    with engine.begin() as connection:
        for number, session in ((10, "monday"), (11, "sunday")):
            connection.execute(
                text(
                    "INSERT INTO slowwave.day_summaries (agent_id, scope_id, day, version, final, messages, segments,"
                    " text, lines, made_by, summarizer) VALUES (:agent, :scope, CAST(:day AS date), 1, true, 3, 1,"
                    " :said, jsonb_build_array(jsonb_build_object('session', CAST(:session AS text))), 'import', 'x/1')"
                ),
                {
                    "agent": past.agent_id,
                    "scope": past.scope_id,
                    "day": f"2024-04-{number}",
                    "said": f"Told on {session}",
                    "session": session,
                },
            )
    forget(engine, Target.of_session("default", "maya", "monday"))
    assert "Told on monday" not in dump_tables(engine)["day_summaries"]
    assert "Told on sunday" in dump_tables(engine)["day_summaries"]


@pytest.mark.parametrize("session", ["monday", "tuesday"])
def test_i10_a_run_that_was_undone_tells_no_words_of_what_is_gone(engine: Engine, session: str) -> None:
    past = Past(engine, agent="maya")
    words = {"monday": "Maya keeps a heron", "tuesday": "Maya keeps a quokka"}
    a, b = (past.say(said, session=name) for name, said in words.items())
    with past.run("deep", at=day(4)) as step:
        known = load(step.connection, past.scope_id, [a, b])
        pair = Pair(known[a], known[b], 0.8)
        keep(step.ledger, pair, "Maya keeps a heron and a quokka", model="model fake")
    undo(engine, "default", step.id, by="priya", now=day(5))
    forget(engine, Target.of_session("default", "maya", session))
    found = "".join(dump_tables(engine).values())
    assert words[session].rsplit(" ", 1)[-1] not in found
    (other,) = set(words) - {session}
    assert words[other] in found
