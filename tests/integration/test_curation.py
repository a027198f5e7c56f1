"""Curation on a real database: what becomes active, the caps, and that all of it can be taken back."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Engine, text

from slowwave.settings import AutoFlush, Consolidation, Curation, MemorySettings, Settings
from slowwave_server.services.consolidation.scope_lock import scope_lock
from slowwave_server.services.curation.curate import CurationReport, CurationRules, curate
from slowwave_server.services.curation.job import RUNNERS
from slowwave_server.services.maintenance.scheduler import JobReport, Scheduler
from slowwave_server.services.undo.undo import undo
from tests.support.consolidating import NOW, Hearer

pytestmark = pytest.mark.servers

SAID = [
    "Maya is allergic to peanuts.",
    "Maya lives in Porto.",
    "Maya plays the cello on Thursdays.",
    "The deployment runs on three machines.",
    "Maya wants answers without greetings.",
]


@dataclass
class Desk:
    """A scope that hears, and is curated at a time that is moved by hand."""

    hearer: Hearer
    rules: CurationRules
    now: datetime = NOW

    def curate(self, **how: Any) -> CurationReport:
        return curate(
            self.hearer.engine, self.hearer.scope_id, rules=self.rules, clock=lambda: self.now, by="test", **how
        )

    def says(self, *memories: UUID) -> list[str]:
        return [self.hearer.memory(memory).status for memory in memories]


def rules_of(**curation: Any) -> CurationRules:
    return CurationRules(Curation(**curation), Consolidation())


@pytest.fixture
def desk(engine: Engine) -> Iterator[Desk]:
    return Desk(Hearer(engine), rules_of())


def test_notes_of_days_become_active_and_nothing_else_is_changed(desk: Desk) -> None:
    notes = [desk.hearer.hear(line) for line in SAID]
    before = [dict(desk.hearer.memory(note)._mapping) for note in notes]
    report = desk.curate()
    assert (report.state, report.curated) == ("completed", 5)
    after = [dict(desk.hearer.memory(note)._mapping) for note in notes]
    changed = {key for was, now in zip(before, after, strict=True) for key in was if was[key] != now[key]}
    assert changed == {"status", "revision"}
    assert desk.says(*notes) == ["active"] * 5


def test_mistake_37_a_runaway_pass_has_caps_and_is_taken_back(desk: Desk) -> None:
    """302 garbage lines over daily notes: here so many a pass, so many passes a day, and one word takes it back."""
    desk.rules = rules_of(max_lines_per_pass=7, max_passes_per_day=2)
    garbage = [desk.hearer.hear(f"The build number {n} was blue in room {n * 7}.") for n in range(40)]
    before = desk.hearer.standing()
    reports = [desk.curate() for _ in range(5)]
    assert [report.state for report in reports] == ["completed", "completed", "spent", "spent", "spent"]
    assert desk.says(*garbage).count("active") == 14
    assert reports[0].more
    for report in reversed(reports[:2]):
        assert report.run is not None
        undo(desk.hearer.engine, "default", report.run, by="Priya", now=desk.now)
    assert desk.hearer.standing() == before
    assert desk.curate().state == "spent"  # an undo gives no pass back
    desk.now += timedelta(days=1)
    taken_back = desk.curate()
    assert taken_back.curated == 7
    assert len({row.memory_id for row in curated(desk)}) == 21, "what was taken back is not done again"


def curated(desk: Desk) -> list[Any]:
    return desk.hearer.sql("SELECT memory_id FROM slowwave.memory_changes WHERE action = 'curated'")


def test_the_worthiest_come_first(desk: Desk) -> None:
    desk.rules = rules_of(max_lines_per_pass=2)
    rumour = desk.hearer.hear(SAID[0], importance=0.9, confidence=0.3)
    trifle = desk.hearer.hear(SAID[1], importance=0.45, confidence=0.9)
    twice = desk.hearer.hear(SAID[2], importance=0.7, confidence=0.6, session="monday")
    desk.hearer.hear(SAID[2], importance=0.7, confidence=0.6, session="tuesday")
    sure = desk.hearer.hear(SAID[3], importance=0.9, confidence=0.65)
    desk.curate()
    assert desk.says(rumour, trifle, twice, sure) == ["inbox", "inbox", "active", "active"]


def test_what_is_small_talk_contested_or_only_claimed_stays_a_note(desk: Desk) -> None:
    hearer = desk.hearer
    small = hearer.hear(SAID[0], importance=0.1)
    claimed = hearer.hear(SAID[1], trust="assistant")
    milestone = hearer.hear(SAID[3], trust="task")
    superseded, newer = hearer.hear("Jonas works at Contoso."), hearer.hear("Jonas has two dogs.")
    hearer.sql("UPDATE slowwave.memories SET superseded_by = :n, valid_to = :t WHERE id = :o", n=newer, o=superseded,
               t=desk.now)  # fmt: skip
    a, b = sorted([hearer.hear("Priya eats meat."), hearer.hear("Priya lives on rice.")])
    hearer.sql(
        "INSERT INTO slowwave.memory_conflicts (scope_id, memory_id, conflicting_memory_id, reason, evidence)"
        " VALUES (:s, :a, :b, 'test', '{}')",
        s=hearer.scope_id, a=a, b=b,
    )  # fmt: skip
    asked = hearer.hear("Maya sings in a choir.")
    confirmed = hearer.hear("Maya has a brother.", trust="assistant")
    for memory, state in ((asked, "open"), (confirmed, "accepted")):
        hearer.sql(
            "INSERT INTO slowwave.review_items (scope_id, memory_id, why, tier, state, expires_at)"
            " VALUES (:s, :m, 'test', 'low', :state, :t)",
            s=hearer.scope_id, m=memory, state=state, t=desk.now,
        )  # fmt: skip
    desk.curate()
    assert set(desk.says(small, claimed, milestone, superseded, a, b, asked)) == {"inbox"}
    assert desk.says(newer, confirmed) == ["active", "active"]


def test_what_the_curated_memory_says_already_is_not_written_again(desk: Desk) -> None:
    hearer = desk.hearer
    old = hearer.hear("Maya is allergic to peanuts.")
    assert desk.curate().curated == 1
    again = hearer.hear("Maya is allergic to peanuts.", type="preference")
    other_words = hearer.hear("Maya is allergic to the peanuts.")
    against = hearer.hear("Maya is not allergic to peanuts.")
    desk.now += timedelta(days=1)
    report = desk.curate()
    assert (report.state, report.curated, report.known, report.contested) == ("nothing", 0, 2, 1)
    assert desk.says(old, again, other_words, against) == ["active", "inbox", "inbox", "inbox"]


def test_two_notes_of_one_pass_that_say_the_same_are_one_line(desk: Desk) -> None:
    same = [desk.hearer.hear(line) for line in ("Maya is allergic to peanuts.", "Maya is allergic to the peanuts.")]
    report = desk.curate()
    assert (report.curated, report.known) == (1, 1)
    assert sorted(desk.says(*same)) == ["active", "inbox"]


def test_a_dry_run_shows_the_pass_and_leaves_no_trace(desk: Desk) -> None:
    notes = [desk.hearer.hear(line) for line in SAID]
    report = desk.curate(dry_run=True)
    assert {change.memory for change in report.changes} == set(notes)
    assert report.run is None
    assert desk.says(*notes) == ["inbox"] * 5
    assert desk.hearer.sql("SELECT 1 FROM slowwave.maintenance_runs") == []
    assert desk.curate().curated == 5


def test_a_pass_that_finds_nothing_is_no_pass_of_the_day(desk: Desk) -> None:
    assert desk.curate().state == "nothing"
    desk.hearer.hear(SAID[0])
    assert desk.curate().curated == 1


def test_mistake_35_the_day_of_the_cap_is_the_agents_own(desk: Desk) -> None:
    desk.hearer.sql("UPDATE slowwave.agents SET time_zone = 'America/New_York', cutoff_hour = 4")
    # 04:00 in New York is 08:00 UTC in May: the day changes then, and not at midnight.
    desk.hearer.hear(SAID[0])
    desk.now = datetime(2024, 5, 10, 20, tzinfo=UTC)
    assert desk.curate().state == "completed"
    desk.hearer.hear(SAID[1])
    for at, state in ((datetime(2024, 5, 11, 7, 59, tzinfo=UTC), "spent"), (datetime(2024, 5, 11, 8, tzinfo=UTC),
                      "completed")):  # fmt: skip
        desk.now = at
        assert desk.curate().state == state


def test_two_workers_at_once_do_not_exceed_the_day(desk: Desk) -> None:
    desk.rules = rules_of(max_lines_per_pass=1)
    for n in range(12):
        desk.hearer.hear(f"{SAID[n % 5]} Number {n} of the list.")
    reports: list[CurationReport] = []
    workers = [threading.Thread(target=lambda: reports.append(desk.curate())) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sum(report.state == "completed" for report in reports) == 1
    assert {report.state for report in reports} <= {"completed", "spent", "busy"}
    assert len(curated(desk)) == 1


def test_a_scope_at_which_a_pass_is_waits(desk: Desk) -> None:
    desk.hearer.hear(SAID[0])
    with scope_lock(desk.hearer.engine, desk.hearer.scope_id) as ours:
        assert ours
        assert desk.curate().state == "busy"
    assert desk.curate().state == "completed"


def test_i10_a_pass_waits_for_a_forget_and_then_sees_what_it_left(desk: Desk) -> None:
    notes = [desk.hearer.hear(line) for line in SAID]
    done: list[CurationReport] = []
    with desk.hearer.engine.connect() as forget, forget.begin():
        forget.execute(text("UPDATE slowwave.agents SET epoch = epoch + 1"))
        worker = threading.Thread(target=lambda: done.append(desk.curate()))
        worker.start()
        wait_for_a_waiting_lock(desk.hearer)
        for table in ("memory_sources", "memory_changes", "memories"):
            forget.execute(text(f"DELETE FROM slowwave.{table}"))
    worker.join()
    assert [report.state for report in done] == ["nothing"]
    assert notes
    assert desk.hearer.sql("SELECT 1 FROM slowwave.memory_changes") == []


def wait_for_a_waiting_lock(hearer: Hearer) -> None:
    deadline = datetime.now(UTC) + timedelta(seconds=20)
    while not hearer.sql("SELECT 1 FROM pg_locks WHERE NOT granted"):
        assert datetime.now(UTC) < deadline, "nobody waited"


def test_i8_only_the_scope_that_is_named(engine: Engine) -> None:
    maya, jonas = Desk(Hearer(engine, agent="Maya"), rules_of()), Desk(Hearer(engine, agent="Jonas"), rules_of())
    notes = [maya.hearer.hear(SAID[0]), jonas.hearer.hear(SAID[0])]
    maya.curate()
    assert maya.says(*notes) == ["active", "inbox"]
    assert jonas.curate().curated == 1, "what another scope knows is not known here"


def job(desk: Desk, *, enabled: bool) -> JobReport:
    flushing = AutoFlush(curation=Curation(enabled=enabled))
    settings = Settings(memory=MemorySettings(auto_flush=flushing))
    scheduler = Scheduler(desk.hearer.engine, RUNNERS, settings, clock=lambda: desk.now, by="test")
    report = scheduler.run_now("curation")
    assert report is not None
    return report


def test_the_daily_job_goes_over_every_scope_if_it_is_switched_on(engine: Engine) -> None:
    desks = [Desk(Hearer(engine, agent=name), rules_of()) for name in ("Maya", "Jonas", "Priya")]
    notes = [desk.hearer.hear(line) for desk in desks[:2] for line in SAID[:2]]
    assert job(desks[0], enabled=False).stats == {}
    report = job(desks[0], enabled=True)
    assert report.status == "completed"
    assert report.stats == {"scopes": 2, "curated": 4}
    assert set(desks[0].says(*notes)) == {"active"}
    desks[0].hearer.hear(SAID[3])
    assert job(desks[0], enabled=True).stats == {"scopes_spent": 1}


def test_a_pass_that_curates_nothing_tells_the_reasons(desk: Desk) -> None:
    assert desk.curate().summary == "no note qualifies for a line: the scope has no note that is not curated yet"
    desk.hearer.hear("The assistant thinks that Maya likes jazz.", trust="assistant")
    desk.hearer.hear("Maya mentioned a tram.", importance=0.1, confidence=0.2)
    gone = desk.hearer.hear("Maya is in Rome this week.")
    desk.hearer.sql("UPDATE slowwave.memories SET valid_to = :at WHERE id = :id", id=gone, at=desk.now)
    report = desk.curate()
    assert report.state == "nothing"
    assert report.summary == (
        "no note qualifies for a line: of 3 notes, 1 ended, 1 claimed by an assistant or a task alone,"
        " 1 not important and certain enough"
    )
