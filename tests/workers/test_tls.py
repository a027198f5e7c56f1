"""All three connections over TLS: a turn becomes a memory, and a server of another authority or name is refused."""

import socket
import ssl
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from slowwave import Memory, Settings
from slowwave.coordination.broker import connect_broker
from slowwave_server.models.engine import make_engine
from slowwave_server.services.reports.check import Check
from slowwave_server.services.reports.servers import check_broker, check_postgres
from tests.support.processes import wait_until
from tests.workers.fleet import PLAIN_APP, Fleet
from tests.workers.servers import OwnValkey
from tests.workers.tls import authority, certificate, tls_before

pytestmark = [pytest.mark.servers, pytest.mark.workers, pytest.mark.long, pytest.mark.timeout(180)]


def test_a_turn_becomes_a_memory_over_tls_and_strangers_are_refused(
    module_database: str, own_valkey: OwnValkey, tmp_path: Path
) -> None:
    ca, stranger = authority(tmp_path, "ours"), authority(tmp_path, "theirs")
    good, elsewhere = certificate(ca, "127.0.0.1"), certificate(ca, "elsewhere.example")
    address = urlsplit(module_database)
    postgres = f"{parse_qs(address.query)['host'][0]}/.s.PGSQL.5432"
    valkey = urlsplit(own_valkey.url)
    behind = (str(valkey.hostname), int(valkey.port or 0))
    with (
        tls_before(postgres, good, postgres=True) as postgres_port,
        tls_before(behind, good) as broker_port,
        tls_before(behind, elsewhere) as misnamed_port,
        tls_before(postgres, elsewhere, postgres=True) as misnamed_postgres,
    ):
        database = f"postgresql://postgres@127.0.0.1:{postgres_port}{address.path}?sslmode=verify-full&sslrootcert="
        broker = f"rediss://127.0.0.1:{broker_port}/0"
        misnamed = f"rediss://127.0.0.1:{misnamed_port}/0"
        for settings, cure in (
            (Settings(broker_url=broker, broker_ca=str(stranger)), "the authority of"),
            (Settings(broker_url=misnamed, broker_ca=str(ca)), "the host in SLOWWAVE_BROKER_URL"),
            (Settings(broker_url=broker), "SLOWWAVE_BROKER_CA"),
        ):
            with pytest.raises(RedisConnectionError, match="certificate verify failed"):
                connect_broker(settings).ping()
            _told(check_broker(connect_broker(settings)), cure)
        with pytest.raises(psycopg.OperationalError, match="certificate verify failed"):
            psycopg.connect(f"{database}{stranger}")
        for url, cure in (
            (f"{database}{stranger}", "the authority of"),
            (f"{database}{tmp_path / 'none.pem'}", "give sslrootcert"),
            (
                f"{database}{ca}".replace(str(postgres_port), str(misnamed_postgres)),
                "the host in SLOWWAVE_DATABASE_URL",
            ),
        ):
            _told(check_postgres(make_engine(url)), cure)
        none = Settings(broker_url=broker, broker_ca=str(tmp_path / "none.pem"))
        _told(check_broker(connect_broker(none)), "a file that is not there")
        fleet = Fleet(f"{database}{ca}", broker, tmp_path, SLOWWAVE_BROKER_CA=str(ca))
        try:
            fleet.worker(app=PLAIN_APP)
            with Memory(fleet.settings()) as memory:
                memory.turn_completed("atlas", "s1", [{"role": "user", "content": "I work as a nurse in Leeds."}])
                memory.session_idle("atlas", "s1")
                wait_until(lambda: _remembered(memory), 20, "the turn is a memory")
        finally:
            fleet.end()


def test_a_proxy_that_ends_leaves_no_connection_open(tmp_path: Path) -> None:
    ca = authority(tmp_path, "ours")
    trusting = ssl.create_default_context(cafile=str(ca))
    with socket.create_server(("127.0.0.1", 0)) as behind:
        with tls_before(behind.getsockname(), certificate(ca, "127.0.0.1")) as port:
            client = trusting.wrap_socket(socket.create_connection(("127.0.0.1", port)), server_hostname="127.0.0.1")
            client.sendall(b"hello")
            carried, _ = behind.accept()
            assert carried.recv(5) == b"hello"
        # Beneath TLS too, which the client has not ended: what a loop leaves open warns in whichever test comes later.
        with carried, socket.socket(fileno=client.detach()) as beneath:
            beneath.settimeout(5)
            while beneath.recv(4096):
                pass


def _told(checks: Iterable[Check], cure: str) -> None:
    """The doctor says that the server refuses, and what to do."""
    (check,) = checks
    assert (check.verdict, check.finding.startswith("refused")) == ("problem", True), check
    assert cure in (check.here or "")


def _remembered(memory: Memory) -> bool:
    return any(hit.kind == "memory" for hit in memory.search("atlas", "nurse in Leeds"))
