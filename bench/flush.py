"""Measure flush throughput with the rules extractor, compared with a Celery task that only inserts one row and commits.

Run: python -m bench.flush [--messages 2000] [--rounds 5]. Both run with two prefork processes on the same servers, with
the same flags, in turn; throughput is the number of commits between the first and the last, over the time between them.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import psycopg

from bench.due_sessions import make_due_sessions
from bench.report import Row, note
from slowwave.coordination.flush_queue import FlushQueue, redis_from_url
from slowwave.coordination.queue_messages import envelope, new_id
from slowwave_server.workers.stack.stack import Stack, StackOptions

LEAST_RATIO = 0.5
DEADLINE_SECONDS = 300.0
LOOK_SECONDS = 0.5
"""The interval between two progress checks: each check counts all rows, on the measured processors."""


def wait_until(done: Callable[[], bool], what: str, seconds: float = 0.0) -> None:
    """Wait for a condition, at most DEADLINE_SECONDS, or `seconds` if that is longer."""
    deadline = time.monotonic() + max(DEADLINE_SECONDS, seconds)
    pause = threading.Event()
    while not done():
        if time.monotonic() > deadline:
            raise TimeoutError(what)
        pause.wait(LOOK_SECONDS)


@contextmanager
def running_stack() -> Iterator[Stack]:
    """Run a separate stack with two processes and without Flower for the block."""
    with tempfile.TemporaryDirectory(prefix="slowwave-bench-") as folder:
        options = StackOptions(data=Path(folder) / "data", flower=False, concurrency=2)
        with Stack(options, lambda _part, _line: None) as stack:
            yield stack


class Bench:
    """Both sides on one stack."""

    def __init__(self, stack: Stack) -> None:
        self.settings = stack.settings
        self.connection = psycopg.connect(self.settings.database_url, autocommit=True)
        self.redis = redis_from_url(self.settings.broker_url)
        self.queue = FlushQueue(self.redis)
        self.connection.execute(
            "CREATE TABLE bench_rows (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, number bigint, content text,"
            " committed_at timestamptz DEFAULT clock_timestamp())"
        )

    def count(self, table: str) -> int:
        row = self.connection.execute(f"SELECT count(*) FROM {table}").fetchone()
        return 0 if row is None else int(row[0])

    def flushes(self, name: str, messages: int) -> float:
        """Flush `messages` sessions, each of a different agent. Return the flushes per second."""
        before = self.count("slowwave.flushes")
        with psycopg.connect(self.settings.database_url) as connection:
            refs = make_due_sessions(connection, [(f"{name}-{n}", 1) for n in range(messages)])
        self.queue.offer_many([(ref, "normal") for ref in refs])
        wait_until(lambda: self.count("slowwave.flushes") >= before + messages, "all flushes")
        return self.rate("slowwave.flushes", messages)

    def inserts(self, messages: int) -> float:
        """Insert as many rows. Return the inserts per second."""
        before = self.count("bench_rows")
        with self.redis.pipeline(transaction=False) as pipeline:
            for number in range(messages):
                text = f"I moved to a small flat near the harbour last month. Number {number}."
                message = envelope("bench.insert", [number, text], {}, "bench-insert", task_id=new_id())
                pipeline.lpush("bench-insert", message)
            pipeline.execute()
        wait_until(lambda: self.count("bench_rows") >= before + messages, "all inserts")
        return self.rate("bench_rows", messages)

    def rate(self, table: str, messages: int) -> float:
        """Return the commits per second over the last `messages` rows of a table."""
        row = self.connection.execute(
            f"SELECT extract(epoch FROM max(committed_at) - min(committed_at)) FROM"
            f" (SELECT committed_at FROM {table} ORDER BY id DESC LIMIT {messages}) AS last"
        ).fetchone()
        return (messages - 1) / float(row[0]) if row else 0.0


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with running_stack() as stack:
        flushes, inserts = measure(stack, options.messages, options.rounds)
    ratio = median(flushes) / median(inserts)
    what, than = "flush with the rules extractor", "Celery task that inserts one row"
    note(Row("d", what, median(flushes), than, median(inserts), "/s", ratio, f">= {LEAST_RATIO}"))
    print(f"{'two processes, a second':34}{'median':>10}{'all rounds':>30}")
    print(f"{'insert one row and commit':34}{median(inserts):10.0f}{', '.join(f'{r:.0f}' for r in inserts):>30}")
    print(f"{'flush with the rules extractor':34}{median(flushes):10.0f}{', '.join(f'{r:.0f}' for r in flushes):>30}")
    print(f"ratio {ratio:.2f} (at least {LEAST_RATIO})")
    return 0


def measure(stack: Stack, messages: int, rounds: int) -> tuple[list[float], list[float]]:
    """Measure both sides in turn, after one short warm-up round each. Return (flushes, inserts) per second."""
    bench = Bench(stack)
    urls = {"SLOWWAVE_DATABASE_URL": stack.settings.database_url, "SLOWWAVE_BROKER_URL": stack.settings.broker_url}
    flags = ["-c", "2", "--without-gossip", "--without-mingle", "--loglevel", "INFO"]  # the URLs of the stack's workers
    command = [sys.executable, "-m", "celery", "-A", "bench.insert_app", "worker", *flags]
    with subprocess.Popen(
        command, env=os.environ | urls, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as worker:
        try:
            bench.inserts(200)
            bench.flushes("warm", 200)
            inserts, flushes = [], []
            for number in range(rounds):
                inserts.append(bench.inserts(messages))
                flushes.append(bench.flushes(f"round{number}", messages))
            return flushes, inserts
        finally:
            worker.terminate()


if __name__ == "__main__":
    sys.exit(main())
