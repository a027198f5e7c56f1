"""What somebody with a key of their own, or with none, tries against the gateway: walls, rights, bodies, headers."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import uvicorn

from slowwave_server.workers.listening_sockets import DeadlineProtocol, listen_on
from tests.gateway.conftest import RIGHTS, Doors, open_doors
from tests.gateway.test_record import EVENTS, TURN

SESSION = "/v1/agents/support/sessions/monday"
ROUTES = (
    ("record", "POST", f"{SESSION}/turns", TURN),
    ("record", "POST", "/v1/agents/support/notes", {"content": "x"}),
    ("read", "POST", "/v1/agents/support/search", {"query": "Lisbon"}),
    ("read", "POST", "/v1/agents/support/context", {}),
    ("read", "GET", "/v1/agents", None),
    ("decide", "PATCH", "/v1/memories/01a214d2-343d-7087-af40-33c118d1ae2f", {"content": "x"}),
    ("forget", "POST", "/v1/forgets", {"agent": "support"}),
    ("administer", "GET", "/v1/keys", None),
)


@pytest.fixture(scope="module")
def doors(module_database: str, module_broker: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doors]:
    """A gateway with bodies of at most 20,000 bytes, which arrive within half a second."""
    rules = {"requests_per_second": 0, "max_body_bytes": 20_000, "body_seconds": 0.5}
    yield from open_doors(module_database, module_broker, tmp_path_factory.mktemp("gateway"), **rules)


@contextmanager
def on_a_port(doors: Doors, header_seconds: float = 10) -> Iterator[tuple[str, int]]:
    """The gateway behind a socket, for what no well-behaved client sends."""
    protocol = type("QuickProtocol", (DeadlineProtocol,), {"header_seconds": header_seconds})
    config = uvicorn.Config(doors.app, http=protocol, log_level="critical", access_log=False, lifespan="off")
    server = uvicorn.Server(config)
    with listen_on("127.0.0.1", 0) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        yield "127.0.0.1", listening.getsockname()[1]
        server.should_exit = True
        thread.join(30)


def raw(address: tuple[str, int], *parts: bytes, pause: float = 0.0) -> bytes:
    """What a server answers to bytes, sent in parts."""
    with socket.create_connection(address, timeout=20) as connection:
        for part in parts:
            try:
                connection.sendall(part)
            except OSError:
                break
            time.sleep(pause)  # the attack itself: bytes that come slowly
        answer = b""
        while portion := _received(connection):
            answer += portion
        return answer


def _received(connection: socket.socket) -> bytes:
    try:
        return connection.recv(65_536)
    except ConnectionResetError:
        return b""


def head(key: str, *lines: str, path: str = f"{SESSION}/turns") -> bytes:
    fixed = (f"POST {path} HTTP/1.1", "Host: x", f"Authorization: Bearer {key}", "Content-Type: application/json")
    return "\r\n".join((*fixed, *lines, "", "")).encode()


@pytest.mark.parametrize(("right", "method", "path", "body"), ROUTES, ids=[f"{r[0]} {r[2]}" for r in ROUTES])
def test_route_needs_its_right_and_no_other_does(
    doors: Doors, right: str, method: str, path: str, body: object
) -> None:
    more = {} if body is None else {"json": body}
    without = doors.key(rights=[one for one in RIGHTS if one != right])
    refused = doors.ask(method, path, key=without, **more)
    assert (refused.status_code, refused.json()["type"]) == (403, "/problems/right-missing")
    assert doors.ask(method, path, key=doors.key(rights=[right]), **more).status_code != 403


@pytest.mark.parametrize(
    "given",
    [
        None,
        "",
        "Bearer",
        "Bearer sw_short",
        "Basic c3c6c3c=",
        "Bearer sw_aaaaaaaa_" + "A" * 43,
        "Bearer sw_aaaaaaaa_" + "A" * 5000,
        "Bearer sw_aaaaaaaa_" + "A" * 42 + "'",
    ],
)
def test_no_key_or_a_made_up_one_is_refused(doors: Doors, given: str | None) -> None:
    headers = {} if given is None else {"Authorization": given}
    answer = doors.ask("POST", f"{SESSION}/turns", key="", headers=headers, json=TURN)
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")


def test_revoked_or_expired_key_stops_within_its_connection(doors: Doors) -> None:
    for change in ("revoked_at = now()", "expires_at = now() - interval '1 second'"):
        key = doors.key()
        assert doors.post(f"{SESSION}/turns", TURN, key=key).status_code == 200
        doors.rows(f"UPDATE slowwave.api_keys SET {change} WHERE prefix = %s", key[:11])
        refused = doors.post(f"{SESSION}/turns", TURN, key=key)
        assert (refused.status_code, refused.json()["type"]) == (401, "/problems/key-refused"), refused.text
    assert not list(doors.settings.spool.glob("*.jsonl")), "nothing waits in the spool for a key that is gone"


def test_key_of_another_tenant_changes_and_sees_nothing(doors: Doors) -> None:
    before = doors.post(f"{SESSION}/turns", TURN).json()["last_seq"]
    other = doors.full("globex")
    assert doors.post(f"{SESSION}/turns", TURN, key=other).json()["last_seq"] == 2
    assert len(doors.rows(EVENTS, "acme", "support", "monday")) == before
    for header in ("X-Tenant", "Slowwave-Tenant", "X-Slowwave-Tenant"):
        hits = doors.post("/v1/agents/support/search", {"query": "Lisbon"}, key=other, headers={header: "acme"})
        assert all(hit["sources"][0][1] <= 2 for hit in hits.json()["hits"])
    named = doors.post("/v1/agents/support/search", {"query": "Lisbon", "tenant": "acme"}, key=other)
    assert named.json()["errors"] == [{"where": "tenant", "what": "is unknown"}]


def test_agent_out_of_reach_answers_like_one_that_is_not_there(doors: Doors) -> None:
    key = doors.key(agents=("sales-*",))
    assert doors.post(f"{SESSION}/turns", TURN).status_code == 200
    answers = []
    for agent in ("support", "nobody"):
        told = doors.post(f"/v1/agents/{agent}/search", {"query": "x"}, key=key)
        body = {**told.json(), "request_id": ""}
        answers.append((told.status_code, json.dumps(body).replace(agent, "AGENT")))
    assert answers[0] == answers[1]
    assert answers[0][0] == 404
    assert doors.post("/v1/agents/sales-emea/search", {"query": "x"}, key=key).status_code == 200
    assert doors.post("/v1/agents/sales-%2F..%2Fsupport/search", {"query": "Lisbon"}, key=key).json() == {"hits": []}


def test_id_of_another_tenant_answers_like_one_that_is_not_there(doors: Doors) -> None:
    made = doors.rows(
        "INSERT INTO slowwave.memories (scope_id, type, status, content, confidence, importance, trust, valid_from,"
        " recorded_at, reaffirmed_at, content_hash, search) SELECT id, 'fact', 'active', 'secret', 0.9, 0.5, 'user',"
        " now(), now(), now(), 'x', '' FROM slowwave.scopes WHERE tenant = 'acme' AND kind = 'agent' LIMIT 1"
        " RETURNING id"
    )[0][0]
    unknown = "01a214d2-343d-7087-af40-33c118d1ae2f"
    for path in ("/v1/memories/{}", "/v1/memories/{}/explain"):
        told = [doors.get(path.format(one), key=doors.full("globex")) for one in (made, unknown)]
        bodies = [answer.text.replace(str(made), unknown).replace(answer.json()["request_id"], "") for answer in told]
        assert [answer.status_code for answer in told] == [404, 404]
        assert bodies[0] == bodies[1]
    assert doors.get(f"/v1/memories/{made}").status_code == 200


@pytest.mark.parametrize(
    ("body", "status", "name"),
    [
        (b"{" + b'"messages": [' + b"[" * 8000, 400, "not-json"),
        (b"[" * 9000 + b"]" * 9000, 400, "not-json"),
        (b'{"messages": [], "messages": []}', 400, "not-json"),
        (b'{"messages": [{"role": "user", "content": "a", "content": "b"}]}', 400, "not-json"),
        (b'{"messages": [{"role": "user", "content": "\xff\xfe"}]}', 400, "not-json"),
        (b'{"messages": NaN}', 400, "not-json"),
        (b'{"messages": [' + b"9" * 5000 + b"]}", 400, "not-json"),
        (b"null", 422, "invalid-request"),
        (b"[]", 422, "invalid-request"),
        (b'"text"', 422, "invalid-request"),
        (b'{"messages": [{"role": "user", "content": "x"}], "tenant": "globex"}', 422, "invalid-request"),
        (b'{"messages": [{"role": "user", "content": "x"}], "scope": "agent:support"}', 422, "invalid-request"),
        (b'{"messages": "x"}', 422, "invalid-request"),
        (b"x" * 20_001, 413, "too-large"),
        (b"", 422, "invalid-request"),
    ],
)
def test_body_that_is_no_turn_is_refused(doors: Doors, body: bytes, status: int, name: str) -> None:
    answer = doors.ask("POST", f"{SESSION}/turns", content=body, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["type"]) == (status, f"/problems/{name}"), answer.text


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/x-www-form-urlencoded"},
        {"Content-Type": "application/json; charset=utf-16"},
        {"Content-Type": "application/json", "Content-Encoding": "gzip"},
        {"Content-Type": ""},
    ],
)
def test_body_of_another_kind_is_refused(doors: Doors, headers: dict[str, str]) -> None:
    answer = doors.ask("POST", f"{SESSION}/turns", content=json.dumps(TURN).encode(), headers=headers)
    assert answer.status_code == 415


@pytest.mark.parametrize("path", ["/v1/agents/a%00b/search", "/v1/agents/%ff/search", "/v1/agents/a%0Ab/search"])
def test_address_that_is_no_name_is_refused(doors: Doors, path: str) -> None:
    assert doors.post(path, {"query": "x"}).status_code == 422


def test_forged_address_does_not_go_round_the_walls(doors: Doors) -> None:
    key = doors.key(agents=("support",))
    for path in ("/v1/agents/support/../sales/search", "/v1/agents/support%2F..%2Fsales/search"):
        assert doors.post(path, {"query": "x"}, key=key).status_code == 404


@pytest.mark.long
def test_bodies_that_never_end_are_given_up(doors: Doors) -> None:
    key = doors.full()
    with on_a_port(doors) as address:
        slow = raw(address, head(key, "Content-Length: 500"), b'{"messages"', pause=1)
        assert slow.startswith(b"HTTP/1.1 408"), slow[:200]
        endless = [b"1000\r\n" + b" " * 4096 + b"\r\n"] * 6
        assert raw(address, head(key, "Transfer-Encoding: chunked"), *endless).startswith(b"HTTP/1.1 413")
        declared = raw(address, head(key, "Content-Length: 99999999999"), b"x")
        assert declared.startswith(b"HTTP/1.1 413")
        both = raw(address, head(key, "Content-Length: 5", "Transfer-Encoding: chunked"), b"0\r\n\r\n")
        assert both.split(b" ")[1] in {b"400", b"422"}, both[:200]
        unknown = raw(address, head("sw_aaaaaaaa_" + "A" * 43, "Content-Length: 500"), b"{")
        assert unknown.startswith(b"HTTP/1.1 401"), "a body is not waited for before the key is known"
        assert b"connection: close" in unknown.lower()


def trickle(address: tuple[str, int], sent: bytes, endless: bytes) -> tuple[bytes, float]:
    """Send bytes, then one more every 20 ms until the server closes. Return its answers and the seconds since then."""
    answer = b""
    with socket.create_connection(address, timeout=0.02) as connection:
        connection.sendall(sent)
        began = time.monotonic()
        while time.monotonic() - began < 20:
            try:
                connection.sendall(endless)
                if not (portion := connection.recv(65_536)):
                    break
                answer += portion
            except TimeoutError:
                continue
            except OSError:
                break
        return answer, time.monotonic() - began


@pytest.mark.parametrize(
    ("sent", "answers"),
    [
        (b"GET /", 0),
        (b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ", 0),
        (b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /healthz HTTP/1.1\r\nX-Slow: ", 1),
        (b"POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 900000\r\n\r\n", 1),
    ],
    ids=["path", "header", "second request", "body that no route reads"],
)
def test_headers_that_trickle_are_given_up(doors: Doors, sent: bytes, answers: int) -> None:
    with on_a_port(doors, header_seconds=0.5) as address:
        answer, seconds = trickle(address, sent, b"a")
    assert 0.4 < seconds < 5
    assert answer.count(b"HTTP/1.1 ") == answers + 1, answer
    assert answer.endswith(b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")


def test_silent_connection_is_given_up(doors: Doors) -> None:
    with on_a_port(doors, header_seconds=0.3) as address, socket.create_connection(address, timeout=10) as connection:
        assert connection.recv(100).startswith(b"HTTP/1.1 408")
        assert connection.recv(100) == b""


def test_slow_answer_is_no_slow_request(doors: Doors) -> None:
    with on_a_port(doors, header_seconds=0.3) as address, socket.create_connection(address, timeout=10) as connection:
        connection.sendall(head(doors.full(), "Content-Length: 80"))
        assert connection.recv(4096).startswith(b"HTTP/1.1 408"), "the body has a limit of its own"
    slow = f"GET /v1/changes?agent=a HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {doors.full()}\r\n\r\n".encode()
    with on_a_port(doors, header_seconds=0.3) as address, socket.create_connection(address, timeout=1.5) as connection:
        connection.sendall(slow)
        assert connection.recv(4096).startswith(b"HTTP/1.1 200")
        with pytest.raises(TimeoutError):
            all(iter(lambda: connection.recv(4096), b""))


def test_headers_out_of_form_are_refused_or_replaced(doors: Doors) -> None:
    assert "\t" not in doors.get("/healthz", headers={"X-Request-Id": "a\tb"}).headers["X-Request-Id"]
    for name, status in (("Idempotency-Key", 422), ("Slowwave-Taken", 200)):
        assert doors.post(f"{SESSION}/turns", TURN, headers={name: "x" * 500}).status_code == status
