"""Stores in Postgres: mem0's collection and LangGraph's store, read in a transaction that can't write."""

import json

import psycopg
import pytest

from slowwave_server.domain.moving_in.parsers import reader
from slowwave_server.domain.moving_in.records import Broken, LeftOut, Moved, Piece, System
from slowwave_server.services.moving_in.opening import open_source
from slowwave_server.services.moving_in.stores import NotReadable
from tests.moving_in.moving import FIXTURES, House

pytestmark = pytest.mark.servers

_MEM0 = "CREATE TABLE mem0 (id uuid PRIMARY KEY, payload jsonb)"
_STORE = (
    "CREATE TABLE store (prefix text NOT NULL, key text NOT NULL, value jsonb NOT NULL, created_at timestamptz,"
    " updated_at timestamptz, PRIMARY KEY (prefix, key))"
)


def read(system: System, url: str, table: str | None = None) -> list[Moved | LeftOut | Broken]:
    parse = reader(system)
    found: list[Moved | LeftOut | Broken] = []
    for piece in open_source(system, url, table=table):
        assert isinstance(piece, Piece)
        found += parse(piece)  # type: ignore[arg-type]
    return found


def test_mem0_table_says_what_its_export_says(database_url: str, house: House) -> None:
    export = json.loads((FIXTURES / "mem0_export.json").read_text())["results"]
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(_MEM0)
        for one in export:
            payload = {"data": one["memory"], "user_id": one["user_id"], "created_at": one["created_at"]}
            connection.execute("INSERT INTO mem0 VALUES (%s, %s)", (one["id"], json.dumps(payload)))
        connection.execute("INSERT INTO mem0 VALUES (gen_random_uuid(), '7')")
    look = house.bring("mem0", database_url)
    assert (look.done["memories added"], look.broken_count) == (4, 1)
    again = house.bring("mem0", FIXTURES / "mem0_export.json")
    assert again.runs == {}


def test_langgraph_table_is_read(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(_STORE)
        value = json.dumps({"kind": "Memory", "content": {"content": "Ines prefers trains to planes."}})
        connection.execute("INSERT INTO store VALUES ('memories.ines', 'k1', %s, '2025-03-01T09:00:00Z')", (value,))
    found = read("langgraph", database_url)
    assert [(one.text, one.owner, one.origin) for one in found if isinstance(one, Moved)] == [
        ("Ines prefers trains to planes.", "memories.ines", "memories/ines/k1")
    ]


@pytest.mark.parametrize("table", ["absent", 'mem0"; DROP TABLE mem0; --', "pg_catalog.pg_class", "", "a.b.c.d"])
def test_table_that_is_none_is_a_sentence(database_url: str, table: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(_MEM0)
    if table:
        with pytest.raises(NotReadable, match="the store can't be read"):
            read("mem0", database_url, table)
    assert read("mem0", database_url) == []
