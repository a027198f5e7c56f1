"""Measure sweeps: many sessions due at once drain at the workers' full speed, and one busy agent delays no other agent.

Run: python -m bench.sweep [--sessions 50000] [--busy 10000]. Full speed is the rate of the same workers when all
messages are in the queue already (over a tenth as many sessions, before and after, since machines change from minute to
minute). The bench makes no offers itself: beat's sweep finds the due sessions.
"""

import argparse
import sys
from statistics import mean

import psycopg

from bench.due_sessions import make_due_sessions
from bench.flush import Bench, running_stack, wait_until
from bench.report import Row, note

SESSIONS_PER_AGENT = 10
OTHERS = 200
LEAST_SHARE = 0.8


def drain(bench: Bench, name: str, sessions: int) -> float:
    """Return the flushes per second if only the sweep finds `sessions` due ones."""
    before = bench.count("slowwave.flushes")
    with psycopg.connect(bench.settings.database_url) as connection:
        agents = [(f"{name}-{n}", SESSIONS_PER_AGENT) for n in range(sessions // SESSIONS_PER_AGENT)]
        make_due_sessions(connection, agents)
    wait_until(
        lambda: bench.count("slowwave.flushes") >= before + sessions,
        "the sweep to drain everything",
        seconds=sessions / 10,
    )
    return bench.rate("slowwave.flushes", sessions)


def others_wait(bench: Bench, name: str, busy: int) -> float:
    """Return the seconds until `OTHERS` agents with one session each are flushed, beside one agent with `busy` older
    sessions.
    """
    with psycopg.connect(bench.settings.database_url) as connection:
        if busy:
            make_due_sessions(connection, [(f"{name}-busy", busy)], due_ago=60)
        make_due_sessions(connection, [(f"{name}-other-{n}", 1) for n in range(OTHERS)], due_ago=1)
        row = connection.execute("SELECT clock_timestamp()").fetchone()
    began = row[0] if row else None
    query = (
        "SELECT count(*), extract(epoch FROM max(f.committed_at) - %s) FROM slowwave.flushes f"
        " JOIN slowwave.sessions s ON s.id = f.session_id WHERE s.name LIKE %s"
    )
    last: list[float] = []

    def done() -> bool:
        found = bench.connection.execute(query, (began, f"{name}-other-%")).fetchone()
        if found is not None and found[0] >= OTHERS:
            last.append(float(found[1]))
        return bool(last)

    wait_until(done, "the other agents")
    return last[0]


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=50_000)
    parser.add_argument("--busy", type=int, default=10_000)
    options = parser.parse_args()
    with running_stack() as stack:
        bench = Bench(stack)
        bench.flushes("warm", 200)
        alone = others_wait(bench, "alone", 0)
        before = bench.flushes("before", options.sessions // 10)
        swept = drain(bench, "swept", options.sessions)
        full = mean((before, bench.flushes("after", options.sessions // 10)))
        beside = others_wait(bench, "beside", options.busy)
    what = f"{options.sessions:,} sessions due at once, found by sweeps"
    note(Row("g", what, swept, "all in the queue already", full, "/s", swept / full, f">= {LEAST_SHARE}"))
    what = f"{OTHERS} agents beside one with {options.busy:,} sessions due before them"
    note(Row("g", what, beside, "the same without it", alone, "s", beside / alone))
    print(f"all in the queue already      {full:8.0f} flushes a second")
    print(f"{options.sessions:,} due, found by sweeps {swept:8.0f} flushes a second, ratio {swept / full:.2f}")
    print(f"{OTHERS} agents, one session each: flushed after {alone:.1f} s alone,")
    print(f"   after {beside:.1f} s beside one agent with {options.busy:,} sessions that were due before them")
    return 0


if __name__ == "__main__":
    sys.exit(main())
