"""An undo of a job's run undoes the runs that it had started, and never silently does nothing."""

from datetime import timedelta

import pytest
from sqlalchemy import Engine

from slowwave.settings import AutoFlush, Curation, MemorySettings, Settings
from slowwave_server.services.consolidation import jobs
from slowwave_server.services.curation import job as curation_job
from slowwave_server.services.maintenance.scheduler import JobReport, Scheduler
from slowwave_server.services.reports.runs import read_run
from slowwave_server.services.undo.checks import CannotUndo
from slowwave_server.services.undo.report import UndoReport
from slowwave_server.services.undo.undo import undo
from tests.support.consolidating import NOW, Hearer
from tests.support.passing import state

pytestmark = pytest.mark.servers


def run_job(engine: Engine, job: str, *, dry_run: bool = False, days: int = 0) -> JobReport:
    rules = MemorySettings(auto_flush=AutoFlush(curation=Curation(enabled=True)))
    runners = {**jobs.RUNNERS, **curation_job.RUNNERS}
    scheduler = Scheduler(engine, runners, Settings(memory=rules), clock=lambda: NOW + timedelta(days=days), by="test")
    report = scheduler.run_now(job, dry_run=dry_run)
    assert report is not None
    return report


def undone(engine: Engine, run: int) -> UndoReport:
    return undo(engine, "default", run, by="priya", now=NOW)


def three(engine: Engine) -> list[Hearer]:
    hearers = [Hearer(engine, agent=name) for name in ("Maya", "Jonas", "Priya")]
    for hearer in hearers:
        hearer.hear(f"{hearer.agent} works at Northwind", days_ago=400)
        hearer.hear(f"{hearer.agent} works at Contoso", days_ago=40)
        hearer.hear(f"{hearer.agent} likes sushi", days_ago=35, session="a")
        hearer.hear(f"{hearer.agent} does not like sushi", days_ago=35, session="b")
    return hearers


def open_questions(hearer: Hearer) -> int:
    return int(hearer.sql("SELECT count(*) AS n FROM slowwave.review_items WHERE state = 'open'")[0].n)


def test_undo_of_a_light_job_takes_its_questions_along(engine: Engine) -> None:
    hearers = three(engine)
    before = state(engine)
    job = run_job(engine, "light-10")
    assert open_questions(hearers[0]) == 3
    after = state(engine)
    report = undone(engine, job.run)
    assert state(engine) == before
    assert (report.questions, len(report.parts), report.refused) == (3, 3, ())
    assert f"run {job.run} undone, with 3 runs that it had started: " in report.summary
    again = undone(engine, report.run)
    assert state(engine) == after
    assert (again.questions, again.again) == (3, True)


def test_undo_of_a_curation_job_returns_each_note(engine: Engine) -> None:
    for hearer in three(engine):
        hearer.hear(f"{hearer.agent} is allergic to peanuts.", importance=0.9, confidence=0.8)
    before = state(engine)
    job = run_job(engine, "curation")
    assert job.stats["curated"] >= 3
    report = undone(engine, job.run)
    assert report.restored == job.stats["curated"]
    assert state(engine) == before


def test_undo_of_a_job_names_the_runs_that_stay(engine: Engine) -> None:
    hearers = three(engine)
    job = run_job(engine, "light-10")
    (memory,) = hearers[0].sql(
        "SELECT id, revision FROM slowwave.memories WHERE superseded_by IS NOT NULL AND scope_id = :s",
        s=hearers[0].scope_id,
    )
    hearers[0].sql("UPDATE slowwave.memories SET valid_to = now() WHERE id = :id", id=memory.id)
    report = undone(engine, job.run)
    assert len(report.parts) == 2
    (reason,) = report.refused
    assert "valid_to of memory" in reason
    with engine.connect() as connection:
        assert read_run(connection, "default", job.run).run.status == "completed"
    hearers[0].sql("UPDATE slowwave.memories SET superseded_by = NULL, valid_to = NULL WHERE id = :id", id=memory.id)
    with pytest.raises(CannotUndo, match="and not what the run left there"):
        undone(engine, job.run)


def test_a_second_undo_of_a_job_says_why_not(engine: Engine) -> None:
    three(engine)
    job = run_job(engine, "light-10")
    report = undone(engine, job.run)
    with pytest.raises(CannotUndo, match=f"undone already, by run {report.run}"):
        undone(engine, job.run)


def test_undo_of_an_idle_or_dry_job_says_why_not(engine: Engine) -> None:
    idle = run_job(engine, "light-10")
    with pytest.raises(CannotUndo, match="it changed no memory, question or note"):
        undone(engine, idle.run)
    three(engine)
    dry = run_job(engine, "light-10", dry_run=True)
    with pytest.raises(CannotUndo, match="it was a dry run and changed nothing"):
        undone(engine, dry.run)


def test_i8_undo_of_a_job_leaves_other_tenants_alone(engine: Engine) -> None:
    hearers = three(engine)
    hearers[2].sql("UPDATE slowwave.agents SET tenant = 'acme' WHERE name = 'Priya'")
    hearers[2].sql("UPDATE slowwave.scopes SET tenant = 'acme' WHERE name = 'Priya'")
    job = run_job(engine, "light-10")
    acme = hearers[2].standing()
    report = undone(engine, job.run)
    assert len(report.parts) == 2
    assert hearers[2].standing() == acme
    with pytest.raises(CannotUndo, match="the runs that it had started were undone already"):
        undone(engine, job.run)
    assert len(undo(engine, "acme", job.run, by="priya", now=NOW).parts) == 1
    assert hearers[2].standing() != acme


def test_lapsed_questions_of_a_job_are_open_again(engine: Engine) -> None:
    hearer = Hearer(engine, agent="Maya")
    hearer.hear("Maya works at Northwind", days_ago=100)
    claim = hearer.hear("Maya works at Contoso", days_ago=20, trust="assistant")
    run_job(engine, "light-10")
    later = run_job(engine, "light-10", days=15)
    assert hearer.memory(claim).archive_reason == "review expired"
    undone(engine, later.run)
    assert hearer.memory(claim).status == "review"
    assert open_questions(hearer) == 1


def test_a_job_run_lists_the_runs_that_it_started(engine: Engine) -> None:
    three(engine)
    job = run_job(engine, "light-10")
    with engine.connect() as connection:
        parts = read_run(connection, "default", job.run).parts
        assert len(parts) == 3
        assert {read_run(connection, "default", part).run.part_of for part in parts} == {job.run}
        assert read_run(connection, "acme", job.run).parts == ()
