"""What tests of review share: an agent's memories that contradict each other, and questions about them."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Engine, text

from slowwave_server.domain.review import Tier
from slowwave_server.domain.statements import content_hash
from slowwave_server.services.memories.changes import Author, Ledger, change_memory
from slowwave_server.services.review.conflicts import open_review, register_conflict
from slowwave_server.services.runs.store import finish_run, start_run
from tests.support.installation import NOW, Installation, ago

DAY = 86_400


@dataclass
class Dispute:
    """A scope of `tenant` in which Maya's memories stand, and passes that noticed that they contradict each other."""

    engine: Engine
    tenant: str = "default"
    past: Installation = field(init=False)

    def __post_init__(self) -> None:
        self.past = Installation(self.engine)
        self.agent = self.past.agent("maya", tenant=self.tenant)
        self.scope = self.past.scope("maya", tenant=self.tenant)
        self.session = self.past.session(self.agent, self.scope, "monday", *(("Maya", f"line {n}") for n in range(9)))
        self.said = 0

    def memory(self, content: str, *, days: float = 1, **columns: Any) -> UUID:
        """Something that was said so many days ago, in an event of its own."""
        self.said += 1
        columns = {"valid_from": ago(days * DAY), "content_hash": content_hash(content)} | columns
        return self.past.memory(self.scope, content, [(self.session, self.said)], **columns)

    def conflict(self, newer: UUID, older: UUID, *, tier: Tier = "medium", now: datetime = NOW) -> tuple[int, int]:
        """A pass that registers a conflict and asks about it: the numbers of the conflict and of the question."""
        with self.engine.begin() as connection:
            run, author = self._pass(connection)
            conflict = register_conflict(
                Ledger(connection, author, now),
                self.scope,
                newer,
                older,
                reason="another employer",
                evidence={"attribute": "employer"},
            )
            assert conflict is not None
            item = open_review(
                Ledger(connection, author, now), self.scope, conflict=conflict, why="another employer", tier=tier
            )
            assert item is not None
            finish_run(connection, run, status="completed", summary="", stats={}, now=now)
        return conflict, item

    def register(self, newer: UUID, older: UUID, now: datetime = NOW) -> int | None:
        """A pass that registers a conflict and asks nobody."""
        with self.engine.begin() as connection:
            _, author = self._pass(connection)
            return register_conflict(
                Ledger(connection, author, now), self.scope, newer, older, reason="a claim", evidence={}
            )

    def in_review(self, claim: UUID, against: UUID, *, tier: Tier = "low", now: datetime = NOW) -> tuple[int, int]:
        """As conflict(), with the claim out of answers and the question about it."""
        with self.engine.begin() as connection:
            run, author = self._pass(connection)
            conflict = register_conflict(
                Ledger(connection, author, now), self.scope, claim, against, reason="a claim", evidence={}
            )
            assert conflict is not None
            change_memory(
                Ledger(connection, author, now),
                claim,
                self.one("SELECT revision FROM slowwave.memories WHERE id = :id", id=claim).revision,
                {"status": "review"},
                action="review",
                reason="contradicts what a person said",
            )
            item = open_review(Ledger(connection, author, now), self.scope, memory=claim, why="a claim", tier=tier)
            assert item is not None
            finish_run(connection, run, status="completed", summary="", stats={}, now=now)
        return conflict, item

    def _pass(self, connection: Any) -> tuple[Any, Author]:
        run = start_run(connection, kind="light", now=NOW, lease_seconds=60, scope_id=self.scope, by="worker")
        return run, Author(run.id, "worker")

    def sql(self, statement: str, **values: Any) -> list[Any]:
        with self.engine.begin() as connection:
            result = connection.execute(text(statement), values)
            return list(result) if result.returns_rows else []

    def one(self, statement: str, **values: Any) -> Any:
        (row,) = self.sql(statement, **values)
        return row

    def row(self, memory: UUID) -> Any:
        return self.one("SELECT * FROM slowwave.memories WHERE id = :id", id=memory)

    def status(self, memory: UUID) -> tuple[str, str | None]:
        row = self.row(memory)
        return row.status, row.archive_reason

    def item(self, item: int) -> Any:
        return self.one("SELECT * FROM slowwave.review_items WHERE id = :id", id=item)

    def state(self, conflict: int) -> tuple[str, str | None]:
        row = self.one("SELECT * FROM slowwave.memory_conflicts WHERE id = :id", id=conflict)
        return row.status, row.resolution

    def links(self, predicate: str) -> set[tuple[UUID, UUID]]:
        rows = self.sql(
            "SELECT source_id, target_id FROM slowwave.memory_links WHERE predicate = :p AND ended_by IS NULL",
            p=predicate,
        )
        return {(row.source_id, row.target_id) for row in rows}

    def dump(self) -> list[Any]:
        """All that decisions may change, without what only counts or tells the history."""
        memories = self.sql(
            "SELECT id, status, content, valid_to, superseded_by, merged_into, archive_reason, confidence, importance,"
            " trust, valid_from, reaffirmed_at FROM slowwave.memories ORDER BY id"
        )
        tables = ("memory_links", "memory_conflicts", "review_items", "memory_sources", "memory_notes")
        return [memories, *(self.sql(f"SELECT * FROM slowwave.{table} ORDER BY 1, 2, 3") for table in tables)]
