"""Failures on a stage: for each its alert fires in a real Prometheus, and the doctor says the same words.

Real exporter, real worker and beat, a model's endpoint that fails when it is told to. What would take days to become
old is made old in the database.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from proof.fake_model import FakeModel
from proof.fake_replies import Reply, server_error
from slowwave import Memory
from slowwave.coordination.queue_messages import envelope, publish
from tests.support.dashboard import targets
from tests.support.processes import wait_until
from tests.support.reviewing import Dispute
from tests.workers.collector import Collector, collecting
from tests.workers.fleet import PLAIN_APP, Fleet
from tests.workers.servers import OwnValkey
from tests.workers.watching import PATIENCE, Watch

pytestmark = [pytest.mark.long, pytest.mark.servers, pytest.mark.workers]

_AGE = text(
    "UPDATE slowwave.sessions SET dirty_since = now() - interval '20 minutes',"
    " flush_due_at = now() - interval '5 minutes' WHERE dirty_since IS NOT NULL"
)
DEAR = Reply("NO_REPLY", usage=(7000, 100))
"""Of a cap of 8,000 tokens less is left then than the longest answer takes."""


@pytest.fixture(scope="module")
def model() -> Iterator[FakeModel]:
    with FakeModel(server_error(503)) as model:
        yield model


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    with collecting() as collector:
        yield collector


@pytest.fixture(scope="module")
def fleet(
    module_database: str, own_valkey: OwnValkey, folder: Path, model: FakeModel, collector: Collector
) -> Iterator[Fleet]:
    """A fleet whose model is this one, soon given up and soon tried again."""
    settings = {
        "DRIVER": "openai",
        "MODEL": "fake-1",
        "BASE_URL": model.base_url,
        "API_KEY": "no-key",
        "BREAKER_FAILURES": "1",
        "BREAKER_SECONDS": "3",
        "DAILY_TOKEN_BUDGET": "8000",
        "TIMEOUT_SECONDS": "5",
    }
    short = {"SLOWWAVE_MEMORY__AUTO_FLUSH__TURN_THRESHOLD": "0"}
    variables = short | {f"SLOWWAVE_MEMORY__LLM__{name}": value for name, value in settings.items()}
    fleet = Fleet(module_database, own_valkey.url, folder, **variables)
    yield fleet
    fleet.end()


def test_each_staged_failure_is_an_alert_and_what_the_doctor_says(
    fleet: Fleet, look: Engine, model: FakeModel, own_valkey: OwnValkey, collector: Collector, tmp_path: Path
) -> None:
    watch = Watch(fleet, tmp_path)
    with Memory(fleet.settings()) as memory:
        _talk(memory, "atlas", "monday")
        _leave_questions(look)
        with look.begin() as connection:
            connection.execute(_AGE)
        try:
            watch.begin()
            watch.shows(
                *("no-worker", "sweeps-silent", "session-overdue", "backlog-grows", "review-old", "conflicts-old")
            )

            fleet.worker(app=PLAIN_APP, concurrency=2, **collector.variables)
            fleet.beat()
            bad = envelope("slowwave.record_turn", ["atlas", "x"], {"messages": 7}, "capture", task_id="bad")
            publish(own_valkey.client, "capture", bad)
            watch.shows("model-down", "dead-letters")
            watch.ends("no-worker", "sweeps-silent")

            model.forget(DEAR)
            _talk(memory, "iris", "tuesday")
            wait_until(lambda: model.answered > 0, PATIENCE, "the model answers a flush")
            watch.shows("budget-spent")
            assert _asked_within(collector) == {"run/slowwave.flush_session"}
            watch.shell("note", "add", "iris", "Jonas's favourite fruit is a pear.", "--importance", "0.9")
            assert "working (run" in watch.shell("memory", "consolidate", "iris")
            own_valkey.client.config_set("maxmemory", "1gb")  # as compose.yaml gives it a limit
            _each_expression_gives_a_result(watch)

            own_valkey.stop()
            watch.shows("broker-away")
            watch.exporter.kill()
            wait_until(lambda: "SlowwaveExporterAway" in watch.firing(), PATIENCE, "the exporter is missed")
        finally:
            watch.end()


def _asked_within(collector: Collector) -> set[str]:
    """The names of the spans within which the model was asked: of those of a task, whose own come when it has ended."""
    wait_until(lambda: bool(_asking_tasks(collector)), PATIENCE, "a call of the model is a span within a task's")
    return _asking_tasks(collector)


def _asking_tasks(collector: Collector) -> set[str]:
    names = {span.span: span.name for span in collector.spans}
    calls = [span for span in collector.spans if span.name == "chat openai fake-1"]
    return {names[call.parent] for call in calls if call.parent in names}


def _talk(memory: Memory, agent: str, session: str) -> None:
    memory.turn_completed(agent, session, [{"role": "user", "content": "I am Jonas, and I moved to Porto in May."}])


def _leave_questions(look: Engine) -> None:
    """A contradiction, and a question about it, that nobody has looked at for three weeks."""
    dispute = Dispute(look)
    newer, older = dispute.memory("Maya works at Initech."), dispute.memory("Maya works at Globex.", days=30)
    dispute.conflict(newer, older, tier="high", now=datetime.now(UTC) - timedelta(days=21))


def _each_expression_gives_a_result(watch: Watch) -> None:
    """The dashboard's: what gives nothing would be an empty panel. Rates need two scrapes, flushes one commit."""
    expressions = [expr for _, expr, _ in targets()]
    empty: list[str] = []

    def all_filled() -> bool:
        empty[:] = [expr for expr in expressions if not watch.query(expr)]
        return not empty

    try:
        wait_until(all_filled, PATIENCE, "every panel of the dashboard shows something")
    except AssertionError:
        assert empty == []
