"""Beats: two of them do no harm, ticks that nobody takes expire, and a dead one is noticed."""

import json

import pytest
from sqlalchemy import Engine

from slowwave import Memory
from slowwave.coordination.keys import HIGH_QUEUE
from slowwave_server.services.maintenance.heartbeat import swept_ago
from slowwave_server.services.reports.sweeping import check_sweeps
from tests.support.processes import wait_until
from tests.workers.effects import check_as_if_nothing_had_happened, check_nothing_is_held, until_flushed
from tests.workers.fleet import Fleet
from tests.workers.servers import OwnValkey

pytestmark = [pytest.mark.long, pytest.mark.servers, pytest.mark.workers, pytest.mark.timeout(180)]


def test_mistake_30_33_ticks_that_nobody_takes_expire_and_two_beats_do_no_harm_and_none_is_noticed(
    fleet: Fleet, memory: Memory, look: Engine, own_valkey: OwnValkey
) -> None:
    beats = [fleet.beat(), fleet.beat()]
    client = own_valkey.client

    def waiting() -> int:
        ticks = [json.loads(raw)["headers"] for raw in client.lrange(HIGH_QUEUE, 0, -1)]
        return sum(tick["task"] == "slowwave.sweep_sessions" for tick in ticks)

    wait_until(lambda: waiting() >= 6, 30, "ticks of both wait for a worker")
    lines = {f"maya keeps thing number {n}." for n in range(30)}
    for number, content in enumerate(sorted(lines)):
        memory.turn_completed("maya", f"s{number % 5}", [{"role": "user", "content": content}])
    missed = waiting()
    worker = fleet.worker(concurrency=2)
    until_flushed(look, 30, "maya")
    wait_until(lambda: client.llen(HIGH_QUEUE) + client.llen("maintenance") == 0, 15, "the backlog of ticks is gone")
    # A worker takes longer to start than a tick lives; those of the last moment may have been in time.
    dropped = worker.log.count("Discarding revoked task: slowwave.sweep_sessions")
    assert dropped >= missed - len(beats), f"{dropped} of {missed} old ticks were dropped"
    check_as_if_nothing_had_happened(look, lines)
    check_nothing_is_held(client)

    rules = fleet.settings().memory.auto_flush
    assert check_sweeps(client, rules).verdict == "ok"
    for beat in beats:
        beat.kill()
    wait_until(lambda: check_sweeps(client, rules).verdict == "problem", 30, "the doctor notices the silence")
    assert (swept_ago(client) or 0) > rules.flush_interval_seconds
    assert worker.exit_code is None
