"""Run reads as generators that yield a `Query` for rows and return a result, so that tests can supply the rows."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, TypeVar

from psycopg import Connection
from psycopg.rows import dict_row

Row = dict[str, Any]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Query:
    """A statement and its values. The text is built from constants; the values are always bound."""

    text: str
    values: Mapping[str, Any] = field(default_factory=dict)


Steps = Generator[Query, list[Row], T]
"""Each Query is answered with its rows."""


def statement(name: str) -> str:
    """Return the text of `NAME.sql` in this folder, without comments and indentation.

    psycopg caches the parsed form of short texts only (4,096 characters); parsing a long one costs a millisecond each
    time.
    """
    text = (files("slowwave.recall") / f"{name}.sql").read_text("utf-8")
    return " ".join(line.partition("--")[0].strip() for line in text.splitlines()).strip()


def run(connection: Connection[Any], steps: Steps[T]) -> T:
    """Execute all steps on one connection, and return the result. Raises psycopg's errors."""
    rows: list[Row] | None = None
    while True:
        try:
            query = steps.send(rows) if rows is not None else next(steps)
        except StopIteration as end:
            answer: T = end.value
            return answer
        with connection.cursor(row_factory=dict_row) as cursor:
            rows = cursor.execute(query.text, query.values).fetchall()
