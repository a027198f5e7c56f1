"""A forget costs what goes, not what there is: each of its statements can reach its rows by an index."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Connection, Engine, text

from slowwave_server.services.forget.evidence import REASON, Remains
from slowwave_server.services.forget.gather import gather
from slowwave_server.services.forget.rows import CONVERSATIONS, MEMORIES, mark_runs
from slowwave_server.services.forget.target import Target
from tests.support.installation import NOW

pytestmark = pytest.mark.servers

GROWING = (
    "memory_changes memory_links memory_conflicts memory_sources memory_blocks memory_notes memories review_items"
    " triples outbox events passages sessions flushes session_days days day_summaries day_segments working_memory"
).split()


@pytest.fixture
def gathered(engine: Engine) -> Iterator[Connection]:
    """A transaction in which all is found that goes, told to avoid reading whole tables wherever that can be."""
    with engine.connect() as connection:
        connection.execute(text("SET LOCAL enable_seqscan = off"))
        gather(connection, Target.of_session("default", "maya", "monday"))
        Remains(connection, NOW).find()
        mark_runs(connection)
        yield connection
        connection.rollback()


def scanned(connection: Connection, statement: str) -> set[str]:
    """The growing tables that a statement reads whole."""
    values = {"now": NOW, "reason": REASON, "wordless": ["status"]}
    plan = connection.execute(text(f"EXPLAIN {statement}"), values).scalars().all()
    read = {line.partition("Seq Scan on ")[2].split(" ")[0] for line in plan if "Seq Scan on " in line}
    return read & set(GROWING)


def test_no_statement_reads_a_growing_table_whole(gathered: Connection) -> None:
    found = {step.statement: scanned(gathered, step.statement) for step in (*MEMORIES, *CONVERSATIONS)}
    assert {statement: tables for statement, tables in found.items() if tables} == {}
    whole = (
        "DELETE FROM slowwave.memory_links l WHERE l.confidence = 2 OR l.source_id IN (SELECT id FROM gone_memories)"
    )
    assert scanned(gathered, whole) == {"memory_links"}, "such a statement would be seen"
