"""`python -m proof.feed.crowd [--clients 10000]`: this many clients follow one gateway; one change must reach all of
them.
"""

import argparse
import asyncio
import os
import resource
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import psycopg

from slowwave_server.models.engine import make_engine
from slowwave_server.services.access.api_keys import NewKey, make_key
from slowwave_server.workers.stack.stack import Stack, StackOptions

AT_ONCE = 100
WAIT_SECONDS = 60.0
_MAKE = (
    "WITH s AS (INSERT INTO slowwave.scopes (tenant, kind, name) VALUES ('default', 'agent', 'atlas') RETURNING id)"
    " INSERT INTO slowwave.memories (scope_id, type, content, content_hash, confidence, importance, trust, valid_from,"
    " reaffirmed_at, recorded_at, search) SELECT id, 'fact', 'A fact', decode(md5('a'), 'hex'), 0.5, 0.5, 'user',"
    " now(), now(), now(), '' FROM s RETURNING id"
)
_CHANGE = "INSERT INTO slowwave.memory_changes (memory_id, action, reason) VALUES (%s, 'promoted', 'proof')"


class Crowd:
    """Clients of one gateway. begun: the number that follow; told: the number that got the change."""

    def __init__(self, url: str, key: str, clients: int) -> None:
        parts = urlsplit(url)
        self._address = (parts.hostname, parts.port)
        self._asked = f"GET /v1/changes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\r\n".encode()
        self._door = asyncio.Semaphore(AT_ONCE)
        self._clients = clients
        self.begun = self.told = self.failed = 0
        self.all_begun = asyncio.Event()
        self.last = 0.0

    async def follow(self) -> None:
        """Run one client until it has one change."""
        try:
            async with self._door:
                reader, writer = await asyncio.open_connection(*self._address)
                writer.write(self._asked)
                while not (await reader.readline()).startswith(b"id: "):
                    if reader.at_eof():
                        raise ConnectionError("the stream ended")
            self.begun += 1
            self._count()
            while not (await reader.readline()).startswith(b"data: "):
                if reader.at_eof():
                    raise ConnectionError("the stream ended")
            self.told += 1
            self.last = time.monotonic()
            writer.close()
        except OSError:
            self.failed += 1
            self._count()

    def _count(self) -> None:
        if self.begun + self.failed >= self._clients:
            self.all_begun.set()


async def gather(crowd: Crowd, clients: int, change: str, memory: object, gateway: int) -> dict[str, float]:
    """Connect all clients, change one memory, and wait until all have the change."""
    before, began = resident(gateway), time.monotonic()
    tasks = [asyncio.create_task(crowd.follow()) for _ in range(clients)]
    async with asyncio.timeout(10 * WAIT_SECONDS):
        await crowd.all_begun.wait()
    connected, used = time.monotonic() - began, resident(gateway)
    async with await psycopg.AsyncConnection.connect(change, autocommit=True) as connection:
        await connection.execute(_CHANGE, (memory,))
    said = time.monotonic()
    await asyncio.wait(tasks, timeout=WAIT_SECONDS)
    return {
        "clients": clients,
        "follow": crowd.begun,
        "failed": crowd.failed,
        "told": crowd.told,
        "seconds to connect": round(connected, 1),
        "seconds from commit to the last": round(crowd.last - said, 2),
        "MiB before": round(before, 1),
        "MiB with all": round(used, 1),
        "KiB each": round((used - before) * 1024 / clients, 1),
    }


def resident(pid: int) -> float:
    """Return the MiB of memory that a process uses."""
    text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(next(line for line in text.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024


def main() -> int:
    """Run this on its own stack."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=10_000)
    clients: int = parser.parse_args().clients
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    limits = {"STREAMS_PER_KEY": str(2 * clients), "REQUESTS_PER_SECOND": "0", "TENANT_REQUESTS_PER_SECOND": "0"}
    environment = os.environ | {f"SLOWWAVE_GATEWAY__{name}": value for name, value in limits.items()}
    with tempfile.TemporaryDirectory(prefix="slowwave-crowd-") as folder:
        wanted = StackOptions(Path(folder) / "data", flower=False, concurrency=1, gateway=True)
        with Stack(wanted, lambda _part, _line: None, environment) as stack:
            url = stack.settings.database_url
            with psycopg.connect(url, autocommit=True) as connection:
                row = connection.execute(_MAKE).fetchone()
            engine = make_engine(url)
            with engine.begin() as transaction:
                asked = NewKey(name="crowd", rights=["read"], agents=(), scopes=(), expires_at=None)
                _, key = make_key(transaction, "default", asked, by="proof", now=datetime.now(UTC))
            engine.dispose()
            pid = stack.children["gateway"].pid or 0

            async def run() -> dict[str, float]:
                return await gather(
                    Crowd(str(stack.gateway_url), key, clients), clients, url, row[0] if row else None, pid
                )

            found = asyncio.run(run())
    print(", ".join(f"{name} {value}" for name, value in found.items()))
    return 0 if found["told"] == clients else 1


if __name__ == "__main__":
    sys.exit(main())
