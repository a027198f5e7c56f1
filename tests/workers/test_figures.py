"""Figures are right for several workers with processes and with threads: every task is counted once, where it ended."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from sqlalchemy import Engine, func, select

from slowwave import Memory
from slowwave.coordination.flush_queue import redis_from_url
from slowwave_server.models import Flush
from slowwave_server.models.engine import make_engine
from slowwave_server.services.reports.metrics.reading import Sources
from slowwave_server.workers.shared.listening import listening
from tests.support.processes import wait_until
from tests.support.scraping import scrape
from tests.workers.effects import until_flushed
from tests.workers.fleet import PLAIN_APP, Fleet

pytestmark = [pytest.mark.long, pytest.mark.servers, pytest.mark.workers, pytest.mark.timeout(180)]


@pytest.fixture
def sources(fleet: Fleet) -> Iterator[Sources]:
    settings = fleet.settings()
    engine, redis = make_engine(settings.database_url), redis_from_url(settings.broker_url)
    yield Sources(settings, engine, redis, lambda: listening(redis, settings), lambda: datetime.now(UTC))
    redis.close()
    engine.dispose()


def test_tasks_of_processes_and_threads_on_two_workers_add_up(
    fleet: Fleet, memory: Memory, look: Engine, sources: Sources
) -> None:
    assert scrape(sources)['workers{queue="flush"}'] == 0
    fleet.worker(app=PLAIN_APP, concurrency=2, ready=False)
    fleet.worker(app=PLAIN_APP, concurrency=2, pool="threads", queues=("flush", "flush.high"))
    wait_until(lambda: scrape(sources).get('workers{queue="flush"}') == 2, 30, "both take from the queue")
    assert scrape(sources)['workers{queue="days"}'] == 1
    for number in range(12):
        for agent in ("maya", "jonas", "priya"):
            session = f"s{number}"
            memory.turn_completed(agent, session, [{"role": "user", "content": f"{agent} keeps thing {number}."}])
            memory.session_idle(agent, session)
    until_flushed(look, 60)

    def committed() -> int:
        with look.connect() as connection:
            return connection.execute(select(func.count()).select_from(Flush)).scalar_one()

    def counted() -> float:
        found = scrape(sources)
        return sum(
            found.get(f'tasks_total{{outcome="{o}",task="slowwave.flush_session"}}', 0) for o in ("stored", "no_reply")
        )

    wait_until(lambda: counted() == committed(), 20, f"each of {committed()} flushes is counted, but {counted()}")
    found = scrape(sources)
    assert committed() == found['recent_flushes{outcome="stored"}'] + found['recent_flushes{outcome="no_reply"}'] >= 36
    assert found['recent_flush_lag_seconds{quantile="0.99"}'] < 60
    assert found['task_seconds_total{task="slowwave.flush_session"}'] > 0
    assert (found["sessions_dirty"], found["waiting_oldest_seconds"]) == (0, 0)
    assert not [name for name in found if "maya" in name]
