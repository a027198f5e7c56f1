"""`python -m proof.feed [--changes 20000] [--batch 1] [--calm 1000] [--every 12]`: changes are made while gateway,
workers, beat, Redis and Postgres are killed in turn; afterwards each reader must have each change, in order per memory.

The final ledger is the reference. A crash of Postgres can lose the newest commits (flushes don't wait for the disk); no
reader may have received a change that was lost. With `--batch N` each transaction makes N changes.
"""

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from urllib.request import Request, urlopen

import psycopg

from proof.feed.readers import Seen, read_iterator, read_stream, receiving
from proof.feed.report import Positions, holds, p95, report
from slowwave_server.models.engine import make_engine
from slowwave_server.services.access.api_keys import NewKey, make_key
from slowwave_server.workers.stack.stack import Stack, StackOptions

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "proof" / "feed.md"
TENANT = "default"
MEMORIES = 50
QUIET_SECONDS = 120.0
LOOK_SECONDS = 3.0
UNDER_FIRE = 0.9
"""The part of the changes that every reader must have before the kills end."""
EVERY_SECONDS = 12.0
"""The supervisor starts a program again at once if it lived for a minute, and waits up to 30 s otherwise."""
MOST_SECONDS = 1.0
"""The bound for p95 of the stream, from commit to arrival."""
VICTIMS = ("gateway", "postgres", "valkey", "worker", "beat")
_MAKE = (
    "INSERT INTO slowwave.memories (scope_id, type, content, content_hash, confidence, importance, trust, valid_from,"
    " reaffirmed_at, recorded_at, search) SELECT %s, 'fact', 'Fact ' || n, decode(md5(n::text), 'hex'), 0.5, 0.5,"
    " 'user', now(), now(), now(), '' FROM generate_series(1, %s) AS n RETURNING id"
)
_CHANGE = (
    "INSERT INTO slowwave.memory_changes (memory_id, action, reason) SELECT c.memory, 'promoted', c.reason"
    " FROM unnest(%s::uuid[], %s::text[]) WITH ORDINALITY AS c (memory, reason, place) ORDER BY c.place"
)


def change(
    url: str, memories: Sequence[object], numbers: Sequence[int], committed: dict[int, float], rate: float, batch: int
) -> None:
    """Change memories, `batch` changes per transaction, as flushes do: without waiting for the disk.

    committed: a mapping to which the time of each change's commit is added.
    """
    left, rest = list(numbers), batch / rate
    while left:
        try:
            with psycopg.connect(url, autocommit=True, connect_timeout=3) as connection:
                connection.execute("SET synchronous_commit = off")
                while left:
                    some = left[: -batch - 1 : -1]
                    connection.execute(_CHANGE, (random.choices(memories, k=len(some)), list(map(str, some))))
                    committed.update(dict.fromkeys(some, time.time()))
                    del left[-len(some) :]
                    time.sleep(rest)
        except psycopg.Error:
            time.sleep(0.1)


def kill(stack: Stack, ended: threading.Event, every: float, killed: list[str]) -> None:
    """Kill one program after the other with SIGKILL; the stack starts it again."""
    turn = 0
    while not ended.wait(every):
        names = [name for name in stack.children if any(name.startswith(victim) for victim in VICTIMS)]
        name = sorted(names)[turn % len(names)]
        pid = stack.children[name].pid
        if pid is not None:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                killed.append(name)
        turn += 1


def ledger_of(url: str) -> Positions:
    """Return the position of every committed change."""
    with psycopg.connect(url) as connection, connection.cursor("ledger") as rows:
        rows.itersize = 50_000
        return {(int(xid), number) for xid, number in rows.execute("SELECT xid::text, id FROM slowwave.memory_changes")}


def count_changes(url: str) -> int:
    """Return the number of committed changes."""
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT count(*) FROM slowwave.memory_changes").fetchone()
        return 0 if row is None else int(row[0])


def main() -> int:
    """Run the proof on its own stack."""
    options = _options()
    with tempfile.TemporaryDirectory(prefix="slowwave-feed-") as folder:
        environment = os.environ | {"SLOWWAVE_GATEWAY__WEBHOOKS__ALLOW_PRIVATE": "127.0.0.0/8"}
        environment |= {"SLOWWAVE_GATEWAY__REQUESTS_PER_SECOND": "0"}
        wanted = StackOptions(Path(folder) / "data", flower=False, concurrency=2, gateway=True)
        with Stack(wanted, lambda _part, _line: None, environment) as stack:
            return prove(stack, options)


@dataclass
class Proof:
    """One run: its readers, commits with times, and killed processes."""

    stack: Stack
    options: argparse.Namespace
    readers: tuple[Seen, Seen, Seen] = field(init=False)
    committed: dict[int, float] = field(default_factory=dict)
    killed: list[str] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)
    seconds: float = 0.0

    def __post_init__(self) -> None:
        stream, iterator, webhook = (Seen(name, self.options.calm) for name in ("stream", "iterator", "webhook"))
        self.readers = stream, iterator, webhook

    @property
    def url(self) -> str:
        return self.stack.settings.database_url

    def run(self) -> Positions:
        """Make changes, first without and then with faults. Return the ledger when all readers are done."""
        memories, key = self._prepare()
        with receiving(self.readers[2], fails_each=self.options.fails_each) as (hooks, secrets):
            secrets.append(self._add_webhook(hooks, key))
            self._read(key)
            change(self.url, memories, list(range(self.options.calm)), self.committed, 50, 1)
            began = time.monotonic()
            self._change_under_fire(memories)
            ledger = _settled(self.url, self.readers)
            self.seconds = time.monotonic() - began
            self.ended.set()
        return ledger

    def _prepare(self) -> tuple[list[object], str]:
        with psycopg.connect(self.url) as connection:
            made = "INSERT INTO slowwave.scopes (tenant, kind, name) VALUES (%s, 'agent', 'atlas') RETURNING id"
            scope = connection.execute(made, (TENANT,)).fetchone()
            memories = [row[0] for row in connection.execute(_MAKE, (scope and scope[0], MEMORIES)).fetchall()]
        engine = make_engine(self.url)
        with engine.begin() as transaction:
            asked = NewKey(name="proof", rights=["read", "administer"], agents=(), scopes=(), expires_at=None)
            _, key = make_key(transaction, TENANT, asked, by="proof", now=datetime.now(UTC))
        engine.dispose()
        return memories, key

    def _add_webhook(self, hooks: str, key: str) -> str:
        told = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        body = json.dumps({"url": hooks}).encode()
        asked = Request(f"{self.stack.gateway_url}/v1/webhooks", body, told)  # noqa: S310 (of this machine)
        with urlopen(asked, timeout=20) as answer:  # noqa: S310 (as above)
            return str(json.load(answer)["secret"])

    def _read(self, key: str) -> None:
        stream, iterator, _ = self.readers
        for target, args in (
            (read_stream, (str(self.stack.gateway_url), key, stream, self.ended)),
            (read_iterator, (self.stack.settings, TENANT, iterator, self.ended)),
        ):
            threading.Thread(target=target, args=args, daemon=True).start()

    def _change_under_fire(self, memories: list[object]) -> None:
        calm, options = threading.Event(), self.options
        until = time.monotonic() + options.minutes * 60
        noisy = range(options.calm, options.calm + options.changes)
        rate = options.rate / 2
        threads = [
            threading.Thread(
                target=change,
                args=(self.url, memories, list(noisy[part::2]), self.committed, rate, options.batch),
            )
            for part in range(2)
        ]
        killer = threading.Thread(target=kill, args=(self.stack, calm, options.every, self.killed))
        for thread in (killer, *threads):
            thread.start()
        for thread in threads:
            thread.join()
        # Batches are committed long before they are delivered, so the kills continue while the readers catch up.
        enough = options.calm + int(options.changes * UNDER_FIRE)
        while any(len(seen.known) < enough for seen in self.readers) and time.monotonic() < until:
            time.sleep(1)
        calm.set()
        killer.join()


def prove(stack: Stack, options: argparse.Namespace) -> int:
    """Run the proof and print the page of its result."""
    proof = Proof(stack, options)
    ledger = proof.run()
    page = report(proof.readers, ledger, proof.committed, proof.killed, proof.seconds)
    print(page)
    if options.page:
        PAGE.write_text(page, encoding="utf-8")
    late = p95(proof.readers[0], proof.committed) > MOST_SECONDS
    return 1 if late or not all(holds(seen, ledger) for seen in proof.readers) else 0


def _settled(url: str, readers: Sequence[Seen]) -> Positions:
    """Return the ledger, after all readers have it, or after they were quiet for QUIET_SECONDS."""
    last, since = -1, time.monotonic()
    while True:
        try:
            changes = count_changes(url)
            # A reader can't have each change before it has this number, so the ledger is read only then.
            if all(len(seen.known) >= changes for seen in readers):
                ledger = ledger_of(url)
                if all(ledger <= seen.known for seen in readers):
                    return ledger
            count = sum(seen.told for seen in readers)
            if count != last:
                last, since = count, time.monotonic()
            if time.monotonic() - since > QUIET_SECONDS:
                return ledger_of(url)
        except psycopg.Error:
            pass
        time.sleep(LOOK_SECONDS)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--changes", type=int, default=20_000)
    parser.add_argument("--calm", type=int, default=1000, help="changes before anything is killed, to time them")
    parser.add_argument("--every", type=float, default=EVERY_SECONDS, help="seconds between two kills")
    parser.add_argument("--rate", type=float, default=200.0, help="changes a second, at most")
    parser.add_argument("--minutes", type=float, default=60.0, help="the kills end after so long in any case")
    parser.add_argument("--batch", type=int, default=1, help="changes in one transaction")
    parser.add_argument("--fails-each", type=int, default=200, help="the receiver fails one request in so many")
    parser.add_argument("--page", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
