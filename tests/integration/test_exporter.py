"""The exporter: figures that are right, few questions for them, and the truth about a server that is away."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest
from redis import Redis
from sqlalchemy import Engine, event, insert, text

from slowwave.coordination.flush_queue import FlushQueue, redis_from_url
from slowwave.coordination.keys import QUEUES
from slowwave.coordination.queue_messages import envelope, new_id, publish
from slowwave.identity import SessionRef
from slowwave_server.models import MaintenanceRun, OutboxItem
from slowwave_server.models.driver import head_revision
from slowwave_server.models.engine import make_engine
from slowwave_server.models.schema import migrate
from slowwave_server.services.maintenance.heartbeat import note_sweep
from slowwave_server.services.memory_files.backends import choose_backend
from slowwave_server.services.reports.metrics import (
    broker,
    budgets,
    deliveries,
    flushes,
    reading,
    runs,
    sessions,
    waiting_for_people,
)
from slowwave_server.services.reports.metrics.broker import FirstSeen, read_broker, read_leases
from slowwave_server.services.reports.spool_check import Spool
from slowwave_server.services.task_counts import note_reclaimed, note_task
from slowwave_server.workers.exporter.catalogue import CATALOGUE
from slowwave_server.workers.exporter.collector import FiguresCollector
from slowwave_server.workers.exporter.metrics_page import metrics_page
from slowwave_server.workers.exporter.server import metrics_text, registry_of
from tests.support.installation import NOW, Installation, ago
from tests.support.scraping import filled, parsed, scrape, sources

pytestmark = pytest.mark.servers

ROOT = Path(__file__).parent.parent.parent
NOWHERE = "postgresql://slowwave@127.0.0.1:1/slowwave"


@pytest.fixture
def past(engine: Engine) -> Installation:
    return filled(engine)


def test_figures_of_postgres_are_those_of_all_tenants(past: Installation, redis_client: Redis) -> None:
    found = scrape(sources(past.engine, redis_client, tenants=["default"]))
    assert found['up{server="postgres"}'] == found['up{server="broker"}'] == found["schema_current"] == 1
    head = head_revision()
    assert found[f'schema_info{{needed="{head}",revision="{head}"}}'] == 1
    assert (found["sessions_dirty"], found["events_waiting"]) == (3, 4)
    assert (found["dirty_oldest_seconds"], found["waiting_oldest_seconds"], found["dirty_limit_seconds"]) == (
        90,
        90,
        600,
    )
    assert (found["sessions_overdue"], found["overdue_oldest_seconds"], found["sessions_timeless"]) == (1, 60, 0)
    assert (found["sessions_backing_off"], found["sessions_failing"]) == (1, 1)
    assert found['recent_flushes{outcome="stored"}'] == 2
    assert found['recent_flushes{outcome="quarantined"}'] == 1
    assert found['recent_flush_lag_seconds{quantile="0.5"}'] == 10
    assert (found["events_quarantined"], found["dead_letters_open"], found["conflicts_open"]) == (1, 1, 0)
    assert found['recent_runs{kind="light",status="completed"}'] == 1
    assert found['recent_run_seconds{kind="light",statistic="mean"}'] == 30
    assert found['budget_tokens_used{model="openai tiny",period="day",tenant="*"}'] == 950
    assert found['budget_tokens_used{model="openai tiny",period="day",tenant="default"}'] == 10
    assert not [name for name in found if "acme" in name], "a tenant is named only where that was asked for"
    assert found['budget_tokens_cap{model="openai tiny",period="day"}'] == 1000
    assert found['budget_spent_tenants{period="day"}'] == 1, "its longest answer does not fit any more"
    assert found['budget_calls{period="day"}'] == 6


def test_jobs_and_deliveries_are_told_by_name(past: Installation, redis_client: Redis) -> None:
    before = scrape(sources(past.engine, redis_client))
    assert not [name for name in before if name.startswith("outbox")], "nothing is fed"
    choose_backend(past.engine, "file", NOW)
    scope = past.scope("butler")
    memory = past.memory(scope, "Jonas lives in Porto.", [])
    with past.engine.begin() as connection:
        item = {"memory_id": memory, "scope_id": scope, "backend": "file", "changes": 2, "delivered": 1}
        connection.execute(insert(OutboxItem).values(**item, queued_at=ago(45), last_error="No space left"))
        run = {"job_id": "light-10", "kind": "light", "started_at": ago(9), "completed_at": ago(8)}
        for status in ("failed", "completed", "failed", "failed"):
            connection.execute(insert(MaintenanceRun), run | {"status": status})
        weekly = run | {"job_id": "deep-weekly", "kind": "deep"}
        for status in ("failed", "completed"):
            connection.execute(insert(MaintenanceRun), weekly | {"status": status})
    found = scrape(sources(past.engine, redis_client))
    assert found['outbox_waiting{backend="file"}'] == found['outbox_failing{backend="file"}'] == 1
    assert found['outbox_oldest_seconds{backend="file"}'] == 45
    assert found['job_failures{maintenance_job="light-10"}'] == 2
    assert found['job_failures{maintenance_job="deep-weekly"}'] == 0, "its latest run did not fail"


def test_figures_of_the_broker(engine: Engine, redis_client: Redis) -> None:
    queue = FlushQueue(redis_client, lease_seconds=60)
    one, two, three = (SessionRef("default", agent, "s:running") for agent in ("atlas", "butler", "concierge"))
    also = SessionRef("default", "atlas", "another")
    for ref in (one, two, three, also):
        queue.offer(ref, "normal")
    queue.claim(one, new_id())
    words = "My bicycle is green."
    publish(
        redis_client,
        "capture",
        envelope("slowwave.record_turn", [], {"content": f'"id": "{words}"'}, "capture", task_id="t1"),
    )
    note_sweep(redis_client)
    for outcome in ("stored", "stored", "stale"):
        note_task(redis_client, "slowwave.flush_session", {outcome: 1}, 0.25)
    note_reclaimed(redis_client)
    read = sources(engine, redis_client)
    found = scrape(read)
    assert found['queue_messages{queue="flush"}'] == 3
    assert found['queue_messages{queue="days"}'] == 0
    assert (found["leases"], found["tickets"], found["sessions_parked"]) == (1, 2, 1)
    assert 0 <= found["sweep_age_seconds"] < 5
    assert (found['workers{queue="flush.high"}'], found['workers{queue="days"}']) == (2, 1)
    assert found['tasks_total{outcome="stored",task="slowwave.flush_session"}'] == 2
    assert found['tasks_total{outcome="stale",task="slowwave.flush_session"}'] == 1
    assert found['task_seconds_total{task="slowwave.flush_session"}'] == 0.75
    assert found["flush_reclaims_total"] == 1
    assert found['broker_keeps_messages{what="disk"}'] == found['broker_keeps_messages{what="memory"}'] == 1
    assert found['model_state{state="fine"}'] == 1
    assert words not in f"{found}"


def test_the_age_of_a_message_is_its_own_or_since_it_was_seen(redis_client: Redis) -> None:
    redis_client.flushall()
    seen = FirstSeen()
    assert read_broker(redis_client, seen).queue_oldest_seconds == {(queue,): 0.0 for queue in QUEUES}
    FlushQueue(redis_client).offer(SessionRef("default", "atlas", "s1"), "high")
    # As other programs write them: without blanks, or with words that look like an id.
    publish(redis_client, "days", json.dumps({"body": '"id": "x"', "headers": {"id": "d1"}}, separators=(",", ":")))
    first = read_broker(redis_client, seen).queue_oldest_seconds
    assert 0 < first["flush.high",] < 5
    assert first["days",] == 0
    assert seen.age("days", "d1", 1e12) > 1e9, "the same message"
    assert seen.age("days", "d2", 1e12) == 0
    assert seen.age("days", "", 1e12) == seen.age("days", "d2", 1e12) == 0, "it came anew"


def test_with_more_keys_than_are_looked_at_nobody_knows_the_leases(redis_client: Redis) -> None:
    redis_client.mset({f"slowwave:{{default/a{number}}}:session:s": "pending high x" for number in range(50)})
    assert read_leases(redis_client).tickets == 50
    assert read_leases(redis_client, rounds=1, keys_a_round=1).tickets is None


@contextmanager
def counted(engine: Engine) -> Iterator[list[str]]:
    asked: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        asked.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    try:
        yield asked
    finally:
        event.remove(engine, "before_cursor_execute", note)


def test_a_scrape_asks_few_questions_however_much_there_is(past: Installation, redis_client: Redis) -> None:
    def calls() -> int:
        return sum(stat["calls"] for stat in redis_client.info("commandstats").values() if isinstance(stat, dict))

    def cost() -> tuple[int, int]:
        before = calls()
        with counted(past.engine) as asked:
            scrape(sources(past.engine, redis_client))
        return len(asked), calls() - before

    scrape(sources(past.engine, redis_client))  # a server that is new to the scripts
    few = cost()
    agent, scope = past.agent("busy"), past.scope("busy")
    for number in range(40):
        session = past.session(agent, scope, f"s{number}", ("Maya", "Hello."), flush_due_at=ago(60))
        past.flush(session, (1, 1), committed_at=ago(2))
        FlushQueue(redis_client).offer(SessionRef("default", "busy", f"s{number}"), "normal")
    many = cost()
    assert many[0] == few[0] <= 25
    assert many[1] - few[1] <= 5, "no call a session"
    assert few[1] <= 40


def test_a_server_that_is_away_is_told_and_what_it_knows_is_absent(past: Installation, redis_client: Redis) -> None:
    away = redis_from_url("redis://127.0.0.1:1/0")
    found = scrape(sources(past.engine, away))
    assert (found['up{server="broker"}'], found['up{server="postgres"}'], found["sessions_dirty"]) == (0, 1, 3)
    assert not [name for name in found if name.startswith(("queue", "workers", "leases", "tasks", "sweep_age"))]
    found = scrape(sources(make_engine(NOWHERE), redis_client))
    assert (found['up{server="broker"}'], found['up{server="postgres"}']) == (1, 0)
    assert not [name for name in found if name.startswith(("sessions_dirty", "recent", "review", "budget", "schema"))]
    assert found['queue_messages{queue="flush"}'] == 0


def test_a_schema_of_another_revision_is_told_and_its_figures_are_absent(engine: Engine, redis_client: Redis) -> None:
    migrate(engine, "0100")
    with engine.begin() as connection:  # a table that only the newer schema has
        connection.execute(text("DROP TABLE slowwave.memory_conflicts CASCADE"))
    found = scrape(sources(engine, redis_client))
    assert (found['up{server="postgres"}'], found["schema_current"]) == (1, 0)
    assert found[f'schema_info{{needed="{head_revision()}",revision="0100"}}'] == 1
    assert "conflicts_open" not in found


def test_a_server_that_says_nothing_counts_as_away_and_is_not_asked_twice() -> None:
    answer, asked = threading.Event(), []

    def mute() -> list[Any]:
        asked.append(1)
        answer.wait(30)
        return []

    now = iter(range(0, 10_000, 10))
    collector = FiguresCollector(
        {"postgres": mute, "broker": list}, list, about=("1", "3"), deadline=0.05, monotonic=lambda: float(next(now))
    )
    for _ in range(3):
        assert parsed(metrics_text(registry_of(collector)))['up{server="postgres"}'] == 0
    assert asked == [1]
    patient = FiguresCollector({"postgres": mute}, list, about=("1", "3"), deadline=0.05)
    assert parsed(metrics_text(registry_of(patient)))["scrape_seconds"] >= 0.05
    answer.set()
    patient.close()
    collector.close()


def test_scrapes_at_once_share_one_reading() -> None:
    asked = []
    collector = FiguresCollector(
        {"broker": lambda: asked.append(1) or []}, list, about=("1", "3"), monotonic=lambda: 5.0
    )
    first, second = (metrics_text(registry_of(collector)) for _ in range(2))
    assert (first, asked) == (second, [1])
    collector.close()


def test_every_metric_is_read_and_every_figure_is_a_metric() -> None:
    groups = [
        group
        for module in (broker, budgets, deliveries, flushes, reading, runs, sessions, waiting_for_people)
        for group in vars(module).values()
        if is_dataclass(group) and group.__module__ == module.__name__
    ]
    inner = {"Usage", "Job", "Waiting", "Reading", "FirstSeen", "Sources"}
    named = {field.name for group in [*groups, Spool] if group.__name__ not in inner for field in fields(group)}
    assert named | {"build_info", "scrape_seconds"} == set(CATALOGUE)


def test_docs_metrics_is_written_from_the_catalogue() -> None:
    assert (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8") == metrics_page(CATALOGUE.values())
