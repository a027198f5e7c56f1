"""Days in a context: their newest summaries, what none covers yet, whose days they are; and open contradictions."""

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from slowwave import AsyncMemory, Memory, Settings
from slowwave.recall import Context, estimate
from slowwave_server.workers.cli.main import app
from tests.support.midday import wait_past_midnight
from tests.support.recalling import NOW, Shelf, context
from tests.support.shelling import CliRunner

pytestmark = pytest.mark.servers

TODAY = date(2024, 5, 10)
YESTERDAY = date(2024, 5, 9)


class DayShelf(Shelf):
    """A shelf with days."""

    def count(self, session: str, *, summarized: int = 0, agent: str = "maya", tenant: str = "default") -> None:
        """Count the session's days, as capture does; of the first of them so many events are summarised."""
        row = self._session(session, agent, tenant)
        self.sql(
            "INSERT INTO slowwave.session_days (session_id, day, agent_id, scope_id, total_messages, from_seq, to_seq,"
            " summarized, pending) SELECT session_id, day, %s, %s, count(*), min(seq), max(seq),"
            " least(%s, count(*)), count(*) > %s FROM slowwave.events WHERE session_id = %s GROUP BY 1, 2",
            *(row["agent_id"], row["scope_id"], summarized, summarized, row["id"]),
        )

    def summarise(
        self,
        day: date,
        *texts: str,
        version: int = 1,
        final: bool = False,
        agent: str = "maya",
        scope: str | None = None,
        tenant: str = "default",
        session: str = "work",
        text: str = "",
    ) -> None:
        """Add a version of a day's summary; the events behind its lines are 1, 2, 3 …"""
        lines = [
            {"facet": "decided", "text": said, "speaker": "Maya", "session": session, "seq": place, "weight": 1.0}
            | {"at": f"{day}T08:00:00+00:00"}
            for place, said in enumerate(texts, start=1)
        ]
        self.sql(
            "INSERT INTO slowwave.day_summaries (agent_id, scope_id, day, version, final, messages, segments, text,"
            " lines, made_by, summarizer)"
            " SELECT a.id, %s, %s, %s, %s, %s, 1, %s, %s, 'rules', 'rules/1' FROM slowwave.agents a"
            " WHERE (a.tenant, a.name) = (%s, %s)",
            *(self.scope(agent, scope, tenant), day, version, final, len(texts), text, json.dumps(lines)),
            *(tenant, agent),
        )

    def dispute(self, one: str, other: str, *, status: str = "open", scope: str | None = None) -> None:
        self.sql(
            "INSERT INTO slowwave.memory_conflicts (scope_id, memory_id, conflicting_memory_id, reason, evidence,"
            " status) VALUES (%s, least(%s::uuid, %s::uuid), greatest(%s::uuid, %s::uuid), 'two values', '{}', %s)",
            *(self.scope(scope=scope), one, other, one, other, status),
        )


@pytest.fixture
def shelf(database_url: str) -> Iterator[DayShelf]:
    with psycopg.connect(database_url, autocommit=True) as connection:
        yield DayShelf(connection)


def known(shelf: Shelf, agent: str = "maya", **options: Any) -> Context:
    options = {"now": NOW} | options
    return context(shelf.connection, options.pop("tenant", "default"), agent, **options)


def told(found: Context) -> list[tuple[date, int, list[str]]]:
    return [(day.day, day.version, [line.content for line in day.lines]) for day in found.days]


def raw(found: Context) -> list[str]:
    return [line.content for day in found.days for line in day.unsummarised]


def test_the_newest_summaries_of_the_last_days_come_the_newest_day_first(shelf: DayShelf) -> None:
    for back in range(4):
        shelf.summarise(TODAY - timedelta(days=back), f"Day {back} was planned.")
    shelf.summarise(YESTERDAY, "Maya chose Oslo.", "Jonas agreed.", version=2, final=True)
    assert told(known(shelf)) == [
        (TODAY, 1, ["Day 0 was planned."]),
        (YESTERDAY, 2, ["Maya chose Oslo.", "Jonas agreed."]),
    ]
    assert [day.final for day in known(shelf).days] == [False, True]
    assert [day for day, _, _ in told(known(shelf, days=3))] == [TODAY, YESTERDAY, TODAY - timedelta(days=2)]
    assert told(known(shelf, days=0)) == []
    assert "- decided: Maya chose Oslo. [day 2024-05-09 v2 work#1]\n" in known(shelf).to_text()


def test_mistake_35_today_is_the_agents_own_day(shelf: DayShelf) -> None:
    tomorrow = TODAY + timedelta(days=1)
    shelf.summarise(YESTERDAY, "Everywhere it was Thursday.")
    shelf.summarise(TODAY, "Here it was Friday.")
    shelf.summarise(tomorrow, "There it was Saturday.")
    shelf.sql("UPDATE slowwave.agents SET time_zone = 'Pacific/Auckland', cutoff_hour = 0")
    assert [day for day, _, _ in told(known(shelf, days=1))] == [tomorrow]
    shelf.sql("UPDATE slowwave.agents SET cutoff_hour = 4")
    assert [day for day, _, _ in told(known(shelf, days=1))] == [tomorrow, TODAY]
    # Three in the morning of Friday: the agent's Thursday has an hour to go.
    shelf.sql("UPDATE slowwave.agents SET time_zone = 'Pacific/Honolulu'")
    assert [day for day, _, _ in told(known(shelf, days=1, now=NOW.replace(hour=13)))][-1] == YESTERDAY
    assert [day for day, _, _ in told(known(shelf, days=1, now=NOW.replace(hour=14)))][-1] == TODAY


def test_a_summary_that_came_as_text_alone_is_shown_by_its_lines(shelf: DayShelf) -> None:
    shelf.summarise(TODAY, text="### Decided\n- Maya chose Oslo.\n\n- Jonas agreed.")
    assert told(known(shelf)) == [(TODAY, 1, ["Maya chose Oslo.", "Jonas agreed."])]
    assert "- said: Maya chose Oslo. [day 2024-05-10 v1]\n" in known(shelf).to_text()


def test_a_day_without_a_summary_is_shown_by_its_last_lines(shelf: DayShelf) -> None:
    shelf.say("work", *(f"Line {n} of the day." for n in range(30)), at=NOW)
    shelf.count("work")
    assert raw(known(shelf)) == [f"Line {n} of the day." for n in range(22, 30)]
    (day,) = known(shelf).days
    assert (day.day, day.version, day.final) == (TODAY, 0, False)
    assert "## 2024-05-10, said last and not summarised yet" in known(shelf).to_text()
    assert known(shelf, session="work").days == ()


def test_mistake_09_what_came_after_the_summary_is_shown_beside_it(shelf: DayShelf) -> None:
    shelf.say("work", "First.", "Second.", "Third.", "Fourth.", at=NOW)
    shelf.count("work", summarized=3)
    shelf.summarise(TODAY, "Three things were said.")
    (day,) = known(shelf).days
    assert ([line.content for line in day.lines], raw(known(shelf))) == (["Three things were said."], ["Fourth."])


def test_i5_a_final_day_that_got_a_late_event_is_shown_as_open(shelf: DayShelf) -> None:
    shelf.say("work", "First.", "Late.", at=NOW - timedelta(days=1))
    shelf.count("work", summarized=2)
    shelf.summarise(YESTERDAY, "One thing was said.", final=True)
    assert [day.final for day in known(shelf).days] == [True]
    shelf.sql("UPDATE slowwave.session_days SET summarized = 1, pending = true")
    assert [day.final for day in known(shelf).days] == [False]


def test_nothing_is_shown_twice(shelf: DayShelf) -> None:
    shelf.say("work", "Maya keeps bees.", "The bees are calm.", "I moved to Porto.", at=NOW)
    shelf.count("work")
    kept = shelf.keep("Maya keeps bees.", importance=0.9)
    new = shelf.keep("Maya chose Oslo.", since=NOW, importance=0.1)
    shelf.summarise(TODAY, "maya keeps  bees", "Maya chose Oslo.")
    shelf.say("live", "Still talking.", flushed=False, at=NOW)
    shelf.count("live")
    found = known(shelf, query="bees")
    assert [hit.id for hit in (*found.memories, *found.recent)] == []
    assert told(found) == [(TODAY, 1, ["maya keeps  bees", "Maya chose Oslo."])]
    assert kept not in found.to_text()
    assert [hit.content for hit in found.passages] == ["The bees are calm.", "I moved to Porto."]
    assert raw(found) == []
    assert raw(known(shelf)) == ["The bees are calm.", "I moved to Porto."]
    assert [line.content for line in found.elsewhere] == ["Still talking."]
    assert new not in found.to_text()


def test_telemetry_of_tasks_is_left_out_and_milestones_are_not(shelf: DayShelf) -> None:
    shelf.say("work", "progress 40 %", "The import has finished.", at=NOW)
    shelf.say("live", "progress 50 %", "The backup has finished.", at=NOW, flushed=False)
    shelf.sql("UPDATE slowwave.events SET kind = 'task', metadata = '{\"event\": \"tick\"}' WHERE seq = 1")
    shelf.sql("UPDATE slowwave.events SET kind = 'task', metadata = '{\"event\": \"run_finished\"}' WHERE seq = 2")
    shelf.count("work")
    assert raw(known(shelf)) == ["The import has finished."]
    assert [line.content for line in known(shelf).elsewhere] == ["The backup has finished."]


def test_secrets_are_masked_before_and_after_a_flush(shelf: DayShelf) -> None:
    shelf.say("work", "Our tulip code is 4711.", "The password is hunter2!", at=NOW)
    shelf.count("work")
    shelf.sql("UPDATE slowwave.passages SET redacted = 'Our tulip code is [redacted:pin].' WHERE seq = 1")
    shelf.say("live", "password: hunter3", flushed=False, at=NOW)
    text = known(shelf).to_text()
    assert "[redacted:pin]" in text
    for secret in ("4711", "hunter2", "hunter3"):
        assert secret not in text


def test_i8_days_of_others_are_shown_to_nobody(shelf: DayShelf) -> None:
    for tenant, agent, scope in (
        ("default", "jonas", None),
        ("other", "maya", None),
        ("default", "jonas", "room:kitchen"),
        ("default", "maya", "team:maya"),
    ):
        shelf.summarise(TODAY, f"{tenant} {agent} {scope}", agent=agent, scope=scope, tenant=tenant)
        shelf.say(f"{agent}{scope}", f"said {scope}", agent=agent, scope=scope, tenant=tenant, at=NOW)
        shelf.count(f"{agent}{scope}", agent=agent, tenant=tenant)
    assert known(shelf).to_text() == ""
    room = known(shelf, scopes=["room:kitchen"])
    assert [(day.agent, day.scope) for day in room.days] == [("jonas", "room:kitchen")]
    assert raw(room) == ["said room:kitchen"]
    assert "- (room:kitchen) decided: default jonas room:kitchen [day 2024-05-10 v1 work#1]\n" in room.to_text()
    assert known(shelf, tenant="third", scopes=["room:kitchen", "team:maya"]).to_text() == ""


def test_i10_days_of_a_forgotten_agent_are_not_shown_in_its_room(shelf: DayShelf) -> None:
    shelf.summarise(TODAY, "Bees!", agent="jonas", scope="room:kitchen")
    shelf.say("talk", "More bees!", agent="jonas", scope="room:kitchen", at=NOW)
    shelf.count("talk", agent="jonas")
    assert known(shelf, scopes=["room:kitchen"]).days
    shelf.sql("UPDATE slowwave.agents SET deleted_at = now() WHERE name = 'jonas'")
    assert known(shelf, scopes=["room:kitchen"]).days == ()


def test_both_sides_of_an_open_contradiction_are_shown_and_marked(shelf: DayShelf) -> None:
    old = shelf.keep("Maya works at Initech.", importance=0.5, since=NOW - timedelta(days=9))
    new = shelf.keep("Maya works at Globex.", importance=0.5, since=NOW - timedelta(days=1))
    other = shelf.keep("Maya keeps bees.")
    shelf.dispute(old, new)
    found = known(shelf, query="Where does Maya work?")
    (conflict,) = found.conflicts
    assert [side.id for side in conflict.sides] == [old, new]
    assert conflict.to_json()["contradicting"] == [old, new]
    assert {hit.id for hit in (*found.memories, *found.recent)} == {other}
    assert (
        f"- either 2024-05-01 Maya works at Initech. [memory {old[-8:]}]"
        f" or 2024-05-09 Maya works at Globex. [memory {new[-8:]}]\n" in found.to_text()
    )
    shelf.sql("UPDATE slowwave.memory_conflicts SET status = 'dismissed'")
    assert known(shelf).conflicts == ()
    assert {hit.id for hit in known(shelf).memories} == {old, new, other}


def test_contradictions_come_in_if_they_are_about_what_is_shown_or_matter(shelf: DayShelf) -> None:
    for n in range(20):
        shelf.keep(f"Maya likes tea number {n}.", importance=0.9, since=NOW - timedelta(days=3))
    pair = [shelf.keep(f"Maya lives in {c}.", importance=0.3, since=NOW - timedelta(days=99)) for c in ("Bonn", "Graz")]
    shelf.dispute(*pair)
    assert known(shelf).conflicts == ()
    assert len(known(shelf, query="Maya lives in Graz").conflicts) == 1
    shelf.sql("UPDATE slowwave.memories SET importance = 0.8 WHERE content LIKE '%%Bonn%%'")
    assert len(known(shelf).conflicts) == 1
    shelf.sql("UPDATE slowwave.memories SET status = 'review' WHERE content LIKE '%%Graz%%'")
    assert known(shelf).conflicts == ()


def test_i8_contradictions_of_other_scopes_are_not_shown(shelf: DayShelf) -> None:
    sides = [shelf.keep(f"Maya lives in {c}.", importance=0.9, scope="room:kitchen") for c in ("Bonn", "Graz")]
    shelf.dispute(*sides, scope="room:kitchen")
    shelf.keep("Maya keeps bees.")
    assert known(shelf).conflicts == ()
    (conflict,) = known(shelf, scopes=["room:kitchen"]).conflicts
    assert conflict.to_line().startswith("- (room:kitchen) either ")


def test_a_room_of_many_agents_leaves_the_readers_own_days_their_place(shelf: DayShelf) -> None:
    for n in range(70):
        shelf.summarise(TODAY, f"Agent {n} watered the garden.", agent=f"a{n}", scope="room:garden")
    shelf.summarise(TODAY, "Maya chose Oslo.")
    shelf.summarise(YESTERDAY, "Jonas agreed.")
    days = known(shelf, scopes=["room:garden"]).days
    assert [day.day for day in days if day.scope is None] == [TODAY, YESTERDAY]
    assert len(days) == 62


def test_a_context_is_bounded_whatever_the_day_holds(shelf: DayShelf) -> None:
    for n in range(12):
        shelf.say(f"s{n}", *(f"{n} {m} " + "word " * 200 for m in range(12)), at=NOW)
        shelf.count(f"s{n}")
    (day,) = known(shelf).days
    assert len(day.unsummarised) == 24
    assert all(len(line.content) <= 300 and line.content.endswith("…") for line in day.unsummarised)


def test_i7_memory_and_async_memory_keep_the_budget_and_read_the_days_of_the_settings(
    shelf: DayShelf, database_url: str, tmp_path: Path
) -> None:
    wait_past_midnight()
    now = datetime.now(UTC)
    for back in range(3):
        shelf.summarise(now.date() - timedelta(days=back), *(f"Thing {n} of {back} was done." for n in range(9)))
    days: Any = {"days": {"autoload_summary_days": 3}}
    settings = Settings(database_url=database_url, spool=tmp_path, memory=days)
    with Memory(settings) as memory:
        assert [len(day.lines) for day in memory.context("maya").days] == [9, 9, 9]
        assert len(memory.context("maya", days=1).days) == 1
        small = memory.context("maya", max_tokens=250)
        assert estimate(small.to_text()) == small.tokens
        assert 100 < estimate(small.to_text()) <= 250
        assert small.left_out > 0
        counted = memory.context("maya", max_tokens=900, count_tokens=len, format="messages")
        assert 0 < sum(len(message["content"]) for message in counted.to_messages()) <= 900
        shared = AsyncMemory(settings, memory=memory)
        found = asyncio.run(shared.context("maya", max_tokens=300, format="json"))
        assert 0 < estimate(json.dumps(found.to_json(), ensure_ascii=False)) <= 300


def test_the_shell_prints_what_was_asked_for_and_what_found_no_room(shelf: DayShelf, database_url: str) -> None:
    wait_past_midnight()
    today = datetime.now(UTC).date()
    shelf.summarise(today, *(f"Thing {n} was done." for n in range(30)))

    def shell(*options: str) -> Any:
        call = ["context", "maya", *options]
        return CliRunner().invoke(app, call, env={"SLOWWAVE_DATABASE_URL": database_url})

    assert "Thing 29 was done." in shell().stdout
    small = shell("--max-tokens", "200")
    assert 0 < estimate(small.stdout.rstrip("\n") + "\n") <= 200
    assert "lines did not fit into 200 tokens." in small.stderr
    messages = json.loads(shell("--format", "messages", "--max-tokens", "300").stdout)
    assert [message["role"] for message in messages] == ["system", "user"]
    assert json.loads(shell("--json").stdout)["days"][0]["day"] == today.isoformat()
    assert json.loads(shell("--json", "--days", "0").stdout)["days"] == []
    assert shell("--format", "xml").exit_code == 2
