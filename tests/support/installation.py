"""An installation with a past, written straight into the tables: agents, sessions, events, flushes, memories.

Only for tests of what reads these tables; how rows come about has tests of its own.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Engine, func, insert, select, update

from slowwave_server.models import Agent, DeadLetter, Event, Flush, Memory, MemoryChange, MemorySource, Scope, Session

NOW = datetime(2026, 3, 5, 14, 0, 0, tzinfo=UTC)


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


@dataclass
class Installation:
    """Fills one database. Every method commits and answers the id of what it made."""

    engine: Engine

    def agent(self, name: str, *, tenant: str = "default") -> int:
        return int(self._insert(Agent, tenant=tenant, name=name))

    def scope(self, name: str, *, kind: str = "agent", tenant: str = "default") -> int:
        return int(self._insert(Scope, tenant=tenant, kind=kind, name=name))

    def session(self, agent_id: int, scope_id: int, name: str, *said: tuple[str, str], **columns: Any) -> int:
        """A session with one event a pair of (speaker, text), ten seconds apart, the last one ten seconds ago."""
        number = len(said)
        row = {
            "last_seq": number,
            "last_turn": number,
            "last_seen_at": ago(10),
            "dirty_since": ago(10 * number) if columns.get("processed_until", 0) < number else None,
        }
        session_id: int = self._insert(Session, agent_id=agent_id, scope_id=scope_id, name=name, **(row | columns))
        for seq, (speaker, text) in enumerate(said, start=1):
            at = ago(10 * (number - seq + 1))
            self._insert(
                Event,
                session_id=session_id,
                seq=seq,
                turn=seq,
                kind="user",
                role="user",
                name=speaker,
                content=text,
                happened_at=at,
                recorded_at=at,
                day=at.date(),
            )
        return session_id

    def flush(self, session_id: int, window: tuple[int, int], *, outcome: str = "stored", **columns: Any) -> int:
        row = {
            "extractor": "rules",
            "extractor_version": "1",
            "attempt": 1,
            "oldest_recorded_at": ago(65),
            "started_at": ago(61),
            "committed_at": ago(60),
        }
        return int(
            self._insert(
                Flush, session_id=session_id, from_seq=window[0], to_seq=window[1], outcome=outcome, **(row | columns)
            )
        )

    def quarantine(self, session_id: int, seq: int, error: str) -> None:
        self.flush(session_id, (seq, seq), outcome="quarantined", error=error)
        with self.engine.begin() as connection:
            connection.execute(
                update(Event).where(Event.session_id == session_id, Event.seq == seq).values(quarantined_at=ago(60))
            )

    def memory(self, scope_id: int, content: str, sources: list[tuple[int, int]], **columns: Any) -> UUID:
        row = {
            "type": "fact",
            "status": "inbox",
            "confidence": 0.7,
            "importance": 0.5,
            "trust": "user",
            "valid_from": ago(100),
            "recorded_at": ago(60),
            "content_hash": content.encode(),
            "search": func.to_tsvector("simple", ""),
        } | columns
        row.setdefault("reaffirmed_at", row["valid_from"])
        memory_id: UUID = self._insert(Memory, scope_id=scope_id, content=content, **row)
        said = {name: row[name] for name in ("confidence", "importance", "trust")} | {"holds_from": row["valid_from"]}
        for session_id, seq in sources:
            self._insert(MemorySource, memory_id=memory_id, session_id=session_id, seq=seq, **said)
        return memory_id

    def change(self, memory_id: UUID, action: str, reason: str, **columns: Any) -> int:
        return int(self._insert(MemoryChange, memory_id=memory_id, action=action, reason=reason, **columns))

    def letter(self, task: str, payload: dict[str, Any], error: str, *, tenant: str | None = "default") -> int:
        return int(self._insert(DeadLetter, tenant=tenant, task=task, payload=payload, error=error, created_at=ago(30)))

    def value(self, column: Any, **where: Any) -> Any:
        """The only value of a column of the row that is meant."""
        query = select(column).filter_by(**where)
        with self.engine.connect() as connection:
            return connection.execute(query).scalar_one()

    def _insert(self, model: Any, **values: Any) -> Any:
        with self.engine.begin() as connection:
            key = connection.execute(insert(model).values(**values)).inserted_primary_key
        assert key is not None
        return key[0]
