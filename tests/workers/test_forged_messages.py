"""A worker as it is shipped, and a broker into which somebody writes what they like: it does its work, and lives.

`tests/attacks/test_broker_messages.py` tries the same on what lets messages in, one by one.
"""

import base64
import gzip
import json
from typing import Any

import pytest
from sqlalchemy import Engine

from slowwave.coordination.queue_messages import envelope, new_id, publish
from slowwave.messages import FLUSH_SESSION, RECORD_TURN
from tests.support.forging import BODIES, CALLBACK, forged, turn
from tests.support.processes import wait_until
from tests.workers.effects import rows, value
from tests.workers.fleet import PLAIN_APP, Fleet, Program
from tests.workers.servers import OwnValkey

pytestmark = [pytest.mark.servers, pytest.mark.workers, pytest.mark.timeout(180)]

SAID = """
    SELECT e.content FROM slowwave.events e JOIN slowwave.sessions s ON s.id = e.session_id
    JOIN slowwave.agents a ON a.id = s.agent_id WHERE a.name = :agent ORDER BY s.name, e.seq
"""
ODD_HEADERS: list[dict[str, Any]] = [
    {"timelimit": 5}, {"timelimit": ["x", {}]}, {"stamps": 7, "stamped_headers": "abc"}, {"retries": "x"},
    {"expires": {"a": 1}}, {"expires": "soon"}, {"id": {"a": 1}}, {"root_id": ["x"]}, {"argsrepr": {}},
]  # fmt: skip


@pytest.fixture(scope="module")
def worker(fleet: Fleet) -> Program:
    fleet.environment["SLOWWAVE_MEMORY__AUTO_FLUSH__IDLE_SECONDS"] = "3600"
    return fleet.worker(app=PLAIN_APP)


def put(valkey: OwnValkey, queue: str, message: Any) -> None:
    valkey.client.lpush(queue, json.dumps(message))


def until_all_is_taken(valkey: OwnValkey, worker: Program) -> None:
    mark = new_id()
    publish(valkey.client, "capture", envelope(RECORD_TURN, [], turn("mark", mark), "capture", task_id=mark))
    worker.says(f"{RECORD_TURN}[{mark}] succeeded")


def test_a_worker_that_is_sent_all_of_it_does_the_work_alone_and_lives(
    worker: Program,
    own_valkey: OwnValkey,
    look: Engine,
) -> None:
    embed = {"callbacks": [CALLBACK], "errbacks": [CALLBACK], "chain": [CALLBACK], "chord": None}
    put(own_valkey, "capture", forged(kwargs=turn("maya", "with a callback"), embed=embed))
    bad = {"agent": "maya", "session": "s1", "messages": "none", "key": "k"}
    put(own_valkey, "capture", forged(kwargs=bad, embed=embed))
    later = {"eta": "2999-01-01T00:00:00+00:00"}
    put(own_valkey, "capture", forged(kwargs=turn("maya", "in a thousand years"), headers=later))
    for headers in ODD_HEADERS:
        put(own_valkey, "capture", forged(kwargs=turn("maya", "odd"), headers=headers))
    for body in BODIES:
        put(own_valkey, "flush", forged(FLUSH_SESSION, queue="flush", body=body))
    for names in ({"agent": "a\nb"}, {"agent": "atlas", "session": "s\x1b[2J"}, {"agent": "atlas", "tenant": "\0"}):
        put(own_valkey, "flush", forged(FLUSH_SESSION, {"session": "s1", "ticket": "made-up"} | names, queue="flush"))
    bomb = base64.b64encode(gzip.compress(b" " * 50_000_000)).decode()
    put(
        own_valkey,
        "capture",
        forged(headers={"compression": "gzip"}, properties={"body_encoding": "base64"}, body=bomb),
    )
    put(own_valkey, "maintenance", forged("celery.starmap", {"task": CALLBACK, "it": [[1]]}, queue="maintenance"))
    until_all_is_taken(own_valkey, worker)
    assert worker.exit_code is None
    assert "Unrecoverable" not in worker.log
    assert "Connection to broker lost" not in worker.log
    said = [row.content for row in rows(look, SAID, agent="maya")]
    assert sorted(set(said)) == ["in a thousand years", "odd", "with a callback"]
    assert value(look, "SELECT count(*) FROM slowwave.agents WHERE name = 'victim'") == 0, "a callback was run"
    assert value(look, "SELECT count(*) FROM slowwave.working_memory") == 0
    assert "\x1b" not in worker.log
    assert "flush a\nb" not in worker.log
    assert {row.task for row in rows(look, "SELECT task FROM slowwave.dead_letters")} == {RECORD_TURN, FLUSH_SESSION}
    assert "The vault is open" not in worker.log


def test_a_ticket_that_was_made_up_or_belongs_to_another_flushes_nothing_that_was_not_asked_for(
    worker: Program,
    own_valkey: OwnValkey,
    look: Engine,
) -> None:
    """A ticket is no permission: what counts is whether the session was asked for."""
    put(own_valkey, "capture", forged(kwargs=turn("priya", "I keep bees.")))
    wait_until(lambda: bool(rows(look, SAID, agent="priya")), 20, "the turn is there")
    for ticket in ("made-up", "", "x" * 10_000, "'; DROP TABLE slowwave.events; --"):
        names = {"agent": "priya", "session": "s1", "ticket": ticket}
        message = forged(FLUSH_SESSION, names, queue="flush")
        put(own_valkey, "flush", message)
        worker.says(f"[{message['headers']['id']}] succeeded")
    assert value(look, "SELECT count(*) FROM slowwave.flushes") == 0
    put(own_valkey, "flush", forged(FLUSH_SESSION, {"agent": "priya", "session": "s1"}, queue="flush"))
    wait_until(lambda: value(look, "SELECT count(*) FROM slowwave.flushes") == 1, 20, "asked for, it is flushed")


RAW: list[bytes] = [
    b"", b"The vault is open", b"\xff\xfe\x00", b"[" * 100_000, b"[]", b"7", b"null", b"{}", b'"The vault is open"',
    b'{"body": "The vault is open"}', b'{"properties": {"delivery_info": 7}}', b"NaN", b"1" + b"0" * 10_000,
    b'{"body": "' + b"x" * 3_000_000 + b'"}',
]  # fmt: skip
"""Entries of a queue that are no message, or none of ours."""


def test_i1_what_is_no_message_is_dropped_without_its_text_and_what_follows_is_done(
    worker: Program,
    own_valkey: OwnValkey,
    look: Engine,
) -> None:
    before = value(look, "SELECT count(*) FROM slowwave.dead_letters")
    for entry in RAW:
        for queue in ("capture", "flush"):
            own_valkey.client.lpush(queue, entry)
    for body in ("!!! no base64 of the vault", "VGhlIHZhdWx0", "/////w==", ""):
        put(own_valkey, "capture", forged(properties={"body_encoding": "base64"}, body=body))
    wrong = [{"agent": 7}, {"messages": {"The vault": "is open"}}, {"key": ["The vault is open"]}]
    for part in wrong:
        put(own_valkey, "capture", forged(kwargs=turn("maya", "x") | part))
    until_all_is_taken(own_valkey, worker)
    assert worker.exit_code is None
    assert value(look, "SELECT count(*) FROM slowwave.dead_letters") == before + len(wrong)
    assert worker.log.count("dropped an entry") >= 2 * len(RAW)
    assert "vault" not in worker.log.casefold()
    assert "Unrecoverable" not in worker.log
