"""Every command of the server, on every kind of key, as every user: what docs/security.md lists and nothing else.

And what a user may write, it writes: a real worker goes on flushing.
"""

import hashlib
import uuid
from collections.abc import Iterator
from itertools import product
from typing import get_args

import pytest
import redis
from sqlalchemy import Engine

from slowwave import Memory
from slowwave.coordination.flush_queue import SCRIPTS
from slowwave_server.services.access.broker_users import Part, broker_user
from tests.attacks import broker_matrix as matrix
from tests.support.processes import wait_until
from tests.workers.effects import value
from tests.workers.fleet import PLAIN_APP, Fleet, Program
from tests.workers.servers import OwnValkey

pytestmark = [pytest.mark.servers, pytest.mark.workers, pytest.mark.long, pytest.mark.timeout(240)]

WORD = "a-word-of-tests"
RESTRICTED = tuple(part for part in get_args(Part) if part != "worker")
FLUSHED = """
    SELECT count(*) FROM slowwave.flushes f JOIN slowwave.sessions s ON s.id = f.session_id
    JOIN slowwave.agents a ON a.id = s.agent_id WHERE a.name = 'noor'
"""


@pytest.fixture(scope="module")
def server(own_valkey: OwnValkey) -> OwnValkey:
    digest = hashlib.sha256(WORD.encode()).hexdigest()
    for part in get_args(Part):
        user = broker_user(part, part, matrix.TENANT if part == "producer" else None)
        own_valkey.client.execute_command(*user.command(digest).split())
    return own_valkey


@pytest.fixture(scope="module")
def known(server: OwnValkey) -> list[matrix.Command]:
    return matrix.commands(server.client)


def test_the_matrix_asks_for_each_command_with_its_key(server: OwnValkey, known: list[matrix.Command]) -> None:
    """Else a command would look forbidden because its key stood in a wrong place."""
    assert len(known) > 300
    assert {"lpush", "object|freq", "evalsha_ro", "xreadgroup", "zunionstore", "script|load"} <= {
        command.name for command in known
    }
    for command in known:
        if command.takes_keys and command.name not in matrix.SUBSCRIBING:
            assert set(matrix.raw(server.client, "COMMAND", "GETKEYS", *command.on("the-key"))) == {"the-key"}


def test_each_user_may_what_the_table_lists(server: OwnValkey, known: list[matrix.Command]) -> None:
    rows = [row for part in RESTRICTED for row in matrix.rows(part, matrix.allowed(server.client, part, known))]
    assert matrix.listed().splitlines() == rows


def test_a_worker_may_all_on_our_keys_but_rule_the_server(server: OwnValkey, known: list[matrix.Command]) -> None:
    on_keys = {command.name for command in known if command.takes_keys and command.name not in matrix.SUBSCRIBING}
    ruling = {command.name for command in known if command.categories & {"@admin", "@dangerous"}}
    may = matrix.allowed(server.client, "worker", known)
    assert may.pop(matrix.NO_KEY) & ruling == {"info"}
    for channel in matrix.CHANNELS:
        may.pop(channel)
    assert may.keys() == matrix.examples().keys() - {matrix.OTHERS}
    for kind, names in may.items():
        assert names == on_keys - ruling, kind


DIGESTS = [hashlib.sha1(script.text.encode(), usedforsecurity=False).hexdigest() for script in SCRIPTS]
WRITES: dict[str, list[list[str]]] = {
    "set": [["KEY", "x"], ["KEY", "running high - nobody"]],
    "lpush": [["KEY", "junk"], ["KEY", "[" * 10_000]],
    "sadd": [["KEY", "junk"], ["KEY", "\x06\x16\x06\x16slowwave:swept"]],
    "srem": [["KEY", "junk"]],
    "zadd": [["KEY", "1", "x"], ["KEY", "inf", "s1"]],
    "zrem": [["KEY", "x"]],
    "zremrangebyscore": [["KEY", "-inf", "+inf"]],
    "pexpire": [["KEY", "1"], ["KEY", "999999999999"]],
    "del": [["KEY"]],
    "expire": [["KEY", "1"]],
    "incrby": [["KEY", "7"]],
    "brpop": [["KEY", "0.01"]],
    "evalsha": [[digest, "1", "KEY", "x", "y"] for digest in DIGESTS],
    "eval": [["return redis.call('llen', KEYS[1])", "1", "KEY"]],
    "publish": [["KEY", "junk"], ["KEY", "[" * 100_000], ["KEY", '{"body": 7, "properties": {}}']],
}
"""How each command that a user may write by is really run. KEY is the place of the key or channel."""


def written(server: OwnValkey, known: list[matrix.Command], part: str) -> Iterator[tuple[str, list[str]]]:
    """Every pair that a user may write by, as a command."""
    marks = {command.name: command.categories for command in known}
    places = {**matrix.examples(), **{name: (channel,) for name, channel in matrix.CHANNELS.items()}}
    for where, names in matrix.allowed(server.client, part, known).items():
        for name in sorted(names):
            if where in places and ("@write" in marks[name] or name in {"publish", "evalsha", "eval"}):
                for key, args in product(places[where], WRITES[name]):
                    yield where, [name, *(key if word == "KEY" else word for word in args)]


@pytest.fixture(scope="module")
def worker(server: OwnValkey, fleet: Fleet) -> Program:
    fleet.beat()
    return fleet.worker(app=PLAIN_APP)


def goes_on(worker: Program, memory: Memory, look: Engine, after: object) -> None:
    """A turn of an agent whose own keys nobody touched becomes a flush."""
    before = value(look, FLUSHED)
    memory.turn_completed("noor", "s1", [{"role": "user", "content": f"I keep {uuid.uuid4()} bees."}])
    memory.session_idle("noor", "s1")
    wait_until(lambda: value(look, FLUSHED) > before or worker.exit_code is not None, 40, f"flushed after {after}")
    assert worker.exit_code is None, worker.log[-3000:]


def run(client: redis.Redis, command: list[str]) -> str:
    """Run it, and answer its error: a script of ours may make one of junk."""
    try:
        client.execute_command(*command)
    except redis.ResponseError as error:
        return str(error)
    return ""


def user_of(server: OwnValkey, part: str) -> redis.Redis:
    return redis.Redis.from_url(server.url.replace("://", f"://{part}:{WORD}@"))


@pytest.mark.parametrize(
    "part",
    # Those that may write most of the commands take longest.
    [pytest.param(part, marks=pytest.mark.long) if part in {"gateway", "exporter"} else part for part in RESTRICTED],
)
def test_nothing_that_a_user_may_write_stops_a_worker(
    part: str, server: OwnValkey, known: list[matrix.Command], worker: Program, memory: Memory, look: Engine
) -> None:
    client = user_of(server, part)
    done = list(written(server, known, part))
    failed = set()
    for where, command in done:
        if run(client, command):
            failed.add(command[0])
        goes_on(worker, memory, look, (where, command[0]))
    assert {command[0] for _, command in done} > failed, "most of it was written"
    assert failed <= {"evalsha", "incrby"}
    client.close()
