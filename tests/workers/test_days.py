"""Days through real workers: final after a downtime, once however often asked for, whole whoever dies."""

from collections.abc import Iterator
from datetime import date, datetime
from typing import Any

import psycopg
import pytest
from celery import Celery
from sqlalchemy import Engine, text

from slowwave import Memory
from slowwave.coordination.keys import DAYS_QUEUE, FINALIZE_KEY
from slowwave.coordination.queue_messages import envelope, new_id, publish
from slowwave.messages import SUMMARIZE_DAY
from slowwave_server.services.days.day_queue import ask_for_finalize
from tests.support.midday import TODAY, YESTERDAY, ZONE, at
from tests.support.processes import wait_until
from tests.support.summarizing import poison
from tests.workers.effects import rows, value
from tests.workers.fleet import Fleet
from tests.workers.servers import OwnValkey

pytestmark = [pytest.mark.servers, pytest.mark.workers, pytest.mark.timeout(180)]

_DAY = """
    SELECT y.status, y.version, y.attempts, y.last_error, y.last_summarized_total AS summarized,
           (SELECT sum(d.total_messages) FROM slowwave.session_days d
            WHERE (d.agent_id, d.scope_id, d.day) = (y.agent_id, y.scope_id, y.day)) AS total,
           (SELECT count(*) FROM slowwave.day_summaries z
            WHERE (z.agent_id, z.scope_id, z.day) = (y.agent_id, y.scope_id, y.day)) AS versions
    FROM slowwave.days y JOIN slowwave.agents a ON a.id = y.agent_id WHERE a.name = :agent AND y.day = :day
"""
_LINES = """
    SELECT l.value ->> 'facet' AS facet, l.value ->> 'text' AS text, l.value ->> 'session' AS session,
           (l.value ->> 'seq')::integer AS seq
    FROM slowwave.day_summaries z JOIN slowwave.agents a ON a.id = z.agent_id,
         jsonb_array_elements(z.lines) AS l
    WHERE a.name = :agent AND z.day = :day ORDER BY z.version, seq
"""
_WAITS = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'slowwave.day_summaries'::regclass"
_AT_IT = "SELECT count(*) FROM pg_locks WHERE relation = 'slowwave.day_summaries'::regclass AND pid <> pg_backend_pid()"
_SUMMARIZED = """
    SELECT sum(d.summarized) FROM slowwave.session_days d JOIN slowwave.agents a ON a.id = d.agent_id
    WHERE a.name = :agent
"""
_LETTERS = "SELECT error FROM slowwave.dead_letters WHERE task = 'slowwave.summarize_day' ORDER BY id"


@pytest.fixture(scope="module", autouse=True)
def _short(fleet: Fleet, look: Engine) -> None:
    """A few events are enough; jobs of maintenance, which would finalise days as well, are not there."""
    fleet.environment["SLOWWAVE_MEMORY__DAYS__REALTIME_SUMMARY_TURN_THRESHOLD"] = "4"
    fleet.environment["SLOWWAVE_MEMORY__DAYS__QUIET_SECONDS"] = "1"
    fleet.environment["SLOWWAVE_MEMORY__DAYS__TIMEZONE"] = ZONE
    with look.begin() as connection:
        connection.execute(text("DELETE FROM slowwave.maintenance_jobs"))


@pytest.fixture(scope="module")
def foreign(own_valkey: OwnValkey) -> Iterator[Celery]:
    """A Celery app of somebody else: it has the broker's address and the names of tasks."""
    with Celery(broker=own_valkey.url, set_as_current=False) as app:
        yield app


def user(content: str, when: datetime, **more: Any) -> dict[str, Any]:
    return {"role": "user", "name": "Maya", "content": content, "at": when} | more


def yesterday(memory: Memory, agent: str) -> None:
    """Three events of yesterday, of all three kinds."""
    lines = [
        user("I want to take the ferry to Bergen on Friday.", at(YESTERDAY, 9)),
        {"role": "assistant", "content": "We will take the one at noon.", "at": at(YESTERDAY, 9, 1)},
    ]
    memory.turn_completed(agent, "monday", lines)
    memory.task_event(agent, "monday", "run_finished", "Reservation 4711 is confirmed.", at=at(YESTERDAY, 9, 5))


def day_of(look: Engine, agent: str, day: date = YESTERDAY) -> Any:
    found = rows(look, _DAY, agent=agent, day=day)
    return found[0] if found else None


def is_final(look: Engine, agent: str, version: int) -> bool:
    day = day_of(look, agent)
    return day is not None and (day.status, day.version, day.summarized) == ("final", version, day.total)


def until_final(look: Engine, agent: str, version: int = 1) -> None:
    wait_until(lambda: is_final(look, agent, version), 30, f"{agent}'s yesterday is final ({version})")


def sweep(valkey: OwnValkey) -> None:
    """A sweep over ended days, now."""
    valkey.client.delete(FINALIZE_KEY)
    assert ask_for_finalize(valkey.client)


def send(valkey: OwnValkey, task: str, *arguments: Any) -> None:
    publish(valkey.client, DAYS_QUEUE, envelope(task, list(arguments), {}, DAYS_QUEUE, task_id=new_id()))


def test_a_worker_that_starts_after_a_downtime_makes_yesterday_final_from_all_three_kinds_of_events(
    fleet: Fleet, memory: Memory, look: Engine
) -> None:
    """Mistake 34: nobody asks, beat does not run. Noise of machines and courtesies stay out of the summary."""
    yesterday(memory, "atlas")
    noise = [
        user("Thanks, bye!", at(YESTERDAY, 10)),
        {
            "role": "assistant", "content": "Zephyr lookup running", "at": at(YESTERDAY, 10, 1),
            "metadata": {"tool_calls": [{"name": "zephyr"}]},
        },
        {"role": "task", "content": "Zephyr heartbeat", "at": at(YESTERDAY, 10, 2), "metadata": {"event": "beat"}},
        user("DEBUG zephyr route=planner-2", at(YESTERDAY, 10, 3), metadata={"debug": True}),
    ]  # fmt: skip
    memory.turn_completed("atlas", "monday", noise)
    memory.task_event("atlas", "monday", "run_queued", "Seat map download", at=at(YESTERDAY, 11))
    memory.turn_completed("atlas", "monday", [user("Today is another day.", at(TODAY, 0))])
    fleet.standing_worker()
    until_final(look, "atlas")
    lines = rows(look, _LINES, agent="atlas", day=YESTERDAY)
    assert ("monday", 1) in {(line.session, line.seq) for line in lines if line.facet == "wanted"}
    assert ("monday", 3) in {(line.session, line.seq) for line in lines if line.facet == "executed"}
    told = " ".join(line.text for line in lines)
    assert "Zephyr" not in told.title()
    assert "bye" not in told
    assert "another day" not in told, "that was today"
    assert day_of(look, "atlas").total == 8


def test_i5_a_late_milestone_opens_a_final_day_and_the_sweep_that_it_asks_for_makes_the_next_version_final(
    fleet: Fleet, memory: Memory, look: Engine, own_valkey: OwnValkey
) -> None:
    fleet.standing_worker()
    yesterday(memory, "boreas")
    sweep(own_valkey)
    until_final(look, "boreas")
    own_valkey.client.delete(FINALIZE_KEY)  # as if that sweep were a minute ago
    memory.task_event("boreas", "night", "run_failed", "The cabin is sold out.", at=at(YESTERDAY, 23))
    memory.session_idle("boreas", "night")
    until_final(look, "boreas", version=2)
    assert day_of(look, "boreas").total == 4


def test_thirty_messages_for_one_day_make_one_version(
    fleet: Fleet, memory: Memory, look: Engine, own_valkey: OwnValkey
) -> None:
    fleet.standing_worker()
    yesterday(memory, "ceres")
    for _ in range(30):
        send(own_valkey, SUMMARIZE_DAY, None, "ceres", YESTERDAY.isoformat(), None, None, True)
    until_final(look, "ceres")
    wait_until(lambda: own_valkey.client.llen(DAYS_QUEUE) == 0, 30, "every message is through")
    until_idle(own_valkey)
    day = day_of(look, "ceres")
    assert (day.version, day.versions, day.last_error) == (1, 1, None)


def until_idle(valkey: OwnValkey) -> None:
    wait_until(lambda: valkey.client.hlen("unacked") == 0, 30, "no worker holds a message")


def test_what_a_flush_commits_is_summarised_when_it_is_enough_and_the_day_goes_on(
    fleet: Fleet, memory: Memory, look: Engine
) -> None:
    fleet.standing_worker()
    for line in ("I want to learn to sail.", "We decided on Tuesdays."):
        reply = {"role": "assistant", "content": "Good."}
        memory.turn_completed("dione", "now", [{"role": "user", "content": line}, reply])
    memory.session_idle("dione", "now")
    wait_until(lambda: (day := day_of(look, "dione", TODAY)) is not None and day.version > 0, 30, "it is summarised")
    day = day_of(look, "dione", TODAY)
    assert (day.status, day.summarized) == ("open", 4)


def test_a_quiet_day_is_summarised_by_the_tick(
    fleet: Fleet, memory: Memory, look: Engine, own_valkey: OwnValkey
) -> None:
    fleet.standing_worker()
    memory.turn_completed("eos", "now", [{"role": "user", "content": "I want to learn to sail."}])

    def told() -> bool:
        send(own_valkey, "slowwave.summarize_due_days")
        day = day_of(look, "eos", TODAY)
        return day is not None and bool(day.version)

    wait_until(told, 30, "a tick has found it quiet")
    assert day_of(look, "eos", TODAY).versions == 1


def test_mistake_36_one_poisoned_day_leaves_the_others_final_and_is_tried_again(
    fleet: Fleet, memory: Memory, look: Engine, own_valkey: OwnValkey
) -> None:
    fleet.standing_worker()
    agents = ("fauna", "gaia", "hebe")
    for agent in agents:
        yesterday(memory, agent)
    poison(look, "fauna")
    sweep(own_valkey)
    for agent in agents[1:]:
        until_final(look, agent)
    wait_until(lambda: bool((day_of(look, "fauna") or (None,) * 4)[3]), 30, "the failure is noted")
    day = day_of(look, "fauna")
    assert (day.status, day.versions, day.last_error) == ("settling", 0, "RaiseException (P0001)")
    with look.begin() as connection:
        connection.execute(text("DROP TRIGGER poison ON slowwave.day_summaries"))
        connection.execute(text("UPDATE slowwave.days SET not_before = now() WHERE not_before IS NOT NULL"))
    sweep(own_valkey)
    until_final(look, "fauna")


def test_a_payload_that_cannot_be_taken_is_a_dead_letter_and_an_unknown_day_is_no_work(
    fleet: Fleet, foreign: Celery, look: Engine
) -> None:
    worker = fleet.standing_worker()
    for payload in ({"agent": "ion"}, {"agent": "ion", "day": "yesterday"}, {"agent": "", "day": "2026-03-05"}):
        foreign.send_task(SUMMARIZE_DAY, kwargs=payload, queue=DAYS_QUEUE)
    wait_until(lambda: len(rows(look, _LETTERS)) == 3, 30, "all three are dead letters")
    told = " | ".join(row.error for row in rows(look, _LETTERS))
    for words in ("day: is missing", "day must be written like 2026-03-05", "a name can't be empty"):
        assert words in told
    foreign.send_task(SUMMARIZE_DAY, kwargs={"agent": "ion", "day": "2026-03-05"}, queue=DAYS_QUEUE)
    worker.says("day 2026-03-05 of ion: nothing was ever said then")


def test_mistake_08_workers_killed_in_mid_summary_leave_nothing_half_and_the_next_start_completes_it(
    fleet: Fleet, memory: Memory, look: Engine, own_valkey: OwnValkey, module_database: str
) -> None:
    worker = fleet.standing_worker()
    until_idle(own_valkey)
    yesterday(memory, "juno")
    with psycopg.connect(module_database) as held:
        held.execute("LOCK TABLE slowwave.day_summaries IN ACCESS EXCLUSIVE MODE")
        sweep(own_valkey)
        wait_until(lambda: value(look, _WAITS) > 0, 30, "a summary is in the middle of its commit")
        worker.end()  # by SIGKILL, with its children
        held.rollback()
    # To the end of its transaction, whichever that is: else the day is read before it, and what counts after it.
    wait_until(lambda: value(look, _AT_IT) == 0, 30, "Postgres has noticed, or has ended the statement")
    day = day_of(look, "juno")
    counted = value(look, _SUMMARIZED, agent="juno")
    # Postgres may end the statement of a client that is gone: then all of it is there.
    assert (day.version, day.versions, day.summarized, counted) in {(0, 0, 0, 0), (1, 1, 3, 3)}
    fleet.standing_worker()
    until_final(look, "juno")
    assert day_of(look, "juno").versions == 1
