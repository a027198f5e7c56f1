"""Rebuilds: another extractor reads the kept events beside the live memories, one transaction switches, undoably."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from redis import Redis
from sqlalchemy import Engine, text

from slowwave.settings import Settings
from slowwave_server.domain.candidates import (
    Candidate,
    Extraction,
    ExtractionContext,
    ExtractionOrigin,
    Extractor,
    Window,
)
from slowwave_server.domain.failures import TransientError
from slowwave_server.domain.model_calls import Unanswered
from slowwave_server.services.forget.forget import Forgetter
from slowwave_server.services.forget.target import Target
from slowwave_server.services.lookup import find_agent
from slowwave_server.services.rebuild.ledger import Owner
from slowwave_server.services.rebuild.rebuild import Rebuilder, Report
from slowwave_server.services.undo.undo import undo
from tests.support.flushing import Scene, make_scene

pytestmark = pytest.mark.servers


def retold(said: str) -> str:
    return f"As was said, {said}"


@dataclass
class Retelling:
    """Keeps each line that holds a word, in another form; `fails` says what becomes of a window instead."""

    word: str = ""
    form: Callable[[str], str] = retold
    fails: Callable[[Window], Extraction | Exception | None] = lambda _window: None
    name: str = "retelling"
    version: str = "1"
    seen: list[tuple[int, int]] = field(default_factory=list)

    def extract(self, window: Window, context: ExtractionContext, now: Any) -> Extraction:
        failed = self.fails(window)
        if isinstance(failed, Exception):
            raise failed
        if failed is not None:
            return failed
        self.seen.append((window.from_seq, window.to_seq))
        return Extraction(
            tuple(
                Candidate(self.form(e.content), "fact", 0.7, 0.8, e.happened_at, (e.seq,), signals=("test",))
                for e in window.events
                if self.word in e.content
            ),
            made=ExtractionOrigin(self.name, self.version, tokens=10),
        )


@dataclass
class Stage:
    scene: Scene
    engine: Engine

    def rebuild(
        self,
        extractor: Extractor,
        *,
        confirm: Callable[[Report], bool] | None = lambda _report: True,
        only_fallback: bool = False,
    ) -> Report:
        with self.engine.connect() as connection:
            owner = Owner.of(connection, "default", "maya", find_agent(connection, "default", "maya"))
        rebuilder = Rebuilder(self.engine, lambda _run: extractor, self.scene.clock, confirm)
        return rebuilder.rebuild(owner, only_fallback=only_fallback, by="tester")

    def dump(self) -> dict[str, list[tuple[Any, ...]]]:
        """All that an undo must restore."""
        queries = {
            "memories": "SELECT id, type, content, status, confidence, importance, trust, valid_from, reaffirmed_at,"
            " valid_to, superseded_by, merged_into, archive_reason FROM slowwave.memories ORDER BY id",
            "sources": "SELECT * FROM slowwave.memory_sources ORDER BY memory_id, session_id, seq",
            "flushes": "SELECT id, extractor, extractor_version, fallback, fallback_why, dropped FROM slowwave.flushes"
            " ORDER BY id",
            "conflicts": "SELECT id, status FROM slowwave.memory_conflicts ORDER BY id",
            "questions": "SELECT id, state FROM slowwave.review_items ORDER BY id",
        }
        return {name: [tuple(row) for row in self.scene.sql(query)] for name, query in queries.items()}

    def live(self) -> list[str]:
        rows = self.scene.sql("SELECT content FROM slowwave.memories WHERE status <> 'archived' ORDER BY content")
        return [row.content for row in rows]

    def execute(self, statement: str, **values: Any) -> None:
        with self.engine.begin() as connection:
            connection.execute(text(statement), values)


@pytest.fixture
def stage(redis_client: Redis, engine: Engine) -> Iterator[Stage]:
    scene = make_scene(engine, redis_client)
    scene.say("s1", "Maya plays the cello.", "Maya has two cats.", trigger="idle")
    scene.flush("s1")
    scene.say("s2", "Maya has two cats.", "Maya lives in Porto.", trigger="idle")
    scene.flush("s2")
    return Stage(scene, engine)


def test_the_same_answers_change_nothing(stage: Stage) -> None:
    before = stage.dump()
    report = stage.rebuild(stage.scene.extractor)
    assert (report.windows, report.read, report.unchanged) == (2, 2, 3)
    assert (report.gained, report.lost, report.changed, report.reweighed) == ((), (), (), 0)
    assert report.switched
    assert stage.dump() == before


def test_a_rebuild_switches_at_once_and_an_undo_restores_all_of_it(stage: Stage) -> None:
    before = stage.dump()
    report = stage.rebuild(Retelling("cats"))
    assert report.switched
    assert stage.live() == ["As was said, Maya has two cats."]
    assert [(line.before, line.content) for line in report.changed] == [
        ("Maya has two cats.", "As was said, Maya has two cats.")
    ]
    assert {line.content for line in report.lost} == {"Maya lives in Porto.", "Maya plays the cello."}
    assert report.tokens == 20
    assert {row.extractor for row in stage.scene.sql("SELECT extractor FROM slowwave.flushes")} == {"retelling"}
    undo(stage.engine, "default", report.run, by="tester", now=stage.scene.clock())
    assert stage.dump() == before


def test_what_the_other_extractor_says_otherwise_is_shown_as_changed(stage: Stage) -> None:
    report = stage.rebuild(Retelling("Porto", form=lambda said: said.replace("lives in", "resides in")))
    assert [(line.before, line.content) for line in report.changed] == [
        ("Maya lives in Porto.", "Maya resides in Porto.")
    ]
    assert {line.content for line in report.lost} == {"Maya has two cats.", "Maya plays the cello."}
    assert report.gained == ()


def test_a_dry_run_reads_once_and_changes_nothing(stage: Stage) -> None:
    before = stage.dump()
    other = Retelling()
    looked = stage.rebuild(other, confirm=None)
    assert (looked.switched, looked.read, len(looked.changed)) == (False, 2, 3)
    assert stage.dump() == before
    refused = stage.rebuild(other, confirm=lambda report: report.read > 5)
    assert not refused.switched
    assert stage.dump() == before
    assert stage.rebuild(other).switched
    assert len(other.seen) == 2, "what was read is kept: nothing is read or paid twice"
    runs = stage.scene.sql("SELECT status FROM slowwave.maintenance_runs WHERE kind = 'rebuild' ORDER BY id")
    assert [row.status for row in runs] == ["stopped", "stopped", "completed"]


@pytest.mark.parametrize(
    "failure",
    [
        TransientError("the endpoint is away"),
        Extraction((), made=ExtractionOrigin("rules", "1", 0, "budget", "memory.llm.daily_token_budget")),
    ],
    ids=["away", "budget"],
)
def test_i7_a_rebuild_that_stops_keeps_what_was_read_and_goes_on_from_there(stage: Stage, failure: Any) -> None:
    before = stage.dump()
    calls = iter([None, failure])
    other = Retelling(fails=lambda _window: next(calls, None))
    stopped = stage.rebuild(other)
    assert not stopped.switched
    assert stopped.read == 1
    assert stopped.stopped is not None
    assert stage.dump() == before
    done = stage.rebuild(other)
    assert (done.switched, done.read) == (True, 2)
    assert len(other.seen) == 2
    assert len(stage.live()) == 3


def test_i3_a_window_on_which_the_model_falls_silent_does_not_stop_the_others(stage: Stage) -> None:
    calls = iter([Unanswered("no answer in time", tokens=None)])
    report = stage.rebuild(Retelling(fails=lambda _window: next(calls, None)))
    assert (report.read, report.failed, report.stopped) == (1, 1, None)
    refused = stage.rebuild(Retelling("nothing", fails=lambda _window: Unanswered("429", tokens=0)))
    assert (refused.read, refused.stopped) == (0, "429")


def test_windows_without_an_answer_of_use_and_those_whose_events_are_gone_keep_their_memories(stage: Stage) -> None:
    useless = Extraction((), made=ExtractionOrigin("rules", "1", 5, "failed", "the answer is not JSON"))
    calls = iter([useless])
    report = stage.rebuild(Retelling(fails=lambda _window: next(calls, None)))
    assert (report.read, report.failed) == (1, 1)
    assert stage.live() == [
        "As was said, Maya has two cats.",
        "As was said, Maya lives in Porto.",
        "Maya has two cats.",
        "Maya plays the cello.",
    ]
    stage.execute("DELETE FROM slowwave.events WHERE seq = 1")
    report = stage.rebuild(Retelling("nothing"))
    assert (report.gone, report.read, report.switched) == (2, 0, False)


def test_only_windows_that_were_left_to_the_rules_are_read_again(stage: Stage) -> None:
    stage.execute(
        "UPDATE slowwave.flushes SET fallback = 'budget', fallback_why = 'memory.llm.daily_token_budget'"
        " WHERE id = (SELECT max(id) FROM slowwave.flushes)"
    )
    before = stage.dump()
    report = stage.rebuild(Retelling(), only_fallback=True)
    assert (report.windows, report.switched) == (1, True)
    assert "Maya plays the cello." in stage.live()
    assert stage.scene.sql("SELECT count(*) AS n FROM slowwave.flushes WHERE fallback IS NOT NULL")[0].n == 0
    undo(stage.engine, "default", report.run, by="tester", now=stage.scene.clock())
    assert stage.dump() == before


def test_memories_with_evidence_from_elsewhere_stay(stage: Stage) -> None:
    scene = stage.scene
    scene.say("s9", "Maya plays the cello.", agent="jonas", trigger="idle")
    scene.sql(
        "UPDATE slowwave.sessions s SET scope_id = (SELECT scope_id FROM slowwave.sessions WHERE name = 's1')"
        " WHERE s.name = 's9' RETURNING id"
    )
    scene.flush("s9", agent="jonas")
    stage.execute(
        "INSERT INTO slowwave.memory_imports (memory_id, digest, file, sources, confidence, importance, trust,"
        " holds_from, reaffirmed_at) SELECT id, '\\x01', 'MEMORY.md', '[]', 0.9, 0.5, 'hand', now(), now()"
        " FROM slowwave.memories WHERE content LIKE '%Porto%'"
    )
    before = stage.dump()
    report = stage.rebuild(Retelling("nothing"))
    assert stage.live() == ["Maya lives in Porto.", "Maya plays the cello."]
    assert {line.content for line in report.lost} == {"Maya has two cats."}
    assert report.reweighed == 2
    undo(stage.engine, "default", report.run, by="tester", now=stage.scene.clock())
    restored = stage.dump()
    assert restored["sources"] == before["sources"]


def test_what_had_ended_because_of_a_memory_that_goes_holds_on(stage: Stage) -> None:
    stage.execute(
        "UPDATE slowwave.memories o SET valid_to = now(), superseded_by = n.id FROM slowwave.memories n"
        " WHERE o.content LIKE '%cello%' AND n.content LIKE '%Porto%'"
    )
    before = stage.dump()
    report = stage.rebuild(Retelling("cello", form=str))
    (cello,) = stage.scene.sql("SELECT valid_to, superseded_by FROM slowwave.memories WHERE content LIKE '%cello%'")
    assert tuple(cello) == (None, None)
    undo(stage.engine, "default", report.run, by="tester", now=stage.scene.clock())
    assert stage.dump() == before


def test_another_extractor_takes_the_place_of_one_that_was_not_switched(stage: Stage) -> None:
    stage.rebuild(Retelling(), confirm=None)
    report = stage.rebuild(Retelling(version="2", form=lambda said: f"{said} Indeed."))
    assert report.switched
    assert all(content.endswith("Indeed.") for content in stage.live())
    assert stage.scene.sql("SELECT count(*) AS n FROM slowwave.rebuilds")[0].n == 1


def test_i10_what_was_read_of_a_forgotten_conversation_is_gone_and_a_switch_brings_nothing_back(
    stage: Stage, redis_client: Redis, tmp_path: Path
) -> None:
    other = Retelling()
    stage.rebuild(other, confirm=None)
    files = {"files": {"root": str(tmp_path)}}
    settings = Settings.model_validate({"spool": str(tmp_path / "spool"), "memory": files})
    forgetter = Forgetter(stage.engine, redis_client, settings, stage.scene.clock)
    forgetter.forget(Target.of_session("default", "maya", "s2"), by="tester")
    kept = stage.scene.sql("SELECT string_agg(candidates::text, ' ') AS said FROM slowwave.rebuild_windows")[0].said
    assert "cello" in kept
    assert "Porto" not in kept
    report = stage.rebuild(other)
    assert report.switched
    assert stage.live() == ["As was said, Maya has two cats.", "As was said, Maya plays the cello."]
    stage.rebuild(Retelling(version="2", form=str))
    assert not any("Porto" in content for content in stage.scene.memories())
