"""Read the databases of other systems: Qdrant's local folder and Postgres tables of mem0, and LangGraph's stores.

A SQLite file is opened read-only. Qdrant's local mode pickles its points: a special unpickler reads them, which makes
inert objects of every class and calls nothing.
"""

import io
import json
import pickle
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from slowwave.errors import SlowwaveError
from slowwave_server.domain.moving_in.records import Broken, LeftOut, Piece, System

MAX_ROW_BYTES = 16_000_000
_BATCH = 500
_TABLES = {"mem0": "mem0", "langgraph": "store"}


class NotReadable(SlowwaveError):
    """The store can't be read; the message names the expected contents."""


def read_sqlite(system: System, path: Path) -> Iterator[Piece | Broken | LeftOut]:
    """Yield the rows of LangGraph's SqliteStore, or the points of a folder of Qdrant's local mode."""
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_ROW_BYTES)
        try:
            tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if system == "langgraph" and "store" in tables:
                yield from _store_rows(connection, path)
            elif system == "mem0" and "points" in tables:
                yield from _points(connection, path)
            else:
                known = ", ".join(sorted(tables)[:10]) or "none"
                raise NotReadable(f"{path} holds no table that {system} keeps memories in; its tables are: {known}")
        except sqlite3.Error as error:
            yield Broken(path.name, f"it can't be read on: {error}")


def _store_rows(connection: sqlite3.Connection, path: Path) -> Iterator[Piece]:
    rows = connection.execute("SELECT prefix, key, value, created_at, updated_at FROM store ORDER BY prefix, key")
    for number, row in enumerate(rows, 1):
        fields = dict(zip(("prefix", "key", "value", "created_at", "updated_at"), row, strict=True))
        yield Piece(path.name, "store", number, fields)


def _points(connection: sqlite3.Connection, path: Path) -> Iterator[Piece | Broken]:
    place = f"{path.parent.name}/{path.name}"
    for number, (raw,) in enumerate(connection.execute("SELECT point FROM points ORDER BY rowid"), 1):
        try:
            point = _Inert(io.BytesIO(raw)).load()
            fields = point.fields if isinstance(point, _Object) else {}
            yield Piece(place, "points", number, {"id": _plain(fields.get("id")), "payload": fields.get("payload")})
        except (pickle.UnpicklingError, EOFError, AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            yield Broken(f"{place}: points {number}", f"it is not a point of Qdrant: {error}"[:200])
        except (RecursionError, MemoryError):
            yield Broken(f"{place}: points {number}", "it is nested too deeply or too large")


def _plain(value: Any) -> Any:
    return value if isinstance(value, (str, int)) else None


class _Object:
    """A substitute for an object of any class: its fields, if its state is a mapping."""

    fields: Mapping[str, Any] = {}

    def __init__(self, *_: Any, **__: Any) -> None: ...

    def __setstate__(self, state: Any) -> None:
        fields = state.get("__dict__", state) if isinstance(state, dict) else {}
        self.fields = fields if isinstance(fields, dict) else {}


class _Inert(pickle._Unpickler):  # noqa: SLF001 - see the docstring
    """An unpickler that never imports anything: every class becomes `_Object`, so a hostile pickle runs no code.

    It is Python's own unpickler; the C unpickler would reserve memory for any number that a pickle contains.
    """

    def find_class(self, _module: str, _name: str) -> Any:
        return _Object


def read_postgres(system: System, url: str, table: str | None) -> Iterator[Piece]:
    """Yield the rows of mem0's collection or of LangGraph's PostgresStore, in batches, in a read-only transaction."""
    if system not in _TABLES:
        raise NotReadable(f"a Postgres URL is read for mem0 and langgraph, not for {system}: give a file or a folder")
    name = sql.Identifier(*(table or _TABLES[system]).split("."))
    if system == "mem0":
        query = sql.SQL("SELECT id::text, payload FROM {} ORDER BY id").format(name)
    else:
        query = sql.SQL("SELECT prefix, key, value, created_at, updated_at FROM {} ORDER BY prefix, key").format(name)
    try:
        with (
            psycopg.connect(url, options="-c default_transaction_read_only=on", connect_timeout=10) as connection,
            connection.cursor(name="slowwave_moving_in") as cursor,
        ):
            cursor.itersize = _BATCH
            cursor.execute(query)
            names = [column.name for column in cursor.description or ()]
            for number, row in enumerate(cursor, 1):
                yield Piece(
                    table or _TABLES[system],
                    "points" if system == "mem0" else "store",
                    number,
                    _row(dict(zip(names, row, strict=True))),
                )
    except psycopg.Error as error:
        told = str(error).strip().splitlines()
        raise NotReadable(f"the store can't be read: {told[0] if told else type(error).__name__}") from None


def _row(row: dict[str, Any]) -> dict[str, Any]:
    payload = row.get("payload")
    if isinstance(payload, str):
        try:
            row["payload"] = json.loads(payload)
        except (ValueError, RecursionError):
            row["payload"] = None
    return row
