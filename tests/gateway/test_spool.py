"""The gateway while Postgres is away: it records into its spool with 202, delivers later, and sets aside refusals."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict

from tests.gateway.conftest import Doors, open_doors
from tests.gateway.test_record import EVENTS, TURN
from tests.support.processes import wait_until

pytestmark = pytest.mark.servers

SECONDS = 60.0
UNKNOWN = "sw_aaaaaaaa_" + "A" * 43
"""A key of the right form that Postgres has never seen."""


class Cable:
    """A socket before Postgres that can be cut: open connections end, and new ones are refused."""

    def __init__(self, server: str, folder: Path) -> None:
        self._server = server
        self.folder = folder
        self._path = folder / ".s.PGSQL.5432"
        self._lock = threading.Lock()
        self._ends: list[socket.socket] = []
        self._listener: socket.socket | None = None
        self.join()

    def join(self) -> None:
        """Carry bytes (again)."""
        listener = self._listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(self._path))
        listener.listen(64)
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def cut(self) -> None:
        """End everything."""
        if self._listener is None:
            return
        self._path.unlink()
        with self._lock:
            ends, self._ends = [self._listener, *self._ends], []
            self._listener = None
        for end in ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    @contextmanager
    def away(self) -> Iterator[None]:
        self.cut()
        try:
            yield
        finally:
            self.join()

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._server)
                with self._lock:
                    self._ends += (client, server)
                for source, target in ((client, server), (server, client)):
                    threading.Thread(target=self._carry, args=(source, target), daemon=True).start()

    @staticmethod
    def _carry(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                target.sendall(data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@pytest.fixture(scope="module")
def cable(module_database: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cable]:
    host = conninfo_to_dict(module_database)["host"]
    cable = Cable(f"{host}/.s.PGSQL.5432", tmp_path_factory.mktemp("pg"))
    yield cable
    cable.cut()


@pytest.fixture(scope="module")
def doors(
    cable: Cable, module_database: str, module_broker: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Doors]:
    """A gateway that reaches Postgres through the cable."""
    folder = tmp_path_factory.mktemp("gateway")
    yield from open_doors(module_database, module_broker, folder, through=cable.folder, requests_per_second=0)


def path(session: str) -> str:
    return f"/v1/agents/support/sessions/{session}/turns"


def turn(text: str) -> dict[str, object]:
    return {"messages": [{"role": "user", "content": text}]}


def said(doors: Doors, session: str, tenant: str = "acme") -> list[str]:
    return [content for _, content in doors.rows(EVENTS, tenant, "support", session)]


def waiting(doors: Doors, pattern: str = "*.jsonl") -> list[Path]:
    found = []
    for path in doors.settings.spool.glob(pattern):
        with suppress(FileNotFoundError):  # delivered meanwhile
            found += [path] if path.stat().st_size else []
    return found


def test_turns_are_accepted_and_delivered_in_order(doors: Doors, cable: Cable) -> None:
    assert doors.post(path("order"), turn("one")).status_code == 200
    with cable.away():
        for text in ("two", "three"):
            answer = doors.post(path("order"), turn(text))
            assert (answer.status_code, answer.json()["stored"], answer.json()["last_seq"]) == (202, "spool", None)
        assert waiting(doors)
    wait_until(lambda: said(doors, "order") == ["one", "two", "three"], SECONDS, "the spool is delivered")
    wait_until(lambda: not waiting(doors), SECONDS, "the spool is empty")
    assert doors.post(path("order"), turn("four")).json()["last_seq"] == 4


def test_repeated_key_is_recorded_once_across_an_outage(doors: Doors, cable: Cable) -> None:
    headers = {"Idempotency-Key": "turn-9"}
    assert doors.post(path("once"), turn("one"), headers=headers).status_code == 200
    with cable.away():
        assert [doors.post(path("once"), turn("one"), headers=headers).status_code for _ in range(2)] == [202, 202]
    wait_until(lambda: not waiting(doors), SECONDS, "the spool is empty")
    assert said(doors, "once") == ["one"]


def test_reads_answer_503_with_retry_after(doors: Doors, cable: Cable) -> None:
    assert doors.post("/v1/agents/support/search", {"query": "Lisbon"}).status_code == 200
    with cable.away():
        for method, asked, body in (
            ("POST", "/v1/agents/support/search", {"query": "Lisbon"}),
            ("POST", "/v1/agents/support/context", {}),
            ("GET", "/v1/agents", None),
        ):
            answer = doors.ask(method, asked, **({} if body is None else {"json": body}))
            assert (answer.status_code, answer.json()["type"]) == (503, "/problems/postgres-away"), answer.text
            assert int(answer.headers["Retry-After"]) > 0


def test_unknown_key_records_nothing_while_postgres_is_away(doors: Doors, cable: Cable) -> None:
    before = len(waiting(doors))
    with cable.away():
        answer = doors.post(path("unknown"), TURN, key=UNKNOWN)
        assert answer.status_code == 503
        assert len(waiting(doors)) == before


def test_two_tenants_are_delivered_apart(doors: Doors, cable: Cable) -> None:
    for tenant in ("acme", "globex"):
        assert doors.post(path("apart"), turn(f"{tenant} before"), key=doors.full(tenant)).status_code == 200
    with cable.away():
        for tenant in ("acme", "globex"):
            assert doors.post(path("apart"), turn(f"{tenant} away"), key=doors.full(tenant)).status_code == 202
    wait_until(lambda: not waiting(doors), SECONDS, "the spool is empty")
    for tenant in ("acme", "globex"):
        assert said(doors, "apart", tenant) == [f"{tenant} before", f"{tenant} away"]


def test_turn_of_a_key_revoked_meanwhile_is_set_aside(doors: Doors, cable: Cable) -> None:
    key = doors.key()
    assert doors.post(path("revoked"), turn("before"), key=key).status_code == 200
    with cable.away():
        assert doors.post(path("revoked"), turn("away"), key=key).status_code == 202
        doors.rows("UPDATE slowwave.api_keys SET revoked_at = now() WHERE prefix = %s", key[:11])

    def set_aside() -> str:
        return "".join(rejected.read_text(encoding="utf-8") for rejected in waiting(doors, "*.rejected"))

    wait_until(lambda: "away" in set_aside(), SECONDS, "the turn is set aside")
    text = set_aside()
    assert "revoked" in text
    assert key[12:] not in text
    assert said(doors, "revoked") == ["before"]
    assert doors.post(path("others"), turn("still heard")).status_code == 200
