"""Endings on real servers: what is taken back ends at once, with history and evidence, whatever arrived first."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from redis import Redis
from sqlalchemy import Engine, event, text

from slowwave.identity import SessionRef
from slowwave.settings import Consolidation, Settings
from slowwave_server.domain.extraction import RulesExtractor
from slowwave_server.services.consolidation.batches import PassKind
from slowwave_server.services.consolidation.scope_pass import Order, consolidate
from slowwave_server.services.forget.forget import Forgetter
from slowwave_server.services.forget.target import Target
from slowwave_server.services.lookup import find_agent
from slowwave_server.services.rebuild.ledger import Owner
from slowwave_server.services.rebuild.rebuild import Rebuilder, Report
from slowwave_server.services.retention.work import expire_work
from slowwave_server.services.undo.undo import undo
from tests.support.flushing import Scene, make_scene

pytestmark = pytest.mark.servers

KYOTO = "The user decided: go with Kyoto for the spring trip in April 2027."
NOT_KYOTO = 'The user corrected: "No, not Kyoto, we go to Osaka".'


@dataclass
class Office:
    """A person and an agent who talk; each conversation is flushed by the rules."""

    scene: Scene
    engine: Engine

    def talk(self, session: str, *lines: str, days: float = 0, agent: str = "maya") -> str:
        """Say these, each followed by a short answer, and flush; answers the flush's outcome."""
        self.say(session, *lines, days=days, agent=agent)
        return self.flush(session, agent)

    def say(self, session: str, *lines: str, days: float = 0, agent: str = "maya") -> None:
        events: list[dict[str, Any]] = []
        for line in lines:
            for kind, content in (("user", line), ("assistant", "Noted.")):
                at = self.scene.clock() + timedelta(days=days, minutes=len(events))
                events.append({"kind": kind, "step": len(events) + 1, "content": content, "at": at.isoformat()})
        item = {"agent": agent, "session": session, "trigger": "idle", "events": events}
        self.scene.sql(
            "SELECT due FROM slowwave.capture_batch('default', :batch, 0, 0, 5, 'UTC', 0, :now)",
            batch=json.dumps([item]),
            now=self.scene.clock(),
        )

    def flush(self, session: str, agent: str = "maya") -> str:
        ref = SessionRef("default", agent, session)
        self.scene.queue.offer(ref, "normal")
        return replace(self.scene.flusher, extractor=RulesExtractor()).flush(ref).outcome

    def memory(self, content: str) -> Any:
        (row,) = self.scene.sql("SELECT * FROM slowwave.memories WHERE content = :content", content=content)
        return row

    def holds(self) -> set[str]:
        rows = self.scene.sql("SELECT content FROM slowwave.memories WHERE valid_to IS NULL AND status <> 'archived'")
        return {row.content for row in rows}

    def ended(self) -> dict[str, str | None]:
        """What ended, and by what."""
        rows = self.scene.sql(
            "SELECT m.content, n.content AS newer FROM slowwave.memories m"
            " LEFT JOIN slowwave.memories n ON n.id = m.superseded_by WHERE m.valid_to IS NOT NULL"
        )
        return {row.content: row.newer for row in rows}

    def superseding(self) -> list[Any]:
        """Links that stand."""
        return self.scene.sql("SELECT * FROM slowwave.memory_links WHERE ended_by IS NULL AND predicate = 'supersedes'")

    def rebuild(self) -> Report:
        with self.engine.connect() as connection:
            owner = Owner.of(connection, "default", "maya", find_agent(connection, "default", "maya"))
        rebuilder = Rebuilder(self.engine, lambda _run: RulesExtractor(), self.scene.clock, lambda _report: True)
        return rebuilder.rebuild(owner, only_fallback=False, by="tester")

    def runs(self) -> list[Any]:
        return self.scene.sql("SELECT * FROM slowwave.maintenance_runs WHERE started_by = 'flush' ORDER BY id")

    def age(self, days: int = 30) -> None:
        """Let every memory be old enough for a pass, and unchecked."""
        with self.engine.begin() as connection:
            connection.execute(
                text(
                    "UPDATE slowwave.memories SET recorded_at = recorded_at - make_interval(days => :days),"
                    " checked_at = NULL"
                ),
                {"days": days},
            )

    def pass_over(self) -> dict[str, int]:
        self.age()
        return self.pass_again("light")

    def pass_again(self, kind: PassKind) -> dict[str, int]:
        (scope,) = self.scene.sql("SELECT DISTINCT scope_id FROM slowwave.memories")
        order = Order(scope.scope_id, kind, by="test")
        return consolidate(self.engine, order, settings=Consolidation(), clock=self.scene.clock).counts

    def expire(self, days: int = 30, *, dry_run: bool = False) -> int:
        now = self.scene.clock()
        return expire_work(self.engine, days, now=now, by="test", dry_run=dry_run, go_on=lambda: True)


@pytest.fixture
def office(redis_client: Redis, engine: Engine) -> Iterator[Office]:
    scene = make_scene(engine, redis_client)
    return Office(scene, engine)


def test_a_flush_whose_scope_holds_nothing_to_end_reads_no_memory(office: Office) -> None:
    statements: list[str] = []

    def note(*args: Any) -> None:
        statements.append(args[2])

    office.talk("s1", "My sister works as a nurse.", days=-3)
    event.listen(office.scene.engine, "before_cursor_execute", note)
    office.talk("s2", "Let's go with Kyoto for the spring trip in April 2027.", days=-2)
    assert not [one for one in statements if "slowwave.memories" in one and "slowwave.memory_uses" not in one]
    office.talk("s3", "No, not Kyoto, we go to Osaka.")
    assert [one for one in statements if "slowwave.memories" in one]
    assert office.ended() == {KYOTO: NOT_KYOTO}


def test_i6_correction_ends_the_decision_at_once_with_history(office: Office) -> None:
    office.talk("s1", "Let's go with Kyoto for the spring trip in April 2027.", days=-3)
    assert office.talk("s2", "No, not Kyoto, we go to Osaka.") == "stored"
    older, newer = office.memory(KYOTO), office.memory(NOT_KYOTO)
    assert (older.superseded_by, older.valid_to, older.status) == (newer.id, newer.valid_from, "inbox")
    (run,) = office.runs()
    assert (run.kind, run.status, run.scope_id) == ("other", "completed", older.scope_id)
    (change,) = office.scene.sql("SELECT * FROM slowwave.memory_changes WHERE run_id = :run", run=run.id)
    assert (change.memory_id, change.action, change.reason) == (
        older.id,
        "superseded",
        "it ended: its value was corrected",
    )
    (link,) = office.superseding()
    assert (link.source_id, link.target_id) == (newer.id, older.id)
    (source,) = office.scene.sql("SELECT * FROM slowwave.memory_sources WHERE memory_id = :id", id=newer.id)
    assert source.seq == 1, "the turn that said so is the evidence"


@pytest.mark.parametrize("no_repeat", [False, True])
def test_i6_undone_ending_returns_by_deep_passes_only(office: Office, *, no_repeat: bool) -> None:
    test_i6_correction_ends_the_decision_at_once_with_history(office)
    (run,) = office.runs()
    office.age()
    undo(office.engine, "default", run.id, by="tester", now=office.scene.clock(), no_repeat=no_repeat)
    assert office.holds() == {KYOTO, NOT_KYOTO}
    office.pass_again("light")
    assert KYOTO in office.holds()
    office.pass_again("deep")
    assert (KYOTO in office.holds()) is no_repeat
    links = office.scene.sql("SELECT FROM slowwave.memory_links WHERE ended_by IS NULL AND predicate = 'supersedes'")
    assert (links == []) is no_repeat


def test_instruction_holds_until_it_is_lifted(office: Office) -> None:
    office.talk("s1", "Don't use emojis in your replies.", "Always cc Bob on emails to clients.", days=-300)
    office.expire(1)
    assert office.ended() == {}
    office.talk("s2", "You can use emojis again.")
    assert list(office.ended()) == ["The user instructs: don't use emojis in your replies."]
    office.talk("s3", "No need to cc Bob any more.")
    assert len(office.ended()) == 2


def test_newer_instruction_replaces_the_older_one(office: Office) -> None:
    office.talk("s1", "Always answer in German.", days=-3)
    office.talk("s2", "From now on, answer in English.")
    assert office.ended() == {
        "The user instructs: always answer in German.": "The user instructs: from now on, answer in English."
    }


def test_open_work_ends_with_its_outcome(office: Office) -> None:
    office.talk("s1", "I'm trying to fix the login bug in the billing service of Acme.", days=-3)
    office.talk("s2", "I fixed the login bug in the billing service of Acme.")
    assert office.ended() == {
        "The user is trying to fix the login bug in the billing service of Acme.": (
            "The user fixed the login bug in the billing service of Acme."
        )
    }


def test_doubt_ends_nothing_and_leaves_no_run(office: Office) -> None:
    office.talk(
        "s1",
        "Let's go with Kyoto for the spring trip in April 2027.",
        "Let's go with Kyoto for the autumn trip in October 2028.",
        days=-3,
    )
    office.talk("s2", "No, not Kyoto, we go to Osaka.")
    assert office.ended() == {}
    assert office.runs() == []


def test_i8_other_scopes_are_left_alone(office: Office) -> None:
    office.talk("s1", "Let's go with Kyoto for the spring trip in April 2027.", days=-3, agent="zoe")
    office.talk("s1", "No, not Kyoto, we go to Osaka.")
    assert office.ended() == {}


def test_i9_decision_that_arrives_late_is_ended(office: Office) -> None:
    office.talk("s2", "No, not Kyoto, we go to Osaka.")
    office.talk("s1", "Let's go with Kyoto for the spring trip in April 2027.", days=-3)
    assert office.ended() == {KYOTO: NOT_KYOTO}
    office.pass_over()
    assert office.ended() == {KYOTO: NOT_KYOTO}, "a pass changes nothing"


def test_i9_pass_ends_what_no_flush_ended(office: Office) -> None:
    test_i9_decision_that_arrives_late_is_ended(office)
    with office.engine.begin() as connection:
        connection.execute(text("UPDATE slowwave.memories SET valid_to = NULL, superseded_by = NULL"))
    office.pass_over()
    assert office.ended() == {KYOTO: NOT_KYOTO}
    office.pass_over()
    assert office.ended() == {KYOTO: NOT_KYOTO}


def test_i9_what_is_said_again_later_holds_again(office: Office) -> None:
    test_i6_correction_ends_the_decision_at_once_with_history(office)
    office.talk("s3", "Let's go with Kyoto for the spring trip in April 2027.", days=0.5)
    assert KYOTO in office.holds()
    office.pass_over()
    assert KYOTO in office.holds()


def test_i9_second_meaning_that_arrives_late_reopens(office: Office) -> None:
    office.talk("s1", "Let's go with Kyoto for the spring trip in April 2027.", days=-3)
    office.talk("s2", "No, not Kyoto, we go to Osaka.")
    assert KYOTO in office.ended()
    office.talk("s0", "Let's go with Kyoto for the autumn trip in October 2028.", days=-4)
    office.pass_over()
    assert office.ended() == {}, "two decisions were meant equally well"


def test_rebuild_with_the_same_rules_gives_the_same(office: Office) -> None:
    office.talk("s1", "Let's go with Kyoto for the spring trip in April 2027.", "Always answer in German.", days=-3)
    office.talk("s2", "No, not Kyoto, we go to Osaka.", "From now on, answer in English.")
    before, links = office.ended(), office.superseding()
    assert len(before) == 2
    with office.engine.connect() as connection:
        owner = Owner.of(connection, "default", "maya", find_agent(connection, "default", "maya"))
    rebuilder = Rebuilder(office.engine, lambda _run: RulesExtractor(), office.scene.clock, lambda _report: True)
    report = rebuilder.rebuild(owner, only_fallback=False, by="tester")
    assert (report.switched, report.gained, report.lost) == (True, (), ())
    assert office.ended() == before
    assert office.superseding() == links


def test_rebuild_ends_what_the_new_memories_end(office: Office) -> None:
    office.say("s1", "Let's go with Kyoto for the spring trip in April 2027.", days=-3)
    office.scene.flush("s1")
    office.say("s2", "No, not Kyoto, we go to Osaka.")
    office.scene.flush("s2")
    assert office.ended() == {}
    with office.engine.connect() as connection:
        owner = Owner.of(connection, "default", "maya", find_agent(connection, "default", "maya"))
    rebuilder = Rebuilder(office.engine, lambda _run: RulesExtractor(), office.scene.clock, lambda _report: True)
    report = rebuilder.rebuild(owner, only_fallback=False, by="tester")
    assert office.ended()[KYOTO] == NOT_KYOTO
    undo(office.engine, "default", report.run, by="tester", now=office.scene.clock())
    assert office.ended() == {}


def test_i10_forgotten_ending_ends_nothing(office: Office, redis_client: Redis, tmp_path: Path) -> None:
    test_i6_correction_ends_the_decision_at_once_with_history(office)
    settings = Settings.model_validate({"memory": {"files": {"root": str(tmp_path)}}})
    forgetter = Forgetter(office.engine, redis_client, settings, office.scene.clock)
    forgetter.forget(Target.of_session("default", "maya", "s2"), by="tester")
    assert office.holds() == {KYOTO}
    said = office.scene.sql("SELECT string_agg(reason, ' ') AS said FROM slowwave.memory_changes")[0].said
    assert "Osaka" not in said


def test_open_work_expires_and_holds_again_when_it_is_said_again(office: Office) -> None:
    work = "The user is trying to fix the login bug in the billing service of Acme."
    office.talk("s1", "I'm trying to fix the login bug in the billing service of Acme.", days=-40)
    assert office.expire(60) == 0
    assert office.expire(0) == 0, "0 days: never"
    assert office.expire(dry_run=True) == 1
    assert office.ended() == {}
    assert office.expire() == 1
    assert office.ended() == {work: None}
    (change,) = office.scene.sql("SELECT * FROM slowwave.memory_changes WHERE action = 'expired'")
    assert change.reason == "open work that nobody spoke of for 30 days"
    office.talk("s2", "I'm trying to fix the login bug in the billing service of Acme.")
    assert office.ended() == {}
    assert office.expire() == 0


def test_i6_expiry_is_undone(office: Office) -> None:
    office.talk("s1", "I'm trying to fix the login bug in the billing service of Acme.", days=-40)
    office.expire()
    (run,) = office.scene.sql("SELECT DISTINCT run_id FROM slowwave.memory_changes WHERE action = 'expired'")
    undo(office.engine, "default", run.run_id, by="tester", now=office.scene.clock())
    assert office.ended() == {}
