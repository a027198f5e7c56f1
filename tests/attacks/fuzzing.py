"""What the properties of all entrances share: how many examples, what was tried, and whether a call wrote something.

`FUZZ_FACTOR` multiplies the examples of each property; `FUZZ_TALLY` names a file that is told what was tried;
`FUZZ_RAW` shows a failing example as it was found, which takes no time.
"""

import atexit
import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import psycopg
from hypothesis import HealthCheck, Phase, settings
from psycopg import sql

FACTOR = float(os.environ.get("FUZZ_FACTOR", "1"))
TRIED: Counter[str] = Counter()
"""Examples an entrance, and among them `ENTRANCE (taken)`: those that were not refused."""

Test = TypeVar("Test", bound=Callable[..., Any])

# One database serves all examples of a test: what stands there already is part of what is tried.
_SHARED = [
    HealthCheck.function_scoped_fixture,
    HealthCheck.too_slow,
    HealthCheck.data_too_large,
    HealthCheck.large_base_example,
    HealthCheck.filter_too_much,
]


def examples(number: int) -> settings:
    """So many examples in the suite, times `FUZZ_FACTOR` in the long form."""
    long: dict[str, Any] = {"print_blob": True} if FACTOR > 1 else {}
    if "FUZZ_RAW" in os.environ:
        long["phases"] = (Phase.explicit, Phase.reuse, Phase.generate)
    return settings(max_examples=max(1, round(number * FACTOR)), suppress_health_check=_SHARED, deadline=None, **long)


def tried(entrance: str, *, taken: bool) -> None:
    """Count an example of an entrance."""
    TRIED[entrance] += 1
    if taken:
        TRIED[f"{entrance} (taken)"] += 1


def _write_tally() -> None:
    if file := os.environ.get("FUZZ_TALLY"):
        Path(file).write_text(json.dumps(TRIED), encoding="utf-8")


atexit.register(_write_tally)


class Witness:
    """Sees each row of each table in the schema: any insert, update or delete that commits changes what it answers.

    A version of a row is known by its place and by the transaction that wrote it, so nothing has to be read or sent.
    """

    def __init__(self, database_url: str) -> None:
        self._connection = psycopg.connect(database_url, autocommit=True)
        tables = self._connection.execute(
            "SELECT c.oid::regclass::text, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
            " WHERE n.nspname = 'slowwave' AND c.relkind = 'r' ORDER BY 2"
        ).fetchall()
        self.tables = [name for _, name in tables]
        each = (
            sql.SQL(
                "SELECT {name}, count(*), coalesce(sum(hashtextextended(ctid::text || ':' || xmin::text, 0)::numeric),"
                " 0) FROM slowwave.{table}"
            ).format(name=sql.Literal(name), table=sql.Identifier(name))
            for name in self.tables
        )
        self._query = sql.SQL(" UNION ALL ").join(each)

    def look(self, *, without: tuple[str, ...] = ()) -> dict[str, tuple[int, int]]:
        """Count and checksum of each table."""
        rows = self._connection.execute(self._query).fetchall()
        return {name: (count, int(total)) for name, count, total in rows if name not in without}

    def close(self) -> None:
        self._connection.close()
