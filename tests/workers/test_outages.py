"""Servers that lose everything, stop or crash under busy workers: the workers go on, and nothing is lost or doubled."""

import logging
import os
import signal
import time
from collections.abc import Callable, Iterator

import psycopg
import pytest
import redis
from sqlalchemy import Engine

from slowwave import Memory
from slowwave.coordination.keys import NORMAL_QUEUE
from slowwave.coordination.queue_messages import envelope, new_id, publish
from slowwave_server.models.engine import make_engine
from slowwave_server.models.schema import migrate
from tests.support.processes import wait_until
from tests.workers.effects import check_as_if_nothing_had_happened, check_nothing_is_held, until_flushed, value
from tests.workers.fleet import Fleet, Program
from tests.workers.servers import OwnPostgres, OwnValkey

log = logging.getLogger(__name__)

pytestmark = [pytest.mark.long, pytest.mark.servers, pytest.mark.workers, pytest.mark.timeout(180)]

LETTERS = "SELECT count(*) FROM slowwave.dead_letters"
DIRTY = "SELECT count(*) FROM slowwave.sessions WHERE last_seq > processed_until"
EVENTS_OF = """
    SELECT count(*) FROM slowwave.events e JOIN slowwave.sessions s ON s.id = e.session_id
    JOIN slowwave.agents a ON a.id = s.agent_id WHERE a.name LIKE :agents
"""


@pytest.fixture(scope="module")
def own_postgres() -> Iterator[OwnPostgres]:
    server = OwnPostgres()
    yield server
    server.close()


@pytest.fixture(scope="module")
def module_database(own_postgres: OwnPostgres) -> str:
    """In place of the run's Postgres: this one may be crashed."""
    with psycopg.connect(own_postgres.url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE slowwave")
    url = own_postgres.url.replace("/postgres?", "/slowwave?")
    engine = make_engine(url)
    migrate(engine)
    engine.dispose()
    return url


@pytest.fixture(scope="module")
def worker(fleet: Fleet) -> Program:
    """One worker with two children and a beat, for the whole module: it must survive every test."""
    fleet.environment["SLOW_APP_SECONDS"] = "0.01"
    fleet.beat()
    return fleet.worker(concurrency=2)


def line(agent: str, session: int, turn: int) -> str:
    return f"{agent} keeps thing number {turn} of session {session}."


def take_turns(memory: Memory, agent: str, turns: int, sessions: int = 8) -> set[str]:
    """So many turns, spread over sessions; every sixth of a session is due by their number, the rest by idleness."""
    lines = set()
    for turn in range(turns):
        session = turn % sessions
        lines.add(line(agent, session, turn))
        memory.turn_completed(agent, f"s{session}", [{"role": "user", "content": line(agent, session, turn)}])
    return lines


def test_flushall_in_mid_run_costs_time_and_nothing_else(
    fleet: Fleet, memory: Memory, worker: Program, look: Engine, own_valkey: OwnValkey
) -> None:
    lines = set()
    for part in range(4):
        lines |= take_turns(memory, f"maya{part}", 50)
        own_valkey.client.flushall()
    began = time.monotonic()
    until_flushed(look, 30, "maya%")
    log.info("FLUSHALL: all flushed %.1f s after the last", time.monotonic() - began)
    check_as_if_nothing_had_happened(look, lines, "maya%")
    check_nothing_is_held(own_valkey.client)
    assert worker.exit_code is None


def restart_under_a_busy_worker(fleet: Fleet, memory: Memory, valkey: OwnValkey, agent: str) -> set[str]:
    """Valkey is killed in the middle of a flush and comes back at once, its queues read from the file."""
    fleet.hold(agent)
    lines = take_turns(memory, agent, 6, sessions=1)
    fleet.until_held(agent)
    valkey.stop(signal.SIGKILL)
    valkey.start()
    return lines


def test_a_worker_survives_a_restart_of_valkey_and_goes_on(
    fleet: Fleet, memory: Memory, worker: Program, look: Engine, own_valkey: OwnValkey
) -> None:
    lines = restart_under_a_busy_worker(fleet, memory, own_valkey, "jonas")
    began = time.monotonic()
    worker.says("Connection to broker lost")
    fleet.let_go("jonas")
    until_flushed(look, 30, "jonas")
    log.info("Valkey restarted: the held flush was committed after %.1f s", time.monotonic() - began)
    lines |= take_turns(memory, "jonas later", 60)
    until_flushed(look, 30, "jonas%")
    log.info("Valkey restarted: 60 more turns flushed after %.1f s", time.monotonic() - began)
    check_as_if_nothing_had_happened(look, lines, "jonas%")
    check_nothing_is_held(own_valkey.client)
    assert worker.exit_code is None


def test_a_full_broker_costs_time_and_no_worker(
    fleet: Fleet, memory: Memory, worker: Program, look: Engine, own_valkey: OwnValkey
) -> None:
    lines = take_turns(memory, "priya before", 20)
    until_flushed(look, 30, "priya%")
    with own_valkey.client.pipeline() as pipe:
        for _ in range(10):
            publish(pipe, NORMAL_QUEUE, envelope("slowwave.sweep_sessions", [], {}, NORMAL_QUEUE, task_id=new_id()))
        pipe.config_set("maxmemory", 1)
        pipe.execute()
    lines |= take_turns(memory, "priya", 60)
    wait_until(lambda: own_valkey.client.llen(NORMAL_QUEUE) == 0, 30, "the worker empties the full broker's queue")
    with pytest.raises(redis.exceptions.OutOfMemoryError):
        own_valkey.client.set("any", "thing")
    own_valkey.client.config_set("maxmemory", 0)
    until_flushed(look, 60, "priya%")
    check_as_if_nothing_had_happened(look, lines, "priya%")
    check_nothing_is_held(own_valkey.client)
    assert worker.exit_code is None


def test_a_crash_of_postgres_in_mid_run_loses_and_doubles_nothing(
    fleet: Fleet, memory: Memory, worker: Program, look: Engine, own_valkey: OwnValkey, own_postgres: OwnPostgres
) -> None:
    fleet.hold("amara")
    lines = take_turns(memory, "amara", 6, sessions=1)
    fleet.until_held("amara")
    began = time.monotonic()
    own_postgres.crash()
    lines |= take_turns(memory, "amara later", 40)
    publish(own_valkey.client, "capture", envelope("slowwave.record_turn", [], {}, "capture", task_id=new_id()))
    waiting = list((fleet.folder / "spool").glob("*.jsonl"))
    assert waiting, "what nobody could commit lies in the spool"
    fleet.let_go("amara")
    own_postgres.start()
    log.info("Postgres was away for %.1f s", time.monotonic() - began)
    wait_until(lambda: value(look, LETTERS) == 1, 30, "a payload that could not even be buried is buried now")
    rounds = worker.log.count("no dead letter could be written")
    # Each of two processes rests a second after each try; one that went round without rest would try hundreds of times.
    assert rounds <= 4 * (time.monotonic() - began), "it went round slowly"
    wait_until(lambda: value(look, EVENTS_OF, agents="amara%") == 46, 30, "the spool delivers")
    until_flushed(look, 30, "amara%")
    log.info("Postgres crashed: all flushed after %.1f s", time.monotonic() - began)
    check_as_if_nothing_had_happened(look, lines, "amara%")
    check_nothing_is_held(own_valkey.client)
    assert worker.exit_code is None


class Crew:
    """Two workers that come to harm, and whoever takes their places."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self._workers = [fleet.worker(concurrency=2) for _ in range(2)]
        self.deaths = 0

    def kill_a_child(self) -> None:
        worker = self._workers[0]
        if worker.exit_code is None and (children := worker.children()):
            os.kill(children[0], signal.SIGKILL)

    def kill_a_parent(self) -> None:
        if self._workers[1].exit_code is None:
            self._workers[1].kill()

    def stop_one(self) -> None:
        if self._workers[0].exit_code is None:
            self._workers[0].send(signal.SIGTERM)

    def replace_the_dead(self) -> None:
        """What a supervisor does. None may die of itself: of the signals that it was sent alone."""
        for place, worker in enumerate(self._workers):
            if worker.exit_code is not None:
                assert "Unrecoverable error" not in worker.log, worker.log
                self._workers[place] = self._fleet.worker(concurrency=2, ready=False)
                self.deaths += 1


def test_whatever_is_killed_emptied_or_crashed_while_agents_talk_nothing_is_lost_or_doubled(
    fleet: Fleet, memory: Memory, worker: Program, look: Engine, own_valkey: OwnValkey, own_postgres: OwnPostgres
) -> None:
    worker.end()
    # A window that loses its worker again and again would be halved, and its events set aside one by one: not here.
    fleet.environment["SLOWWAVE_MEMORY__AUTO_FLUSH__EXTRACTOR__MAX_RETRIES"] = "50"
    crew = Crew(fleet)

    def restart_valkey() -> None:
        own_valkey.stop(signal.SIGKILL)
        own_valkey.start()

    def restart_postgres() -> None:
        own_postgres.crash()
        own_postgres.start()

    flushall: Callable[[], object] = own_valkey.client.flushall
    harms = (
        *(crew.kill_a_child, restart_valkey, crew.kill_a_child, flushall, restart_postgres, crew.kill_a_parent),
        *(crew.stop_one, restart_postgres, crew.kill_a_child, crew.kill_a_parent, restart_valkey, flushall),
    )
    lines = set()
    for number, harm in enumerate(harms):
        lines |= take_turns(memory, f"wild{number}", 40)
        harm()
        crew.replace_the_dead()
    assert memory.flush(), "the spool delivers"

    def settled() -> bool:
        crew.replace_the_dead()
        return bool(value(look, DIRTY) == 0)

    wait_until(settled, 60, "every session is flushed")
    assert crew.deaths >= 2
    check_as_if_nothing_had_happened(look, lines, "wild%")
    check_nothing_is_held(own_valkey.client)
