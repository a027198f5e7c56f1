"""What tests of passes share: a scope that hears statements at given times, passes over it, and looks at what stands.

Statements go in through the function that flushes use, one event each, so that evidence is weighed as it always is.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Engine, text

from slowwave.settings import Consolidation
from slowwave_server.domain.profile import profile_json
from slowwave_server.domain.similarity import Meaning
from slowwave_server.domain.statements import content_hash
from slowwave_server.services.consolidation.batches import PassKind
from slowwave_server.services.consolidation.scope_pass import Order, PassReport, consolidate

NOW = datetime(2024, 5, 10, 12, tzinfo=UTC)
_STORE = text(
    "SELECT id FROM slowwave.store_memory(:scope, :session, NULL, :content, :hash, :type, :status, :confidence,"
    " :importance, :trust, '{}', :at, ARRAY[CAST(:seq AS bigint)], 'test', :now, 'en', CAST(:profile AS jsonb))"
)


APART = (
    "Maya keeps a parrot called Kiwi",
    "Maya grows tomatoes on her balcony",
    "Maya repairs old radios at night",
    "Maya teaches chess to children",
)
"""Statements of one person that say different things."""


def merges_all(_a: str, _b: str) -> Meaning:
    """A model of pairs that takes any two statements for one."""
    return Meaning(1.0, 0.0, 0.0, 0.0, 0.0, duplicate_from=0.5, contradiction_from=2.0)


@dataclass
class Hearer:
    """One scope of an agent. `now` moves by hand; statements were recorded a month before it."""

    engine: Engine
    agent: str = "maya"
    settings: Consolidation = field(default_factory=Consolidation)
    now: datetime = NOW
    _seq: int = 0

    def __post_init__(self) -> None:
        self.scope_id = int(
            self.sql(
                "WITH a AS (INSERT INTO slowwave.agents (tenant, name) VALUES ('default', :name) RETURNING id)"
                " INSERT INTO slowwave.scopes (tenant, kind, name) SELECT 'default', 'agent', :name FROM a"
                " RETURNING id",
                name=self.agent,
            )[0].id
        )

    def sql(self, statement: str, **values: Any) -> list[Any]:
        with self.engine.begin() as connection:
            result = connection.execute(text(statement), values)
            return list(result) if result.returns_rows else []

    def session(self, name: str) -> int:
        found = self.sql(
            "INSERT INTO slowwave.sessions (agent_id, scope_id, name, last_seen_at)"
            " SELECT a.id, :scope, :name, :now FROM slowwave.agents a WHERE a.name = :agent"
            " ON CONFLICT (agent_id, name) DO UPDATE SET last_seen_at = :now RETURNING id",
            scope=self.scope_id,
            name=name,
            now=self.now,
            agent=self.agent,
        )
        return int(found[0].id)

    def hear(
        self,
        content: str,
        *,
        days_ago: float = 30,
        session: str = "s",
        trust: str = "user",
        type: str = "fact",  # noqa: A002 (the column's name)
        confidence: float = 0.6,
        importance: float = 0.5,
    ) -> UUID:
        """One event says this at that time; answers the memory that holds it."""
        self._seq += 1
        at = self.now - timedelta(days=days_ago)
        values = {
            "scope": self.scope_id,
            "session": self.session(session),
            "content": content,
            "hash": content_hash(content),
            "type": type,
            "status": "episode" if type == "event" else "inbox",
            "confidence": confidence,
            "importance": importance,
            "trust": trust,
            "at": at,
            "seq": self._seq,
            "now": self.now - timedelta(days=30),
            "profile": profile_json(content, type),
        }
        with self.engine.begin() as connection:
            memory: UUID = connection.execute(_STORE, values).scalar_one()
        return memory

    def run(self, kind: PassKind = "light", **order: Any) -> PassReport:
        """A pass over the scope."""
        return consolidate(
            self.engine, Order(self.scope_id, kind, by="test", **order), settings=self.settings, clock=lambda: self.now
        )

    def memory(self, memory: UUID) -> Any:
        return self.sql("SELECT * FROM slowwave.memories WHERE id = :id", id=memory)[0]

    def standing(self) -> set[tuple[Any, ...]]:
        """What answers are made of, without what differs by the order of arrival (ids, revisions)."""
        rows = self.sql(
            "SELECT m.content, m.type, m.status, m.confidence, m.trust, m.valid_from, m.reaffirmed_at, m.valid_to,"
            " n.content AS newer FROM slowwave.memories m LEFT JOIN slowwave.memories n ON n.id = m.superseded_by"
            " WHERE m.scope_id = :scope AND m.status <> 'archived'",
            scope=self.scope_id,
        )
        return {tuple(row) for row in rows}

    def active(self) -> set[str]:
        """What holds: active and not superseded."""
        rows = self.sql(
            "SELECT content FROM slowwave.memories WHERE scope_id = :scope AND status = 'active' AND valid_to IS NULL",
            scope=self.scope_id,
        )
        return {row.content for row in rows}

    def links(self, predicate: str) -> set[tuple[UUID, UUID]]:
        rows = self.sql(
            "SELECT source_id, target_id FROM slowwave.memory_links WHERE predicate = :p AND ended_by IS NULL",
            p=predicate,
        )
        return {(row.source_id, row.target_id) for row in rows}
