"""Thirty days of an agent's life, with a scheduler that was off for a week: what the runs of a month leave behind, and
that taking each of them back leaves what had been without any.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from redis import Redis

from slowwave.settings import Consolidation
from slowwave_server.models.engine import make_engine
from slowwave_server.services.days.book import day_book
from slowwave_server.services.undo.checks import NothingToUndo
from slowwave_server.services.undo.undo import undo
from tests.support.simulating import NEIGHBOUR, NOTED_FIRST, START, Month, conversation, diary_of, visits_of

pytestmark = [pytest.mark.drill, pytest.mark.servers]

OFF = (START + timedelta(days=12), START + timedelta(days=19))
CONVERSATION = 1
# Three days instead of a week, so that passes and what is said between them meet often.
RULES = Consolidation(min_age_days=3)
# What a memory says it says in the words of whoever came first: see test_undo_of_every_run.
FIRST_WORDS = {"content", "entities", "recorded_at", "search"}


@dataclass(frozen=True)
class Past:
    """Two databases after the same month: in one the scheduler was on, in the other no run ever ran."""

    month: Month
    twin: Month


@pytest.fixture(scope="module")
def past(
    postgres_url: str,
    template_database: str,
    valkey_url: str,
    shared_data: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Past]:
    entry = conversation(shared_data, CONVERSATION)
    visits = [*visits_of(entry), *diary_of(entry["sample_id"]), *diary_of(NEIGHBOUR)]
    names = [f"month_{uuid4().hex[:12]}" for _ in range(2)]
    with psycopg.connect(postgres_url, autocommit=True) as admin, Redis.from_url(valkey_url) as redis:
        months = []
        for name, on in zip(names, (True, False), strict=True):
            admin.execute(f"CREATE DATABASE {name} TEMPLATE {template_database} STRATEGY wal_log")
            redis.flushall()
            engine = make_engine(postgres_url.replace("/postgres?", f"/{name}?"))
            month = Month(engine, redis, visits, tmp_path_factory.mktemp(name), RULES)
            month.pass_by(_was_on if on else _never_on)
            months.append(month)
        yield Past(*months)
        for name, month in zip(names, months, strict=True):
            month.engine.dispose()
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


def _was_on(now: datetime) -> bool:
    return not OFF[0] <= now < OFF[1]


def _never_on(_now: datetime) -> bool:
    return False


@pytest.fixture
def month(past: Past) -> Month:
    return past.month


def test_mistake_34_after_a_week_off_each_job_catches_up_exactly_once(month: Month) -> None:
    runs = [run for run in month.runs() if run.job_id is not None]
    assert {run.status for run in runs} == {"completed"}
    # On time while it was on, nothing while it was off, and one run each, not seven, at the first tick after that.
    for job, hour in (("light-10", 10), ("light-15", 15), ("retention", 4), ("curation", 5)):
        assert _moments(runs, job) == sorted({*_every_day(hour), OFF[1]})
    sundays = [START + timedelta(days=day, hours=3) for day in (6, 20, 27)]
    assert _moments(runs, "deep-weekly") == sorted([*sundays, OFF[1]])
    assert {run.job_id for run in runs} == {
        *("light-10", "light-15", "deep-weekly"),
        *("finalize-days", "retention", "curation"),
    }


def test_i5_every_day_that_is_over_is_final_and_adds_up(month: Month) -> None:
    with month.engine.connect() as connection:
        book = day_book(connection, "default", limit=1000)
    over = [entry for entry in book if entry.ref.day < month.clock.now.date()]
    assert len(over) > 30
    assert {entry.status for entry in over} == {"final"}
    assert all(entry.total_messages == entry.last_summarized_total for entry in over)


def _moments(runs: Sequence[Any], job: str) -> list[datetime]:
    return [run.started_at for run in runs if run.job_id == job]


def _every_day(hour: int) -> set[datetime]:
    """The moments of a daily job at `hour`, but for the week in which everything was off."""
    moments = {START + timedelta(days=day, hours=hour) for day in range(30)}
    return {moment for moment in moments if not OFF[0] <= moment < OFF[1]}


def test_the_month_had_work_of_every_kind(month: Month) -> None:
    """Without it the other tests would prove little."""
    actions = {row.action for row in month.rows("SELECT DISTINCT action FROM slowwave.memory_changes WHERE run_id > 0")}
    assert {"created", "repeated", "promoted", "merged", "sourced", "superseded", "holding", "conflict"} <= actions
    assert {"linked", "review"} <= actions
    assert month.count("FROM slowwave.review_items") > 0
    assert month.count("FROM slowwave.triples") > 0
    outcomes = {row.outcome for row in month.rows("SELECT DISTINCT outcome FROM slowwave.working_memory")}
    assert {"consolidated", "duplicate", "expired"} <= outcomes
    assert not month.count("FROM slowwave.maintenance_runs WHERE (stats ->> 'failed')::int > 0")


def test_i6_no_memory_is_without_evidence_and_every_archived_one_says_why(month: Month) -> None:
    bare = month.rows(
        "SELECT m.content FROM slowwave.memories m"
        " WHERE NOT EXISTS (SELECT FROM slowwave.memory_sources s WHERE s.memory_id = m.id)"
        "   AND NOT EXISTS (SELECT FROM slowwave.memory_notes n WHERE n.memory_id = m.id)"
    )
    assert not bare
    assert not month.count("FROM slowwave.memories WHERE (status = 'archived') <> (archive_reason IS NOT NULL)")
    assert not month.count("FROM slowwave.memories WHERE (merged_into IS NULL) = (archive_reason = 'merged')")
    chains = "FROM slowwave.memories m JOIN slowwave.memories s ON s.id = m.merged_into WHERE s.status = 'archived'"
    assert not month.count(chains)
    unknown = (
        "FROM slowwave.memories m WHERE m.status = 'archived' AND NOT EXISTS ("
        " SELECT FROM slowwave.memory_changes c WHERE c.memory_id = m.id AND c.after ->> 'status' = 'archived'"
        " AND c.reason <> '')"
    )
    assert not month.count(unknown)


def test_i6_both_sides_of_a_conflict_stay_readable_and_are_linked(month: Month) -> None:
    conflicts = month.count("FROM slowwave.memory_conflicts")
    assert conflicts > 0
    whole = (
        "FROM slowwave.memory_conflicts k"
        " JOIN slowwave.memories a ON a.id = k.memory_id AND a.scope_id = k.scope_id AND a.content <> ''"
        " JOIN slowwave.memories b ON b.id = k.conflicting_memory_id AND b.scope_id = k.scope_id AND b.content <> ''"
        " WHERE EXISTS (SELECT FROM slowwave.memory_links l WHERE l.predicate = 'contradicts' AND l.ended_by IS NULL"
        "  AND (l.source_id, l.target_id) IN ((a.id, b.id), (b.id, a.id)))"
    )
    assert month.count(whole) == conflicts
    undecided = "FROM slowwave.memory_conflicts WHERE (status = 'open') <> (decided_at IS NULL)"
    assert not month.count(undecided)


def test_i8_links_triples_conflicts_and_evidence_never_leave_their_scope(month: Month) -> None:
    ends = (
        ("memory_links", "source_id", "target_id"),
        ("memory_conflicts", "memory_id", "conflicting_memory_id"),
        ("memories", "id", "merged_into"),
        ("memories", "id", "superseded_by"),
    )
    for table, one, other in ends:
        pairs = (
            f"FROM slowwave.{table} t JOIN slowwave.memories a ON a.id = t.{one}"
            f" JOIN slowwave.memories b ON b.id = t.{other} WHERE"
        )
        assert month.count(f"{pairs} a.scope_id = b.scope_id") > 0, table
        assert not month.count(f"{pairs} a.scope_id <> b.scope_id"), table
    for table in ("triples", "memory_blocks"):
        joined = f"FROM slowwave.{table} t JOIN slowwave.memories m ON m.id = t.memory_id"
        assert not month.count(f"{joined} WHERE m.scope_id <> t.scope_id"), table
    assert not month.count(
        "FROM slowwave.memory_sources s JOIN slowwave.memories m ON m.id = s.memory_id"
        " JOIN slowwave.sessions z ON z.id = s.session_id WHERE z.scope_id <> m.scope_id"
    )
    assert not month.count(
        "FROM slowwave.memory_notes n JOIN slowwave.memories m ON m.id = n.memory_id"
        " JOIN slowwave.working_memory w ON w.id = n.working_id WHERE w.scope_id <> m.scope_id"
    )


def test_the_statistics_of_each_run_add_up_with_what_is_written_down_of_it(month: Month) -> None:
    changes = _changes_by_run(month)
    rows = {
        table: Counter(row.run_id for row in month.rows(f"SELECT run_id FROM slowwave.{table} WHERE run_id > 0"))
        for table in ("memory_conflicts", "review_items", "triples", "working_memory")
    }
    for run in month.runs():
        noted, stats = changes[run.id], run.stats
        if run.kind == "working":
            assert stats["persisted"] == noted["created"], run
            assert stats["links"] == noted["linked"], run
            assert stats["gathered"] == stats["persisted"] + stats["duplicates"] + stats["failed"], run
            assert stats["gathered"] + stats["expired"] == rows["working_memory"][run.id], run
            assert stats["triples"] == rows["triples"][run.id], run
        elif run.job_id is None:
            assert {name: stats.get(name, 0) for name in _CHANGES} == {name: noted[name] for name in _CHANGES}, run
            assert stats.get("conflicts", 0) == rows["memory_conflicts"][run.id] == noted["conflict"] / 2, run
            assert stats.get("asked", 0) == rows["review_items"][run.id], run
            assert stats.get("triples", 0) == rows["triples"][run.id], run


def test_a_job_tells_the_sum_of_its_passes_and_changes_nothing_itself(month: Month) -> None:
    runs, changes = month.runs(), _changes_by_run(month)
    jobs = [run for run in runs if run.job_id in {"light-10", "light-15", "deep-weekly"}]
    assert jobs
    for job in jobs:
        passes = [run for run in runs if run.started_by == f"{job.job_id}, run {job.id}" and run.kind == job.kind]
        summed = sum((Counter(_counted(run)) for run in passes), Counter())
        told = {name: number for name, number in job.stats.items() if name != "lapsed"}
        assert told == {name: number for name, number in summed.items() if number} | (
            {"scopes": len(passes)} if passes else {}
        ), job
        assert not changes[job.id]
    assert len({run.scope_id for run in runs if run.kind == "deep" and run.job_id is None}) == 2


def _counted(run: Any) -> dict[str, int]:
    """The counts of a pass. Its figures about replayed questions have no sum."""
    return {name: number for name, number in run.stats.items() if name not in _REPLAYED}


_REPLAYED = {"replayed", "replay_ms", "not_replayed", "lost"} | {
    f"{kind}_{when}" for kind in ("evidence", "rolled_back_evidence") for when in ("before", "after")
}
_CHANGES = ("merged", "moved", "unmerged", "promoted", "demoted", "superseded", "holding", "review", "linked")


def _changes_by_run(month: Month) -> defaultdict[int, Counter[str]]:
    changes: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for row in month.rows("SELECT run_id, action, before FROM slowwave.memory_changes WHERE run_id IS NOT NULL"):
        # A part that goes from one survivor to another was archived before.
        moved = row.action == "merged" and row.before.get("status", "archived") == "archived"
        changes[row.run_id]["moved" if moved else row.action] += 1
    return changes


def test_undo_of_every_run_the_last_one_first_leaves_what_would_be_without_any(
    past: Past, postgres_url: str, valkey_url: str
) -> None:
    name = f"undone_{uuid4().hex[:12]}"
    past.month.engine.dispose()
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        source = past.month.engine.url.database
        admin.execute(f"CREATE DATABASE {name} TEMPLATE {source} STRATEGY wal_log".encode())
        engine = make_engine(postgres_url.replace("/postgres?", f"/{name}?"))
        undone = replace(past.month, engine=engine)
        before = undone.state()
        for run in reversed(undone.runs()):
            with suppress(NothingToUndo):
                undo(engine, "default", run.id, by="a test", now=undone.clock())
        standing = "FROM slowwave.maintenance_runs r WHERE r.kind <> 'undo' AND r.status <> 'undone'"
        changed = "EXISTS (SELECT FROM slowwave.memory_changes c WHERE c.run_id = r.id)"
        assert not undone.count(f"{standing} AND {changed}")
        after, twin = undone.state(), past.twin.state()
        engine.dispose()
        admin.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())
    assert before["memories"] != after["memories"], "there was something to undo"
    noted_first = [row for row in after["memories"] if json.loads(row)["content"] == NOTED_FIRST]
    assert len(noted_first) == 2, "a cycle made it in both scopes, a flush heard it since: it stays on what was heard"
    # It stays in the words of the note, as the memory that it was when it was heard; its evidence is the flush's alone.
    kept = {json.loads(row)["id"] for row in noted_first}
    for table, rows in twin.items():
        assert _without_first_words(after[table], kept) == _without_first_words(rows, kept), table


def _without_first_words(rows: list[str], kept: set[str]) -> list[str]:
    documents = [json.loads(row) for row in rows]
    return [
        json.dumps({key: value for key, value in one.items() if one.get("id") not in kept or key not in FIRST_WORDS})
        for one in sorted(documents, key=lambda one: json.dumps([one.get("id"), one]))
    ]
