"""Runs in the shell, as a person and as a script use them: listed, shown as a diff, undone; the lives of memories."""

from typing import Any

import pytest
from sqlalchemy import Engine, text

from slowwave.settings import Consolidation
from slowwave_server.services.consolidation.scope_lock import scope_lock
from slowwave_server.services.consolidation.scope_pass import Order, consolidate
from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.reports.run_list import list_runs
from slowwave_server.services.reports.runs import read_run
from slowwave_server.services.undo.undo import undo
from slowwave_server.services.working.consolidate import consolidate_working
from tests.support.consolidating import APART, merges_all
from tests.support.passing import Past, day, state
from tests.support.shelling import Shell

pytestmark = pytest.mark.servers

RULES = Consolidation(min_age_days=0)


@pytest.fixture
def shell(database_url: str) -> Shell:
    return Shell(database_url)


def test_runs_are_listed_shown_as_a_diff_and_undone(shell: Shell, past: Past) -> None:
    run, lisbon, home = past.merged()
    listed = shell("run", "list")
    assert listed.exit_code == 0
    assert f"{run}  2026-03-10 09:00:00 UTC  light  agent:concierge  by beat  completed  tested" in listed.stdout
    shown = shell("run", "show", str(run)).stdout
    assert "1 merged, 1 sourced, 1 promoted" in shown
    assert "status inbox → archived" in shown
    assert f"merged_into none → {lisbon}" in shown
    assert "because: the same (friday#1)" in shown
    story = shell.json("run", "show", str(run))
    assert [change["action"] for change in story["changes"]] == ["merged", "sourced", "promoted"]
    assert story["changes"][0]["before"] == {"status": "inbox", "archive_reason": None, "merged_into": None}
    assert story["added"] == {"links": 1}

    told = shell("run", "undo", str(run), "--by", "priya")
    assert told.exit_code == 0, told.output
    assert f"Run {run} undone: 2 memories as before." in told.stdout
    assert past.row(home)["merged_into"] is None
    (undone, before) = shell.json("run", "list", "--agent", "concierge")
    assert (undone["kind"], undone["undoes"], undone["by"]) == ("undo", run, "priya")
    assert (before["status"], before["undone_by"]) == ("undone", undone["id"])
    assert shell.json("run", "list", "--kind", "deep") == []
    assert f"undone by run {undone['id']}" in shell("run", "list", "--limit", "5").stdout


def test_a_refusal_is_one_sentence_and_exit_1(shell: Shell, past: Past) -> None:
    run, lisbon, _ = past.merged()
    with past.run("review", at=day(9), by="jonas") as later:
        later.set(lisbon, "edited", content="Maya lives in Lisbon, Portugal.")
    result = shell("run", "undo", str(run))
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"slowwave: run {run} can't be undone: run {later.id} (review by jonas, 2026-03-11")
    unknown = shell("run", "undo", "999")
    assert (unknown.exit_code, "has no run 999" in unknown.stderr) == (1, True)
    assert "give --agent or --scope" in shell("run", "list", "--agent", "a", "--scope", "room:b").stderr


def test_a_pass_that_is_at_the_scope_is_not_undone_under_its_hands(shell: Shell, past: Past) -> None:
    run, _, _ = past.merged()
    with scope_lock(past.engine, past.scope_id) as ours:
        assert ours
        result = shell("run", "undo", str(run))
    assert (result.exit_code, "try again after it" in result.stderr) == (1, True)
    assert shell("run", "undo", str(run)).exit_code == 0


def test_the_life_of_a_memory_is_told_with_all_it_touches(shell: Shell, past: Past) -> None:
    _, lisbon, home = past.merged()
    rome, cats = past.say("Maya lives in Rome.", session="sunday", at=day(0)), past.say("Maya's cat lives in Rome.")
    item = past.note("Maya lives in Lisbon.")
    with past.run("deep", at=day(9)) as run:
        run.supersede(rome, lisbon, day(2))
        conflict = run.conflict(lisbon, cats)
        run.ask(conflict=conflict)
        run.repeat(item, lisbon)
        run.triple(lisbon, "Maya", "lives in", "Lisbon")
    life = shell.json("memory", "show", str(lisbon))
    assert [part["id"] for part in life["parts"]] == [str(home)]
    assert [value["content"] for value in life["chain"]] == ["Maya lives in Rome.", "Maya lives in Lisbon."]
    assert [source["via"] for source in life["sources"]] == [str(home), None]
    assert [(note["content"], note["outcome"]) for note in life["notes"]] == [("Maya lives in Lisbon.", "duplicate")]
    assert [(c["id"], c["memory"], c["status"]) for c in life["conflicts"]] == [(conflict, str(cats), "open")]
    assert [(q["conflict"], q["state"]) for q in life["questions"]] == [(conflict, "open")]
    found = {(link["direction"], link["predicate"], link["memory"]) for link in life["links"]}
    assert found == {
        ("from", "merged_into", str(home)), ("to", "supersedes", str(rome)), ("to", "contradicts", str(cats)),
    }  # fmt: skip
    assert [(t["subject"], t["object"]) for t in life["triples"]] == [("Maya", "Lisbon")]
    assert [r["kind"] for r in life["runs"]] == ["light", "deep"]
    text_ = shell("memory", "show", str(lisbon)).stdout
    for words in (
        f"in the words of {home}", "Merged into it:", "Versions over time:", "(this one)", "Conflicts:", "Links:",
        f"supersedes → {rome}", f"by run {run.id}, beat", "Noted by the agent itself:", "Maya — lives in — Lisbon",
    ):  # fmt: skip
        assert words in text_, words
    assert f"merged      into {lisbon}" in shell("memory", "show", str(home)).stdout
    assert shell.json("memory", "show", str(rome))["superseded_by"] == str(lisbon)


def test_explain_says_what_became_of_a_memory_that_an_undo_took_away(shell: Shell, past: Past) -> None:
    item = past.note("Maya plays the cello.")
    with past.run("working", at=day(8)) as run:
        cello = run.keep(item, "Maya plays the cello.")
    shell("run", "undo", str(run.id))
    result = shell("memory", "show", str(cello))
    assert result.exit_code == 1
    assert f"run {run.id} had made it, and run {run.id + 1} took that back" in result.stderr
    assert "Maya plays the cello." in shell("run", "show", str(run.id)).stdout


def test_what_held_and_what_was_known_are_options_of_the_list(shell: Shell, past: Past) -> None:
    past.merged()

    def contents(*options: str) -> list[str]:
        return [memory["content"] for memory in shell.json("memory", "list", "concierge", *options)]

    assert contents("--as-of", "2026-03-03") == ["Maya lives in Lisbon."]
    assert contents("--known-at", "2026-03-03T12:00:00+00:00") == ["Maya's home is Lisbon."]
    assert contents("--as-of", "2026-03-03", "--known-at", "2026-03-09") == ["Maya's home is Lisbon."]
    assert contents("--as-of", "2026-03-01") == []
    assert "No memory matches." in shell("memory", "list", "concierge", "--as-of", "2026-03-01").stdout
    for bad in ("yesterday", "2026-13-01", "2026-03-05T25:00", ""):
        result = shell("memory", "list", "concierge", "--as-of", bad)
        assert result.exit_code == 2, bad
        assert "must be a day (2026-03-05) or a time" in " ".join(result.stderr.split())


def test_i8_another_tenant_sees_no_run_and_undoes_none(shell: Shell, past: Past) -> None:
    run, lisbon, _ = past.merged()
    before = state(past.engine)
    assert shell.json("--tenant", "acme", "run", "list") == []
    for call in (("run", "undo", str(run)), ("run", "show", str(run)), ("memory", "show", str(lisbon))):
        assert shell("--tenant", "acme", *call).exit_code == 1
    assert state(past.engine) == before


def test_i8_a_run_over_all_scopes_shows_a_tenant_its_own_part(past: Past, engine: Engine) -> None:
    other = Past(engine, tenant="acme")
    mine, theirs = past.say("Maya lives in Lisbon."), other.say("Jonas has a boat.")
    with past.run("light", at=day(8)) as run:
        run.set(mine, "promoted", status="active")
        run.set(theirs, "promoted", status="active")
    with engine.begin() as connection:
        connection.execute(text("UPDATE slowwave.maintenance_runs SET scope_id = NULL"))
    with engine.connect() as connection:
        for tenant, content in (("default", "Maya lives in Lisbon."), ("acme", "Jonas has a boat.")):
            assert [change.content for change in read_run(connection, tenant, run.id).changes] == [content]
        for scope, number in ((("agent", "concierge"), 1), (("room", "lobby"), 0)):
            assert len(list_runs(connection, "default", scope=scope)) == number
    with pytest.raises(Exception, match="it changed memories of others too"):
        undo(engine, "default", run.id, by="priya", now=day(9))
    with pytest.raises(UnknownName):
        undo(engine, "nobody", run.id, by="priya", now=day(9))


def test_real_passes_and_cycles_are_undone_byte_for_byte(past: Past) -> None:
    """What passes really do, and not only what these tests do in their place."""
    said = (
        ("Maya lives in Rome.", "monday", 0), ("Maya lives in Lisbon.", "tuesday", 4),
        ("Maya likes sushi.", "monday", 1), ("Maya likes sushi a lot.", "friday", 2),
        ("Maya does not like sushi.", "sunday", 3),
        ("The user prefers dark mode.", "monday", 1), ("The user prefers the dark mode.", "friday", 2),
        ("The user prefers light mode.", "sunday", 5), ("Jonas works at Initech.", "friday", 3),
    )  # fmt: skip
    for content, session, at in said:
        past.say(content, session=session, at=day(at), confidence=0.75)
    for content in ("Maya plays the cello.", "Jonas works at Initech.", "Maya plays the cello!"):
        past.note(content, at=day(6))
    states, runs = [], []
    for number, kind in enumerate(("working", "light", "deep")):
        states.append(state(past.engine))

        def clock(number: int = number) -> Any:
            return day(20 + number)

        if kind == "working":
            report: Any = consolidate_working(past.engine, past.scope_id, settings=RULES, clock=clock)
        else:
            order = Order(past.scope_id, "light" if kind == "light" else "deep", "test")
            report = consolidate(past.engine, order, settings=RULES, clock=clock)
        if report.run is None or state(past.engine) == states[-1]:
            states.pop()
        else:
            runs.append(report.run)
    actions = {row.action for row in rows(past, "SELECT action FROM slowwave.memory_changes WHERE run_id IS NOT NULL")}
    assert {"created", "merged", "superseded", "promoted", "conflict"} <= actions
    for run, before in zip(reversed(runs), reversed(states), strict=True):
        undo(past.engine, "default", run, by="priya", now=day(30))
        assert state(past.engine) == before


def test_run_show_tells_why_a_pass_was_rolled_back(past: Past, shell: Shell) -> None:
    for statement in APART:
        past.say(statement, session=statement)
    order = Order(past.scope_id, "light", meaning=merges_all)
    run = consolidate(past.engine, order, settings=RULES, clock=lambda: day(8)).run
    shown = shell("run", "show", str(run)).output
    for words in ("rolled_back", "answers would have held", "replayed", "evidence at risk", "Maya"):
        assert words in shown, words
    assert shell.json("run", "show", str(run))["lost"]


def rows(past: Past, query: str) -> list[Any]:
    with past.engine.connect() as connection:
        return list(connection.execute(text(query)))
