"""Measure the cost of a day as it grows: its first summary, and the next one after twenty new events.

Run: python -m bench.days_size [--rounds 3] [--small 2000] [--large 20000]. Each round has new days, of four
conversations, without similar sentences. Events are written in bulk and counted as capture would count them; the clock
runs while a day is read, summarised and committed. The bound is that ten times the events cost at most twelve times as
much.
"""

import argparse
import sys
import time
from datetime import UTC, datetime, timedelta
from statistics import median

import psycopg
from sqlalchemy import Engine

from bench.report import Row, note
from bench.statements import Life
from slowwave.settings import Days, Settings
from slowwave_server.models.engine import make_engine
from slowwave_server.services.days.book import DayRef, find_days
from slowwave_server.services.days.summarize import summarize_day
from slowwave_server.workers.scratch import scratch_servers

NOW = datetime(2024, 5, 10, 12, tzinfo=UTC)
SESSIONS = 4
MORE = 20
MOST_GROWTH = 12.0


def add_events(connection: "psycopg.Connection[tuple[object, ...]]", agent: str, said: list[str]) -> None:
    """Add events of today to the sessions of an agent, which is created if it is new."""
    connection.execute(
        "INSERT INTO slowwave.agents (tenant, name) VALUES ('default', %s) ON CONFLICT DO NOTHING", (agent,)
    )
    connection.execute(
        "INSERT INTO slowwave.scopes (tenant, kind, name) VALUES ('default', 'agent', %s) ON CONFLICT DO NOTHING",
        (agent,),
    )
    for number in range(SESSIONS):
        texts = said[number::SESSIONS]
        row = connection.execute(
            "INSERT INTO slowwave.sessions AS s (agent_id, scope_id, name, last_seq, last_seen_at)"
            " SELECT a.id, k.id, %s, %s, %s FROM slowwave.agents a"
            " JOIN slowwave.scopes k ON (k.tenant, k.kind, k.name) = (a.tenant, 'agent', a.name) WHERE a.name = %s"
            " ON CONFLICT (agent_id, name) DO UPDATE SET last_seq = s.last_seq + excluded.last_seq"
            " RETURNING s.id, s.last_seq",
            (f"s{number}", len(texts), NOW, agent),
        ).fetchone()
        if row is None:
            raise AssertionError("RETURNING answers a row")
        session_id, last_seq = int(str(row[0])), int(str(row[1]))
        columns = "session_id, seq, turn, kind, role, name, content, happened_at, recorded_at, day"
        with connection.cursor() as cursor, cursor.copy(f"COPY slowwave.events ({columns}) FROM STDIN") as copy:
            for seq, text in enumerate(texts, start=last_seq - len(texts) + 1):
                at = NOW - timedelta(hours=11) + timedelta(seconds=seq)
                copy.write_row((session_id, seq, seq, "user", "user", "Maya", text, at, at, NOW.date()))
        connection.execute("SELECT slowwave.count_days(%s, %s)", (session_id, last_seq - len(texts)))
    connection.commit()


def new(life: Life, known: set[str], count: int) -> list[str]:
    """Return statements that were not said before."""
    before = len(known)
    said: list[str] = []
    while len(known) < before + count:
        statement = life.statement()
        if statement not in known:
            known.add(statement)
            said.append(statement)
    return said


def timed(engine: Engine, day: DayRef, *, reads: int) -> float:
    """Make one summary, which must read `events` events. Return the seconds."""
    began = time.perf_counter()
    report = summarize_day(engine, day, settings=Days(), now=NOW)
    seconds = time.perf_counter() - began
    if report.outcome != "summarized" or report.read < reads:
        raise AssertionError(f"a summary was {report.outcome} and read {report.read} events, not {reads}")
    return seconds


def cost(engine: Engine, url: str, name: str, size: int, seed: int) -> tuple[float, float]:
    """Return the seconds of the first summary of a day of `size` events, and of the next one after `MORE` further
    events.
    """
    life, known = Life(seed), set[str]()
    with psycopg.connect(url) as connection:
        add_events(connection, name, new(life, known, size))
        with engine.connect() as reader:
            (day,) = find_days(reader, "default", name, NOW.date())
        whole = timed(engine, day, reads=size)
        add_events(connection, name, new(life, known, MORE))
    return whole, timed(engine, day, reads=MORE)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--small", type=int, default=2_000)
    parser.add_argument("--large", type=int, default=20_000)
    options = parser.parse_args()
    small: list[tuple[float, float]] = []
    large: list[tuple[float, float]] = []
    with scratch_servers(Settings()) as settings:
        engine = make_engine(settings.database_url)
        cost(engine, settings.database_url, "warm", 200, 0)
        for number in range(options.rounds):  # alternate, so that a slow minute of the machine affects both
            seed = 3 * number + 1
            small.append(cost(engine, settings.database_url, f"before-{number}", options.small, seed))
            large.append(cost(engine, settings.database_url, f"large-{number}", options.large, seed + 1))
            small.append(cost(engine, settings.database_url, f"after-{number}", options.small, seed + 2))
        engine.dispose()
    whole, before = median(first for first, _ in large), median(first for first, _ in small)
    again = median(second for _, second in large)
    print(f"a day of {options.small:,} events {before:.2f} s, of {options.large:,} {whole:.2f} s: {whole / before:.2f}")
    print(f"{MORE} more events on the large day {again:.3f} s: {again / whole:.4f} of the whole")
    bound = f"<= {MOST_GROWTH * options.large / options.small / 10:.0f}"
    sizes = f"a day of {options.large:,} events", f"a day of {options.small:,}"
    note(Row("days_size", sizes[0], whole, sizes[1], before, "s", whole / before, bound))
    note(Row("days_size", f"{MORE} more on {options.large:,}", again, "the whole day", whole, "s", again / whole))
    return 0 if whole / before <= MOST_GROWTH * options.large / options.small / 10 else 1


if __name__ == "__main__":
    sys.exit(main())
