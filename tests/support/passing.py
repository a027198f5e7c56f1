"""Runs made step by step over a small scope, with the services that real passes and reviews use;
and a dump of all state.

Only for tests of what is done with runs afterwards: listed, explained, undone, read as of a date.
"""

import json
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Any, Self
from uuid import UUID

from sqlalchemy import Connection, Engine, insert, select, text, update

from slowwave_server.domain.profile import profile_json
from slowwave_server.domain.statements import content_hash
from slowwave_server.models import Agent, Event, Flush, Memory, MemoryNote, Scope, Session, Triple, WorkingItem
from slowwave_server.services.memories.changes import Author, Ledger, change_memory, note_change, weigh
from slowwave_server.services.memories.links import add_link
from slowwave_server.services.memories.merging import merge_into, part_again, sync_copies
from slowwave_server.services.review.closing import close_conflict, close_item
from slowwave_server.services.review.conflicts import open_review, register_conflict
from slowwave_server.services.runs.store import RunKind, finish_run, start_run

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
# What is bookkeeping and history stays out: when a pass last looked, how often a row changed, changes, runs.
STATE = {
    "memories": ("id", {"revision", "checked_at"}),
    "memory_sources": ("memory_id, session_id, seq", set()),
    "memory_notes": ("memory_id, working_id", set()),
    "memory_links": ("id", set()),
    "triples": ("id", set()),
    "memory_conflicts": ("id", set()),
    "review_items": ("id", set()),
    "working_memory": ("id", set()),
}
_STORE = text(
    "SELECT id FROM slowwave.store_memory(:scope, :session, :flush, :content, :hash, 'fact', 'inbox', :confidence, 0.5,"
    " 'user', '{}', :at, ARRAY[:seq]::bigint[], 'test', :now, p_profile => CAST(:profile AS jsonb))"
)


def day(number: float) -> datetime:
    """So many days after START."""
    return START + timedelta(days=number)


def state(engine: Engine) -> dict[str, list[str]]:
    """Every row of every table that holds state, as text, in one order."""
    found = {}
    with engine.connect() as connection:
        for table, (order, left_out) in STATE.items():
            rows = connection.execute(text(f"SELECT to_jsonb(t) AS row FROM slowwave.{table} t ORDER BY {order}"))
            documents = rows.scalars().all()
            kept = [{key: value for key, value in row.items() if key not in left_out} for row in documents]
            found[table] = [json.dumps(row, sort_keys=True) for row in kept]
    return found


@dataclass
class Past:
    """One scope of one agent, in which things are said and runs are made."""

    engine: Engine
    tenant: str = "default"
    agent: str = "concierge"
    scope_id: int = field(init=False)
    agent_id: int = field(init=False)
    _sessions: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        with self.engine.begin() as connection:
            self.agent_id = _insert(connection, Agent, tenant=self.tenant, name=self.agent)
            self.scope_id = _insert(connection, Scope, tenant=self.tenant, kind="agent", name=self.agent)

    def say(self, content: str, *, session: str = "monday", at: datetime = START, confidence: float = 0.6) -> UUID:
        """Say it in a session and flush that at once: the memory that holds it."""
        with self.engine.begin() as connection:
            session_id = self._sessions.get(session)
            if session_id is None:
                row = {"agent_id": self.agent_id, "scope_id": self.scope_id, "name": session, "last_seen_at": at}
                session_id = self._sessions[session] = _insert(connection, Session, **row)
            seq = connection.execute(
                update(Session).where(Session.id == session_id).values(last_seq=Session.last_seq + 1)
                .returning(Session.last_seq)
            ).scalar_one()  # fmt: skip
            said = {"kind": "user", "role": "user", "name": "Maya", "content": content, "turn": seq, "day": at.date()}
            when = {"happened_at": at, "recorded_at": at}
            _insert(connection, Event, session_id=session_id, seq=seq, **said, **when)
            made = {"outcome": "stored", "extractor": "rules", "extractor_version": "1", "attempt": 1}
            moments = {"oldest_recorded_at": at, "started_at": at, "committed_at": at}
            flush = _insert(connection, Flush, session_id=session_id, from_seq=seq, to_seq=seq, **made, **moments)
            values = {"scope": self.scope_id, "session": session_id, "flush": flush, "content": content, "seq": seq}
            values |= {"hash": content_hash(content), "profile": profile_json(content, "fact")}
            values |= {"confidence": confidence, "at": at, "now": at}
            memory: UUID = connection.execute(_STORE, values).scalar_one()
        return memory

    def note(self, content: str, *, at: datetime = START) -> UUID:
        """Put something into working memory."""
        with self.engine.begin() as connection:
            row = {"agent_id": self.agent_id, "scope_id": self.scope_id, "type": "fact", "content": content}
            row |= {"importance": 0.6, "said_at": at, "expires_at": at + timedelta(days=90)}
            item: UUID = connection.execute(insert(WorkingItem).values(**row).returning(WorkingItem.id)).scalar_one()
        return item

    def run(self, kind: RunKind = "light", *, at: datetime = START, by: str | None = "beat") -> "Step":
        """Begin a run; as a context it commits at its end, all of it or nothing."""
        return Step(self, kind, at, by)

    def merged(self) -> tuple[int, UUID, UUID]:
        """A run that merges a statement into another of the same: its number, the survivor, the merged memory."""
        lisbon = self.say("Maya lives in Lisbon.", at=day(2))
        home = self.say("Maya's home is Lisbon.", session="friday", at=day(1))
        with self.run(at=day(8)) as run:
            run.merge(home, lisbon)
            run.set(lisbon, "promoted", status="active")
        return run.id, lisbon, home

    def row(self, memory: UUID) -> Any:
        with self.engine.connect() as connection:
            return connection.execute(select(Memory).where(Memory.id == memory)).mappings().first()

    def live(self) -> list[UUID]:
        query = select(Memory.id).where(Memory.status.not_in(["archived", "review"])).order_by(Memory.id)
        with self.engine.connect() as connection:
            return list(connection.execute(query).scalars())


class Step:
    """A run under way, in one transaction."""

    def __init__(self, past: Past, kind: RunKind, at: datetime, by: str | None) -> None:
        self._past, self._kind, self._at, self._by = past, kind, at, by

    def __enter__(self) -> Self:
        self._open = ExitStack()
        self.connection: Connection = self._open.enter_context(self._past.engine.begin())
        self._run = start_run(
            self.connection, kind=self._kind, now=self._at, lease_seconds=60, scope_id=self._past.scope_id, by=self._by
        )
        self.id = self._run.id
        self.ledger = Ledger(self.connection, Author(self.id, self._by), self._at)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            finish_run(self.connection, self._run, status="completed", summary="tested", stats={}, now=self._at)
        self._open.__exit__(kind, error, trace)

    def set(self, memory: UUID, action: str, **fields: Any) -> None:
        change_memory(
            self.ledger, memory, self._revision(memory), fields, action=action,
            reason=f"{action} by the test"
        )  # fmt: skip

    def merge(self, part: UUID, survivor: UUID) -> None:
        merge_into(self.ledger, part, self._revision(part), survivor, reason="the same")

    def unmerge(self, part: UUID) -> None:
        revision = self._revision(part)
        part_again(self.ledger, part, revision, "inbox", reason="not the same")

    def supersede(self, older: UUID, newer: UUID, at: datetime) -> None:
        self.set(older, "superseded", valid_to=at, superseded_by=newer)
        self.link(newer, older, "supersedes")

    def link(self, source: UUID, target: UUID, predicate: str = "related_to") -> None:
        if add_link(self.ledger, source, target, predicate, confidence=0.8):
            self.tell(source, "linked", {"target": str(target), "predicate": predicate, "confidence": 0.8})

    def tell(self, memory: UUID, action: str, after: dict[str, Any]) -> None:
        note_change(
            self.ledger, memory, action=action, before=None, after=after, reason="told"
        )  # fmt: skip

    def triple(self, memory: UUID, *words: str) -> None:
        subject, predicate, object_ = words
        row: dict[str, Any] = {"subject": subject, "subject_type": "person", "predicate": predicate, "object": object_}
        row |= {"object_type": "place", "confidence": 0.9, "extractor": "rules", "created_at": self._at}
        _insert(self.connection, Triple, scope_id=self._past.scope_id, memory_id=memory, run_id=self.id, **row)

    def conflict(self, newer: UUID, older: UUID) -> int | None:
        return register_conflict(
            self.ledger, self._past.scope_id, newer, older, reason="one says Rome", evidence={}
        )  # fmt: skip

    def ask(self, *, memory: UUID | None = None, conflict: int | None = None) -> int | None:
        return open_review(
            self.ledger, self._past.scope_id, memory=memory, conflict=conflict, why="which one?", tier="low"
        )  # fmt: skip

    def settle(self, conflict: int, memory: UUID) -> bool:
        return close_conflict(
            self.ledger, self._past.scope_id, conflict, status="dismissed", resolution="both hold", memory=memory
        )  # fmt: skip

    def answer(self, item: int, memory: UUID) -> bool:
        return close_item(
            self.ledger, self._past.scope_id, item, state="accepted", reason="yes", memory=memory
        )  # fmt: skip

    def keep(self, item: UUID, content: str) -> UUID:
        """Make a memory of an item of working memory."""
        row: dict[str, Any] = {
            "type": "fact",
            "content": content,
            "content_hash": content_hash(content),
            "trust": "assistant",
        }
        row |= {"confidence": 0.5, "importance": 0.6, "valid_from": self._at, "reaffirmed_at": self._at}
        search = text("SELECT slowwave.memory_search_vector(:scope, :content, :at, '{}')")
        values = {"scope": self._past.scope_id, "content": content, "at": self._at}
        row |= {"recorded_at": self._at, "search": self.connection.execute(search, values).scalar_one()}
        statement = insert(Memory).values(scope_id=self._past.scope_id, **row).returning(Memory.id)
        memory: UUID = self.connection.execute(statement).scalar_one()
        self.tell(memory, "created", {"content": content, "status": "inbox"})
        self._rest_on(memory, item, "consolidated")
        return memory

    def repeat(self, item: UUID, memory: UUID) -> None:
        """Note that an item says what a memory says already."""
        self._rest_on(memory, item, "duplicate")
        self.tell(memory, "repeated", {"note": str(item)})

    def _rest_on(self, memory: UUID, item: UUID, outcome: str) -> None:
        said = {"confidence": 0.5, "importance": 0.6, "trust": "assistant", "holds_from": self._at}
        self.connection.execute(insert(MemoryNote).values(memory_id=memory, working_id=item, **said))
        self.connection.execute(
            update(WorkingItem).where(WorkingItem.id == item)
            .values(outcome=outcome, settled_at=self._at, run_id=self.id)
        )  # fmt: skip
        sync_copies(self.connection, memory, self._at)
        weigh(self.connection, memory, self._at)

    def _revision(self, memory: UUID) -> int:
        return self.connection.execute(select(Memory.revision).where(Memory.id == memory)).scalar_one()


def _insert(connection: Connection, model: Any, **values: Any) -> Any:
    key = connection.execute(insert(model).values(**values)).inserted_primary_key
    assert key is not None
    return key[0]
