"""Users of the broker on a real one: each does its whole part, from a turn to a memory, and nothing else (I8)."""

import hashlib
import json
import urllib.request
import uuid
from base64 import b64encode
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import pytest
import redis
from celery import Celery
from redis.exceptions import NoPermissionError

from slowwave import Memory
from slowwave.coordination.keys import QUEUES, agent_keys
from slowwave.coordination.request_queue import REQUEST_QUEUE, wake_request
from slowwave.settings import Gateway, Settings
from slowwave_server.services.access.broker_users import Part, broker_user
from slowwave_server.workers.app import make_app
from slowwave_server.workers.gateway.caller import Caller
from slowwave_server.workers.gateway.limits import Limits
from slowwave_server.workers.gateway.problems import Problem
from slowwave_server.workers.stack.ports import settle_ports
from tests.support.processes import wait_until
from tests.workers.fleet import PLAIN_APP, Fleet
from tests.workers.servers import OwnValkey

pytestmark = [pytest.mark.servers, pytest.mark.workers, pytest.mark.timeout(180)]

WORD = "a-word-of-tests"
DIGEST = hashlib.sha256(WORD.encode()).hexdigest()
LOGIN = "desk:another-word"


def url_of(server: OwnValkey, part: str) -> str:
    return server.url.replace("://", f"://{part}:{WORD}@")


@pytest.fixture(scope="module")
def users(own_valkey: OwnValkey) -> OwnValkey:
    for part in get_args(Part):
        user = broker_user(part, part, "acme" if part == "producer" else None)
        assert own_valkey.client.execute_command(*user.command(DIGEST).split()) in (True, b"OK")
    own_valkey.client.execute_command("ACL", "LOG", "RESET")
    return own_valkey


@pytest.fixture(scope="module")
def restricted(module_database: str, users: OwnValkey, folder: Path) -> Iterator[Fleet]:
    fleet = Fleet(module_database, url_of(users, "worker"), folder, SLOWWAVE_TENANT="acme")
    yield fleet
    fleet.end()


def refusals(server: OwnValkey) -> list[dict[bytes, Any]]:
    def fields(entry: Any) -> dict[bytes, Any]:
        return entry if isinstance(entry, dict) else dict(zip(entry[::2], entry[1::2], strict=True))

    return [fields(entry) for entry in server.client.execute_command("ACL", "LOG")]


# Before a worker is there that takes what lies in queues, and answers.
def test_a_scaler_measures_queues_by_script_and_its_scripts_may_do_no_more(users: OwnValkey) -> None:
    users.client.lpush("flush", "one", "two")
    client = redis.Redis.from_url(url_of(users, "scaler"))
    # As KEDA asks: by the type of the key.
    length = "if redis.call('type', KEYS[1]).ok == 'zset' then return -1 end return redis.call('llen', KEYS[1])"
    assert [client.eval(length, 1, queue) for queue in ("flush", "days")] == [2, 0]
    for call in ("'rpop', KEYS[1]", "'lpush', KEYS[1], 'x'", "'lrange', KEYS[1], 0, -1", "'get', 'slowwave:swept'"):
        with pytest.raises(redis.ResponseError, match=r"no permissions|NOPERM"):
            client.eval(f"return redis.call({call})", 1, "flush")
    client.close()
    users.client.delete("flush")


def test_flower_that_waits_longer_for_its_answers_is_not_refused_what_only_workers_do(users: OwnValkey) -> None:
    """A consumer that hears nothing for a while gives lost messages back, unless it may not."""
    users.client.execute_command("ACL", "LOG", "RESET")
    app = make_app(Settings(broker_url=url_of(users, "flower")))
    assert app.control.inspect(timeout=0.5).ping() is None, "nobody is there"
    with app.connection_for_read() as connection:
        channel: Any = connection.default_channel
        for _ in range(3):
            channel.qos.restore_visible(interval=1)
        assert channel.restores is False
    users.client.execute_command("ACL", "LOG", "RESET")


def test_gateway_counts_keeps_answers_and_wakes_a_worker(users: OwnValkey) -> None:
    """Before a worker is there: the gateway loads its own script."""
    users.client.script_flush()
    users.client.execute_command("ACL", "LOG", "RESET")
    client = redis.Redis.from_url(url_of(users, "gateway"))
    limits = Limits(client, Gateway(requests_per_second=0.001, burst=1, tenant_events_per_day=1))
    caller = Caller(uuid.uuid4(), "app", "sw_aaaaaaaa", "a/b {c}", (), (), frozenset(), "0" * 64)
    assert limits.take(caller)["RateLimit-Remaining"] == "0"
    with pytest.raises(Problem, match="more often"):
        limits.take(caller)
    now = datetime.now(UTC)
    limits.count(caller, 1, now)
    with pytest.raises(Problem, match="may record 1"):
        limits.check_quota(caller, now)
    wake_request(client, uuid.uuid4())
    assert users.client.llen(REQUEST_QUEUE) == 1
    client.close()
    assert [(entry[b"username"], entry[b"object"]) for entry in refusals(users)] == []
    users.client.delete(REQUEST_QUEUE)


@pytest.mark.long
def test_each_user_does_its_whole_part(users: OwnValkey, restricted: Fleet, tmp_path: Path) -> None:
    worker = restricted.worker(app=PLAIN_APP)
    beat = restricted.beat()
    port = settle_ports(tmp_path / "port.json", {"flower": 0})["flower"]
    flower = Fleet(restricted.settings().database_url, url_of(users, "flower"), tmp_path)
    flower.flower(port, LOGIN)
    settings = restricted.settings().model_copy(update={"broker_url": url_of(users, "producer")})
    with Memory(settings) as memory:
        memory.turn_completed("atlas", "s1", [{"role": "user", "content": "I work as a nurse in Leeds."}])
        assert memory.session_idle("atlas", "s1").due
        memory.remember("atlas", "Nurses wear blue.", 0.9)
        assert memory.consolidate_now("atlas")
        assert set(memory.status().queues) == set(QUEUES)
        memory.turn_completed("atlas", "s2", [{"role": "user", "content": "My name is Tomas."}])
        memory.prompt_arrived("atlas", "s1")
        sender = Celery(broker=url_of(users, "sender"))
        turn = {"agent": "atlas", "session": "s3", "messages": [{"role": "user", "content": "I live in Leeds."}]}
        sender.send_task("slowwave.record_turn", kwargs=turn, queue="capture")
        sender.close()

        def known() -> bool:
            done = memory.stats("atlas").consolidated == 1 and memory.status().dirty_sessions == 0
            found = {source[0] for hit in memory.search("atlas", "nurse Leeds", 50) for source in hit.sources}
            return done and {"s1", "s3"} <= found

        wait_until(known, 60, "every user's turn is a memory")
    # Sweeps come every second: it need not have been there from the start.
    wait_until(lambda: _flower(port) or refusals(users), 40, "Flower shows the worker and its tasks")
    flower.end()
    assert worker.exit_code is None
    assert beat.exit_code is None
    assert [(entry[b"username"], entry[b"object"]) for entry in refusals(users)] == []


def _flower(port: int) -> bool:
    request = urllib.request.Request(f"http://127.0.0.1:{port}/api/tasks")
    request.add_header("Authorization", "Basic " + b64encode(LOGIN.encode()).decode())
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:  # noqa: S310
            return "sweep_sessions" in json.dumps(json.load(answer))
    except OSError:
        return False


ALL = [
    "KEYS *", "FLUSHALL", "FLUSHDB", "CONFIG GET requirepass", "CONFIG SET dir /tmp", "SHUTDOWN NOSAVE",
    "ACL LIST", "ACL SETUSER worker on >x", "MONITOR", "SCRIPT FLUSH", "FUNCTION LIST", "REPLICAOF NO ONE", "SAVE",
    "CLIENT KILL TYPE normal", "MODULE LIST", "SLOWLOG GET", "SWAPDB 0 1", "SET other 1", "GET other", "LPUSH other x",
]  # fmt: skip
NO_WORKER = [
    "SCRIPT LOAD x",
    "EVAL return 1 0",
    "HSET unacked t x",
    "ZADD unacked_index 1 t",
    "HGETALL unacked",
    "SET unacked_mutex x",
    "SET flush x",
    "SET capture x",
    "ZADD capture 1 x",
    "ZADD flush 1 x",
    "RENAME flush x",
    "DEL capture",
]
OTHERS = agent_keys("globex", "atlas")
OWN_NAMES = [
    "LRANGE flush 0 -1", "RPOP flush", "LPUSH capture x", "LPUSH days x", "LPUSH maintenance x", "RPOP consolidate",
    "DEL flush", "BRPOP flush 1", "SUBSCRIBE /0.celeryev", "PUBLISH /0.celery.pidbox x", "HGETALL unacked",
    "SCAN 0", "INFO", "GET slowwave:swept", "EVAL return 0",
]  # fmt: skip
FORBIDDEN = {
    "worker": ALL,
    "producer": [*ALL, *NO_WORKER,
                 *OWN_NAMES, f"GET {OTHERS.session_prefix.decode()}s1", f"ZADD {OTHERS.running.decode()} 1 s1",
                 f"EVALSHA {'0' * 40} 1 {OTHERS.running.decode()}"],
    "gateway": [*ALL, *(name for name in NO_WORKER if name != "SCRIPT LOAD x"),
                *(name for name in OWN_NAMES if name not in {"LPUSH maintenance x", "GET slowwave:swept"}),
                "EVAL return 1 slowwave:gateway:rate:x", "SCRIPT KILL", "LPUSH slowwave:gateway:answer:x 1",
                "SET slowwave:swept x", "GET slowwave:login-failures:x", "GET slowwave:forgotten:x"],
    "sender": [*ALL, *NO_WORKER,
                 "LPUSH flush x", "LPUSH flush.high x", "LRANGE capture 0 -1", "RPOP capture",
               "LPUSH consolidate x", "GET slowwave:swept", "SUBSCRIBE x", "EVAL return 0", "SCAN 0"],
    "flower": [*ALL, *NO_WORKER,
                 "LPUSH flush x", "LPUSH capture x", "LRANGE capture 0 -1", "RPOP flush", "ZCARD slowwave:swept",
               "EVAL return 0", "DEL flush", "SCAN 0"],
    "scaler": [*ALL, *[name for name in OWN_NAMES if name != "EVAL return 0"], "LPUSH flush x", "LPUSH consolidate x",
               "GET unacked", "ZCARD slowwave:swept", "EVALSHA 0 0", "SCRIPT LOAD x"],
    "exporter": [*ALL, *NO_WORKER,
                 "LPUSH flush x", "LPUSH capture x", "LRANGE flush 0 -1", "LINDEX capture 0", "RPOP flush",
                 "EVAL return 0", "DEL flush", "DEL capture", "SET slowwave:swept x"],
}  # fmt: skip


@pytest.mark.parametrize("part", get_args(Part))
def test_i8_no_user_does_more(users: OwnValkey, part: str) -> None:
    client = redis.Redis.from_url(url_of(users, part))
    for command in FORBIDDEN[part]:
        with pytest.raises(NoPermissionError):
            assert client.execute_command(*command.split()) is None, command
    client.close()
