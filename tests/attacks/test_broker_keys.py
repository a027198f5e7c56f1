"""A real worker, and a broker whose keys somebody gives other types and whose channels they fill: it goes on flushing.

`tests/attacks/test_broker_messages.py` tries what lets messages and questions in, one by one.
"""

import base64
import json
import time
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from celery import Celery
from sqlalchemy import Engine

from slowwave import Memory
from slowwave.coordination.flush_queue import redis_from_url
from slowwave.coordination.key_kinds import PRIORITIES, PRIORITY_MARK, kind_of
from slowwave.coordination.keys import QUEUES, agent_keys
from slowwave.coordination.queue_messages import new_id
from slowwave.coordination.wrong_types import known_aside, set_aside_wrong
from slowwave.messages import RECORD_TURN
from slowwave.settings import Settings
from slowwave_server.workers.celery_settings import broker_settings
from tests.support.forging import forged, turn
from tests.support.processes import wait_until
from tests.workers.effects import rows, value
from tests.workers.fleet import PLAIN_APP, Fleet, Program
from tests.workers.servers import OwnValkey

pytestmark = [pytest.mark.servers, pytest.mark.workers, pytest.mark.timeout(240)]

PIDBOX = "/0.celery.pidbox"
AGENT = agent_keys("default", "maya")
FLUSHED = "SELECT count(*) FROM slowwave.flushes"
AGENT_KEYS = [AGENT.running, AGENT.waiting, AGENT.queued_high, AGENT.queued_normal, AGENT.session_prefix + b"s1"]
KEYS = [
    *QUEUES, f"flush{PRIORITY_MARK}{PRIORITIES[0]}", "unacked", "unacked_index", "unacked_mutex",
    "_kombu.binding.celery.pidbox", "_kombu.binding.reply.celery.pidbox", "_kombu.binding_permanent.celery.pidbox",
    "slowwave:swept", "slowwave:finalize", "slowwave:sweep-link", "slowwave:tasks", "slowwave:set-aside",
    *(key.decode() for key in AGENT_KEYS),
]  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def beat(fleet: Fleet) -> Program:
    return fleet.beat()


@pytest.fixture(scope="module")
def worker(fleet: Fleet) -> Program:
    return fleet.worker(app=PLAIN_APP)


def spoil(valkey: OwnValkey, key: str) -> str:
    """Give a key another type than it must have, and answer which."""
    kind = kind_of(key)
    assert kind is not None
    # One transaction: a worker may write the key at any time.
    with valkey.client.pipeline() as pipeline:
        pipeline.delete(key)
        if kind.type == "zset":
            pipeline.set(key, "x")
        else:
            pipeline.zadd(key, {"x": 1})
        pipeline.execute()
    return "string" if kind.type == "zset" else "zset"


def goes_on(worker: Program, memory: Memory, look: Engine) -> None:
    """A turn that is captured by the client becomes a flush."""
    before = value(look, FLUSHED)
    memory.turn_completed("maya", "s1", [{"role": "user", "content": f"I keep {uuid.uuid4()} bees."}])
    memory.session_idle("maya", "s1")
    wait_until(lambda: value(look, FLUSHED) > before or worker.exit_code is not None, 40, "the turn is flushed")
    assert worker.exit_code is None, worker.log[-3000:]


@pytest.mark.long
@pytest.mark.parametrize("keys", [pytest.param(QUEUES, id="queues"), pytest.param(KEYS, id="all")])
def test_a_worker_starts_with_keys_of_wrong_types(
    keys: list[str], fleet: Fleet, own_valkey: OwnValkey, memory: Memory, look: Engine
) -> None:
    for key in keys:
        spoil(own_valkey, key)
    started = fleet.worker(app=PLAIN_APP)
    goes_on(started, memory, look)
    started.says("it is now 'slowwave:set-aside:flush:")
    started.end()


@pytest.mark.parametrize("key", KEYS)
def test_a_key_of_a_wrong_type_stops_no_worker(
    key: str, worker: Program, own_valkey: OwnValkey, memory: Memory, look: Engine
) -> None:
    found = spoil(own_valkey, key)
    goes_on(worker, memory, look)
    wanted = kind_of(key)
    assert wanted is not None

    def is_mended() -> bool:
        # What nothing has asked for meanwhile is renamed by whoever asks first; two at once, and one tries again.
        set_aside_wrong(own_valkey.client, [key])
        return own_valkey.client.type(key).decode() in {"none", wanted.type}

    wait_until(is_mended, 10, f"{key} is set aside")
    if key != "slowwave:set-aside":

        def is_aside() -> bool:
            if (key, found) in {(one.key, one.found) for one in known_aside(own_valkey.client)}:
                return True
            spoil(own_valkey, key)  # a worker's SET replaced the key, whatever its type, before anybody renamed it
            set_aside_wrong(own_valkey.client, [key])
            return False

        wait_until(is_aside, 10, f"{key} is known as set aside")


def test_keys_that_change_type_all_the_time_stop_no_worker(
    worker: Program, own_valkey: OwnValkey, memory: Memory, look: Engine
) -> None:
    """A worker that looks why it could not read finds another key wrong than the one that it stumbled over."""
    for key in QUEUES * 60:
        spoil(own_valkey, key)
        set_aside_wrong(own_valkey.client, [key])
    goes_on(worker, memory, look)


def test_a_lock_without_an_end_does_not_stop_redelivery(worker: Program, own_valkey: OwnValkey, look: Engine) -> None:
    """Whoever may write it could else keep what a dead worker held from ever coming back."""
    message = forged(kwargs=turn("held", "I was held by a worker that died."))
    own_valkey.client.set("unacked_mutex", "for ever")
    own_valkey.client.hset("unacked", "t1", json.dumps([message, "", "capture"]))
    own_valkey.client.zadd("unacked_index", {"t1": time.time() - 100_000})
    said = "SELECT e.content FROM slowwave.events e JOIN slowwave.sessions s ON s.id = e.session_id"
    said += " JOIN slowwave.agents a ON a.id = s.agent_id WHERE a.name = 'held'"
    wait_until(lambda: bool(rows(look, said)), 40, "it came back")
    assert worker.exit_code is None


M = PRIORITY_MARK
ELSEWHERE = "slowwave:{default/maya}:session:stolen"
MESSAGE = forged(kwargs=turn("victim", "The vault is open."))
HELD: list[Any] = [
    "junk", "[" * 100_000, "7", "[]", "{}", json.dumps(["x", "", "capture"]), json.dumps([{}, "", "capture"]),
    json.dumps([MESSAGE, "", ELSEWHERE]), json.dumps([MESSAGE, "elsewhere", "capture"]),
    json.dumps([MESSAGE | {"properties": MESSAGE["properties"] | {"priority": "x"}}, "", "capture"]),
    json.dumps([MESSAGE | {"properties": 7}, "", "capture"]), json.dumps([MESSAGE | {"body": 7}, "", "flush"]),
]  # fmt: skip


def test_forged_entries_of_held_messages_are_dropped(
    worker: Program, own_valkey: OwnValkey, memory: Memory, look: Engine
) -> None:
    for place, held in enumerate(HELD):
        own_valkey.client.hset("unacked", f"forged-{place}", held)
        own_valkey.client.zadd("unacked_index", {f"forged-{place}": 1})
    wait_until(
        lambda: worker.exit_code is not None or not own_valkey.client.zcount("unacked_index", 0, 10),
        60,
        "all are looked at",
    )
    goes_on(worker, memory, look)
    assert not own_valkey.client.exists(ELSEWHERE)
    assert value(look, "SELECT count(*) FROM slowwave.agents WHERE name = 'victim'") == 0
    assert "vault" not in worker.log


def control(**body: Any) -> str:
    asked = {"method": "ping", "arguments": {}, "destination": None, "pattern": None, "matcher": None} | body
    packed = base64.b64encode(json.dumps(asked).encode()).decode()
    info = {"exchange": "celery.pidbox", "routing_key": ""}
    return json.dumps({
        "body": packed, "content-type": "application/json", "content-encoding": "utf-8",
        "headers": {"clock": 1, "expires": 0},
        "properties": {"delivery_info": info, "priority": 0, "body_encoding": "base64", "delivery_tag": new_id()},
    })  # fmt: skip


ORDERS = [
    control(method="add_consumer", arguments={"queue": "evil"}), control(method="shutdown"),
    control(method="cancel_consumer", arguments={"queue": "flush"}), control(method="pool_shrink", arguments={"n": 9}),
    control(method="rate_limit", arguments={"task_name": "slowwave.flush_session", "rate_limit": "1/h"}),
    control(ticket="t", reply_to={"exchange": "", "routing_key": ELSEWHERE}), control(destination=7),
    control(method=[]),
    control(ticket="t", reply_to={"exchange": "reply.celery.pidbox", "routing_key": ELSEWHERE}),
    "[" * 100_000, "{", "7", "[]", "null", "\xff", json.dumps({"body": "[" * 50_000, "properties": {}}),
    json.dumps({"properties": {"delivery_info": 7}}), "1" + "0" * 10_000,
]  # fmt: skip


def test_no_control_message_ends_or_steers_a_worker(
    worker: Program, own_valkey: OwnValkey, memory: Memory, look: Engine
) -> None:
    for order in ORDERS:
        assert own_valkey.client.publish(PIDBOX, order) >= 1
    own_valkey.client.lpush("evil", json.dumps(forged(kwargs=turn("victim", "The vault is open."), queue="evil")))
    worker.says("it is not a question that a worker answers")
    goes_on(worker, memory, look)
    assert own_valkey.client.llen("evil") == 1, "nobody takes from it"
    assert not own_valkey.client.exists(ELSEWHERE)
    assert set(QUEUES) == {queue["name"] for queue in answers(own_valkey, "active_queues")}


def answers(valkey: OwnValkey, question: str) -> Any:
    """What a worker answers to a question of Celery's own remote control."""
    app = Celery(set_as_current=False)
    app.conf.update(broker_settings(Settings(broker_url=valkey.url), restores=False))
    ask: Callable[[], dict[str, Any] | None] = getattr(app.control.inspect(timeout=3, limit=1), question)
    try:
        (answer,) = (ask() or {"nobody": None}).values()
    finally:
        app.close()
    return answer


@pytest.mark.parametrize(
    "junk", ["junk", "", "\x06\x16", "a\x06\x16b\x06\x16c\x06\x16d", f"x\x06\x16\x06\x16{ELSEWHERE}"]
)
def test_junk_among_the_askers_hides_no_worker(junk: str, worker: Program, own_valkey: OwnValkey) -> None:
    for name in ("_kombu.binding.reply.celery.pidbox", "_kombu.binding.celery.pidbox"):
        own_valkey.client.sadd(name, junk)
    wait_until(lambda: answers(own_valkey, "ping") == {"ok": "pong"}, 20, "the worker answers")
    assert worker.exit_code is None
    for name in ("_kombu.binding.reply.celery.pidbox", "_kombu.binding.celery.pidbox"):
        own_valkey.client.srem(name, junk)


def test_questions_about_tasks_answer_no_word(worker: Program, own_valkey: OwnValkey) -> None:
    """Flower and the exporter may ask them; what somebody said is not for these."""
    redis = redis_from_url(own_valkey.url)
    redis.lpush("capture", *(json.dumps(forged(kwargs=turn("maya", f"The vault is open {n}."))) for n in range(40)))
    shown = [json.dumps(answers(own_valkey, question)) for question in ("active", "reserved", "scheduled", "conf")]
    assert not [answer for answer in shown if "vault" in answer]
    wait_until(lambda: not redis.llen("capture"), 40, "all are taken")
    assert worker.exit_code is None


def test_an_unknown_task_on_capture_becomes_a_dead_letter(worker: Program, own_valkey: OwnValkey, look: Engine) -> None:
    said = turn("maya", "I speak a newer protocol.")
    own_valkey.client.lpush("capture", json.dumps(forged("slowwave.of_tomorrow", said | {"tenant": "acme"})))
    own_valkey.client.lpush("capture", json.dumps(forged("slowwave.run_maintenance", {"job": "retention"})))
    own_valkey.client.lpush("flush", json.dumps(forged("slowwave.of_tomorrow", said, queue="flush")))
    letters = "SELECT task, tenant, error, payload FROM slowwave.dead_letters WHERE task <> :task ORDER BY task"
    wait_until(lambda: len(rows(look, letters, task=RECORD_TURN)) == 2, 40, "both are kept")
    newer, other = rows(look, letters, task=RECORD_TURN)
    assert (newer.task, newer.tenant) == ("slowwave.of_tomorrow", "acme")
    assert newer.payload == said | {"tenant": "acme"}
    assert newer.error == "this version has no task 'slowwave.of_tomorrow'"
    assert other.task == "slowwave.run_maintenance on capture", "no redrive runs it where it belongs"
    worker.says("dropped an entry of flush: its task is none of those that flush carries")
