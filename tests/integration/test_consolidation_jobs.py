"""The jobs: a pass over each scope in which something is due, in one run; a bad scope holds up none of the others."""

from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest
from sqlalchemy import Engine

from slowwave.settings import Settings
from slowwave_server.services.consolidation.jobs import RUNNERS
from slowwave_server.services.consolidation.scope_lock import scope_lock
from slowwave_server.services.maintenance.scheduler import JobReport, Scheduler
from slowwave_server.services.undo.undo import undo
from tests.support.consolidating import NOW, Hearer

pytestmark = pytest.mark.servers


@dataclass
class Office:
    """A scheduler with the runners of this version, and a clock that is moved by hand."""

    engine: Engine
    now: datetime = NOW

    def run(self, job: str, *, dry_run: bool = False) -> JobReport:
        scheduler = Scheduler(self.engine, RUNNERS, Settings(), clock=lambda: self.now, by="test")
        report = scheduler.run_now(job, dry_run=dry_run)
        assert report is not None
        return report


def changed_jobs(hearer: Hearer) -> None:
    hearer.hear(f"{hearer.agent} works at Northwind", days_ago=400)
    hearer.hear(f"{hearer.agent} works at Contoso", days_ago=40)


def test_each_scope_has_a_run_of_its_own_that_is_taken_back_by_itself(engine: Engine) -> None:
    hearers = [Hearer(engine, agent=name) for name in ("Maya", "Jonas", "Priya")]
    for hearer in hearers:
        changed_jobs(hearer)
    before = [hearer.standing() for hearer in hearers]
    report = Office(engine).run("light-10")
    assert report.status == "completed"
    assert report.stats["superseded"] == 3
    assert report.stats["scopes"] == 3
    assert [hearer.standing() for hearer in hearers] != before
    after = [hearer.standing() for hearer in hearers]
    (jonas,) = hearers[1].sql("SELECT id FROM slowwave.maintenance_runs WHERE scope_id = :s", s=hearers[1].scope_id)
    undo(engine, "default", jonas.id, by="test", now=NOW)
    assert [hearer.standing() for hearer in hearers] == [after[0], before[1], after[2]]


def test_a_scope_that_somebody_else_is_at_is_left_alone(engine: Engine) -> None:
    busy, free = Hearer(engine, agent="Maya"), Hearer(engine, agent="Jonas")
    changed_jobs(busy)
    changed_jobs(free)
    with scope_lock(engine, busy.scope_id) as ours:
        assert ours
        report = Office(engine).run("light-10")
    assert report.stats["scopes_busy"] == 1
    assert report.stats["superseded"] == 1


def test_a_dry_run_of_a_job_changes_nothing(engine: Engine) -> None:
    hearer = Hearer(engine, agent="Maya")
    changed_jobs(hearer)
    before = hearer.standing()
    report = Office(engine).run("deep-weekly", dry_run=True)
    assert report.stats["superseded"] == 1
    assert hearer.standing() == before


def test_mistake_41_the_daily_job_lets_questions_lapse(engine: Engine) -> None:
    hearer = Hearer(engine, agent="Maya")
    hearer.hear("Maya works at Northwind", days_ago=100)
    claim = hearer.hear("Maya works at Contoso", days_ago=20, trust="assistant")
    office = Office(engine)
    office.run("light-10")
    assert hearer.memory(claim).status == "review"
    office.now += timedelta(days=15)
    assert office.run("light-10").stats["lapsed"] == 1
    assert hearer.memory(claim).archive_reason == "review expired"


def test_mistake_13_an_active_scope_is_consolidated_without_ever_being_idle(engine: Engine) -> None:
    hearer = Hearer(engine, agent="Maya")
    changed_jobs(hearer)
    hearer.hear("Maya is saying something this very moment", days_ago=0, session="busy")
    assert Office(engine).run("light-10").stats["superseded"] == 1
