"""Calls over HTTP, against a real server with scripted answers: what is tried again, and what each answer raises."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from slowwave import (
    CannotChange,
    InvalidQuery,
    Memory,
    NotAllowed,
    NotFound,
    RateLimited,
    ScopeConflict,
    SlowwaveError,
    StoreUnavailable,
    TooLarge,
)
from slowwave.http.wire import Wire

KEY = "sw_abcdefgh_" + "k" * 43
RECEIPT = {"added": 1, "repeated": 0, "ignored": 0, "last_seq": 1, "due": False, "reason": None, "stored": "postgres"}
Scripted = tuple[int, Any, Mapping[str, str]]


@dataclass
class Gateway:
    """answer: what a request gets, by its number and its body; asked: the requests, as (headers, body)."""

    answer: Callable[[int, Any], Scripted]
    asked: list[tuple[Mapping[str, str], Any]] = field(default_factory=list)
    url: str = ""

    def keys(self) -> list[str]:
        return [headers["Idempotency-Key"] for headers, _ in self.asked]


@pytest.fixture
def gateway() -> Iterator[Gateway]:
    gateway = Gateway(lambda _number, _body: (200, {}, {}))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            gateway.asked.append((dict(self.headers), body))
            status, told, headers = gateway.answer(len(gateway.asked), body)
            sent = told if isinstance(told, bytes) else json.dumps(told).encode()
            self.send_response(status)
            for name, value in ({"Content-Length": str(len(sent))} | dict(headers)).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    gateway.url = f"http://127.0.0.1:{server.server_port}"
    yield gateway
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def wire(gateway: Gateway) -> Iterator[Wire]:
    wire = Wire(gateway.url, KEY, timeout_seconds=2)
    yield wire
    wire.close()


def problem(name: str, status: int) -> dict[str, Any]:
    return {"type": f"/problems/{name}", "title": name, "status": status, "detail": f"it is {name}"}


@pytest.mark.parametrize(
    "first",
    [
        (503, problem("postgres-away", 503), {"Retry-After": "0"}),
        (429, problem("too-many", 429), {"Retry-After": "0"}),
        (409, problem("in-progress", 409), {}),
        (502, b"<html>bad gateway</html>", {}),
    ],
    ids=["503", "429", "in progress", "html"],
)
def test_a_call_is_tried_again_with_the_same_key(wire: Wire, gateway: Gateway, first: Scripted) -> None:
    gateway.answer = lambda number, _body: first if number == 1 else (200, {"marked": 3}, {})
    assert wire.call("POST", "/v1/x", body={}, key="k-1").body == {"marked": 3}
    assert gateway.keys() == ["k-1", "k-1"]
    assert all(headers["Authorization"] == f"Bearer {KEY}" for headers, _ in gateway.asked)


def test_a_call_waits_as_long_as_it_is_asked_to(wire: Wire, gateway: Gateway) -> None:
    gateway.answer = lambda number, _: (429, {}, {"Retry-After": "1"}) if number == 1 else (200, {}, {})
    begun = time.monotonic()
    wire.call("POST", "/v1/x", body={})
    assert time.monotonic() - begun >= 1


def test_a_long_wait_is_left_to_the_caller(wire: Wire, gateway: Gateway) -> None:
    gateway.answer = lambda _number, _body: (429, problem("quota-used", 429), {"Retry-After": "3600"})
    with pytest.raises(RateLimited, match="quota-used") as refused:
        wire.call("POST", "/v1/x", body={})
    assert refused.value.retry_after == 3600
    assert len(gateway.asked) == 1


@pytest.mark.parametrize(
    ("status", "name", "raised"),
    [
        (401, "key-refused", NotAllowed),
        (403, "right-missing", NotAllowed),
        (404, "not-found", NotFound),
        (409, "conflict", CannotChange),
        (409, "scope-conflict", ScopeConflict),
        (413, "too-large", TooLarge),
        (422, "invalid-request", InvalidQuery),
    ],
)
def test_a_refusal_is_raised_at_once(
    wire: Wire, gateway: Gateway, status: int, name: str, raised: type[SlowwaveError]
) -> None:
    gateway.answer = lambda _number, _body: (status, problem(name, status), {})
    with pytest.raises(raised, match=f"it is {name}"):
        wire.call("POST", "/v1/x", body={})
    assert len(gateway.asked) == 1


def test_a_failing_gateway_is_unavailable(wire: Wire, gateway: Gateway) -> None:
    gateway.answer = lambda _number, _body: (500, problem("internal", 500), {})
    with pytest.raises(StoreUnavailable, match="it is internal"):
        wire.call("POST", "/v1/x", body={})


def test_a_turn_that_exceeds_the_rate_waits_in_the_spool(gateway: Gateway, tmp_path: Path) -> None:
    gateway.answer = lambda number, _: (429, {}, {"Retry-After": "60"}) if number == 1 else (200, RECEIPT, {})
    with Memory.from_url(gateway.url, KEY, spool=tmp_path) as memory:
        assert memory.turn_completed("atlas", "s", [{"role": "user", "content": "one"}]).stored == "spool"
        assert memory.flush(30)
    first, second = gateway.asked
    assert first[0]["Idempotency-Key"] == second[0]["Idempotency-Key"]
    assert "Slowwave-Taken" not in first[0]
    assert second[1]["messages"][0]["at"] == second[0]["Slowwave-Taken"]


def test_what_is_refused_for_good_holds_up_nothing(gateway: Gateway, tmp_path: Path) -> None:
    def answer(_number: int, body: Any) -> Scripted:
        refused = body["messages"][0]["content"] == "bad"
        return (422, problem("invalid-request", 422), {}) if refused else (200, RECEIPT, {})

    gateway.answer = answer
    with Memory.from_url(gateway.url, KEY, spool=tmp_path, mode="background") as memory:
        for line in ("one", "bad", "two"):
            memory.turn_completed("atlas", "s", [{"role": "user", "content": line}])
        assert memory.flush(30)
    assert [body["messages"][0]["content"] for _, body in gateway.asked] == ["one", "bad", "two"]
    (file,) = tmp_path.glob("*.rejected")
    assert "it is invalid-request" in file.read_text("utf-8")


def test_another_key_leaves_what_waits_alone(gateway: Gateway, tmp_path: Path) -> None:
    gateway.answer = lambda _number, _body: (503, {}, {})
    with Memory.from_url(gateway.url, KEY, spool=tmp_path) as memory:
        memory.turn_completed("atlas", "s", [{"role": "user", "content": "one"}])
    gateway.answer = lambda _number, _body: (200, RECEIPT, {})
    with Memory.from_url(gateway.url, KEY[:-1] + "x", spool=tmp_path) as other:
        assert other.flush(30)
        assert other.backend.gateway.waiting().files == 1  # type: ignore[union-attr]
    with Memory.from_url(gateway.url, KEY, spool=tmp_path) as memory:
        assert memory.flush(30)
    assert list(tmp_path.glob("*.jsonl")) == []
