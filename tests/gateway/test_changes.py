"""The stream of changes over HTTP: resumed, filtered, walled, and ended where it has to be."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx
import pytest
import uvicorn
from sqlalchemy import text

from slowwave_server.workers.gateway.caller import Caller
from slowwave_server.workers.gateway.change_feeds import WAITING
from slowwave_server.workers.gateway.routes.changes import stream_of
from tests.gateway.conftest import Doors
from tests.support.installation import Installation
from tests.support.processes import wait_until

pytestmark = pytest.mark.servers


@dataclass
class Served:
    """The gateway of the module on a port, since a stream needs a connection that can be left."""

    doors: Doors
    url: str
    there: Installation

    def say(self, content: str, *, agent: str = "atlas", tenant: str = "acme", kind: str = "agent") -> str:
        """A memory that was made just now; answers its id."""
        with self.doors.owner.begin() as connection:
            scope = connection.execute(
                text(
                    "INSERT INTO slowwave.scopes (tenant, kind, name) VALUES (:tenant, :kind, :name)"
                    " ON CONFLICT (tenant, kind, name) DO UPDATE SET name = excluded.name RETURNING id"
                ),
                {"tenant": tenant, "kind": kind, "name": agent},
            ).scalar_one()
        memory = self.there.memory(scope, content, [])
        self.there.change(memory, "created", "said")
        return str(memory)

    @contextmanager
    def stream(self, key: str | None = None, **query: Any) -> Iterator["Reader"]:
        last = query.pop("last", None)
        headers = {"Authorization": f"Bearer {key or self.doors.full()}"} | ({"Last-Event-ID": last} if last else {})
        with (
            httpx.Client(timeout=20) as client,
            client.stream("GET", f"{self.url}/v1/changes", params=query, headers=headers) as response,
        ):
            assert response.status_code == 200, response.read()
            assert response.headers["content-type"].startswith("text/event-stream")
            yield Reader(response.iter_lines())


class Reader:
    """Events of a stream as a browser would see them."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines
        self.last = ""

    def begun(self) -> "Reader":
        """Wait until the stream follows what happens from now on."""
        while not self.last:
            self._line(next(self._lines))
        return self

    def next(self) -> dict[str, Any]:
        while True:
            data = self._line(next(self._lines))
            if data is not None:
                return data

    def rest(self) -> list[dict[str, Any]]:
        """All events until the stream ends."""
        return [data for line in self._lines if (data := self._line(line)) is not None]

    def _line(self, line: str) -> dict[str, Any] | None:
        if line.startswith("id: "):
            self.last = line[4:]
        if not line.startswith("data: "):
            return None
        told: dict[str, Any] = json.loads(line[6:])
        return told


@pytest.fixture(scope="module")
def served(doors: Doors) -> Iterator[Served]:
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(doors.app, log_level="warning", lifespan="off", access_log=False))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    wait_until(lambda: server.started, 10, "the gateway listens")
    yield Served(doors, f"http://127.0.0.1:{listening.getsockname()[1]}", Installation(doors.owner))
    server.should_exit = True
    thread.join(15)


def content(event: dict[str, Any]) -> str:
    return str(event["memory"]["content"])


def test_a_change_arrives_within_a_second(served: Served) -> None:
    with served.stream() as reader:
        reader.begun()
        began = time.monotonic()
        memory = served.say("Maya has a cat.")
        event = reader.next()
        assert time.monotonic() - began < 1
    assert (event["type"], event["memory"]["id"], event["id"]) == ("created", memory, reader.last)
    assert set(event) == {"id", "type", "memory", "reason", "run", "at"}


def test_a_stream_resumes_after_the_last_event(served: Served) -> None:
    with served.stream() as reader:
        reader.begun()
        served.say("First.")
        assert content(reader.next()) == "First."
        last = reader.last
    served.say("While away.")
    with served.stream(last=last) as reader:
        assert content(reader.next()) == "While away."
        served.say("Then.")
        assert content(reader.next()) == "Then."
    with served.stream(after=last) as reader:
        assert content(reader.next()) == "While away."


def test_streams_are_walled_by_tenant_agent_and_scope(served: Served) -> None:
    narrow = served.doors.key(agents=["at*"], scopes=["room:kitchen"], rights=["read"])
    with served.stream(narrow, after="0-0") as reader, served.stream(narrow, agent="atlas") as one:
        one.begun()
        served.say("Of globex.", tenant="globex")
        served.say("Of bolt.", agent="bolt")
        served.say("Of the cellar.", agent="cellar", kind="room")
        served.say("Of the kitchen.", agent="kitchen", kind="room")
        served.say("Of atlas itself.")
        told = []
        while "Of atlas itself." not in told:
            told.append(content(reader.next()))
        assert not {"Of globex.", "Of bolt.", "Of the cellar."} & set(told)
        assert "Of the kitchen." in told
        assert content(one.next()) == "Of atlas itself."


@pytest.mark.parametrize(
    ("query", "status", "problem"),
    [
        ({"after": "99999999999999-1"}, 410, "cursor-expired"),
        ({"after": "yesterday"}, 422, "invalid-request"),
        ({"agent": "bolt"}, 404, "not-found"),
        ({"scope": "room:cellar"}, 404, "not-found"),
        ({"scope": "agent:atlas"}, 422, "invalid-request"),
    ],
)
def test_what_can_not_be_followed_is_a_problem(
    served: Served, query: dict[str, str], status: int, problem: str
) -> None:
    narrow = served.doors.key(agents=["at*"], scopes=["room:kitchen"], rights=["read"])
    answer = httpx.get(f"{served.url}/v1/changes", params=query, headers={"Authorization": f"Bearer {narrow}"})
    assert (answer.status_code, answer.json()["type"]) == (status, f"/problems/{problem}")


def test_a_key_needs_the_right_to_read(served: Served) -> None:
    writer = served.doors.key(rights=["record"])
    answer = httpx.get(f"{served.url}/v1/changes", headers={"Authorization": f"Bearer {writer}"})
    assert answer.status_code == 403


def test_a_revoked_key_ends_its_stream(served: Served) -> None:
    key = served.doors.key(rights=["read"])
    with served.stream(key) as reader:
        reader.begun()
        served.doors.rows("UPDATE slowwave.api_keys SET revoked_at = now() WHERE prefix = %s", key[:11])
        served.say("After.")
        # The feed is read for this key, if for none else: Postgres itself ends it.
        assert "After." not in [content(event) for event in reader.rest()]


def test_one_key_has_a_bounded_number_of_streams(served: Served) -> None:
    streams = served.doors.app.state.streams
    key = served.doors.key(rights=["read"])
    most, streams.most = streams.most, 1
    try:
        with served.stream(key) as reader:
            reader.begun()
            answer = httpx.get(f"{served.url}/v1/changes", headers={"Authorization": f"Bearer {key}"})
            assert (answer.status_code, answer.json()["type"]) == (429, "/problems/too-many-streams")
            assert answer.headers["retry-after"]
    finally:
        streams.most = most


def test_a_client_that_is_too_slow_is_let_go() -> None:
    caller = Caller(uuid4(), "slow", "sw_slow", "acme", (), (), frozenset({"read"}), "00")
    stream = stream_of(caller, ["atlas"], [], None)
    for _ in range(WAITING):
        stream.offer(b"frame")
    ended = [stream.ended]
    stream.offer(b"one more")
    assert [*ended, stream.ended] == [False, True]
    assert stream.waiting.qsize() == WAITING, "what it was given first is sent, the rest is read when it comes back"
