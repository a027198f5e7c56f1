"""Store finished memories with their text, times and ids, in transactions of a thousand.

The source of a memory is one row of memory_imports: `file` names the entry and its system, `digest` recognises the
entry if it is imported again. A memory whose id in the source is a UUID keeps it, if no memory here has that id.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import blake2b
from uuid import UUID

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from slowwave.errors import SlowwaveError
from slowwave_server.domain.candidates import first_status
from slowwave_server.domain.extraction.entities import entities
from slowwave_server.domain.memory_files import FileMemory
from slowwave_server.domain.moving_in.records import Moved, System
from slowwave_server.domain.redaction import redact
from slowwave_server.services.consolidation.scope_lock import lock_scope
from slowwave_server.services.lookup import find_scope
from slowwave_server.services.memories.changes import Author, Ledger
from slowwave_server.services.memory_files import import_rows
from slowwave_server.services.memory_files.folder_reading import (
    IMPORT_CONFIDENCE,
    IMPORT_IMPORTANCE,
    IMPORT_TRUST,
    FileStatement,
)
from slowwave_server.services.memory_files.import_plan import Plan, make_plan
from slowwave_server.services.memory_files.ownership import Forgotten, hold_fence, read_owner
from slowwave_server.services.moving_in.runs import Context, Runs, make_agent, transaction

BATCH = 1000
PATIENCE_SECONDS = 60.0
_PAUSE_SECONDS = 0.5
_TRIES = 3
_UUID_CHARACTERS = 36


@dataclass(frozen=True, slots=True)
class Line(FileStatement):
    """A statement without a file. key: identifies its entry in the source."""

    key: bytes

    @property
    def digest(self) -> bytes:
        return self.key


def statement_of(system: System, moved: Moved, now: datetime) -> Line:
    """Return a memory as an import stores it: without secrets; valid from `now` if the source has no time."""
    content = redact(moved.text).text
    at = moved.at or now
    memory = FileMemory(
        id=_own_id(moved.origin),
        type=moved.type,
        content=content,
        status=first_status(moved.type),
        confidence=IMPORT_CONFIDENCE,
        importance=IMPORT_IMPORTANCE,
        trust=IMPORT_TRUST,
        entities=entities(content, ()),
        valid_from=at,
        reaffirmed_at=at,
        valid_to=moved.until,
    )
    key = blake2b(f"{system}\0{moved.origin}\0{content}".encode(), digest_size=16).digest()
    return Line(f"{system}:{moved.origin}", 1, memory, marked=True, key=key)


def _own_id(origin: str) -> UUID | None:
    """Return the UUID that an id is, or with which it ends ("passage-…")."""
    try:
        return UUID(origin[-_UUID_CHARACTERS:]) if origin.count("-") >= 4 else None  # noqa: PLR2004 - of a UUID
    except ValueError:
        return None


@dataclass
class MemoryWriter:
    """Stores memories of one agent. pause: waits between checks whether a pass over the scope has ended."""

    context: Context
    runs: Runs
    system: System
    agent: str
    pause: Callable[[float], None] = time.sleep

    def preview(self, batch: list[Moved]) -> dict[str, int]:
        """Count the results of a store without writing."""
        with transaction(self.context.engine) as connection:
            scope_id = find_scope(connection, self.context.tenant, "agent", self.agent)
            statements = self._statements(batch)
            if scope_id is None:
                return {"memories added": len({said.digest for said in statements})}
            return _counts(make_plan(connection, scope_id, statements))

    def store(self, batch: list[Moved]) -> dict[str, int]:
        """Store a batch completely, or not at all. Raises SlowwaveError if a pass has locked the scope for a minute."""
        statements, problem = self._statements(batch), None
        for _ in range(_TRIES):
            try:
                counts = self._store(statements)
            except Forgotten:
                raise SlowwaveError(
                    f"agent {self.agent!r} was forgotten meanwhile; import again if you mean it"
                ) from None
            except IntegrityError as error:
                # Another transaction stored the same statement in between, or the id belongs to another tenant's
                # memory.
                if "memories_pkey" in str(error.orig):
                    statements = [replace(said, memory=replace(said.memory, id=None)) for said in statements]
                problem = error
            else:
                if counts:
                    self.runs.add(self.agent, counts)
                return counts
        raise SlowwaveError("others write the same memories at the same time; import again") from problem

    def _statements(self, batch: list[Moved]) -> list[Line]:
        now = self.context.clock()
        found: dict[bytes, Line] = {}
        for moved in batch:
            said = statement_of(self.system, moved, now)
            found.setdefault(said.digest, said)
        return list(found.values())

    def _store(self, statements: list[Line]) -> dict[str, int]:
        with transaction(self.context.engine) as connection:
            made = make_agent(connection, self.context, self.agent)
        with transaction(self.context.engine) as connection:
            scope_id = self._enter(connection, made)
            plan = make_plan(connection, scope_id, statements)
            if not plan.new and not plan.evidence:
                return {}
            now = self.context.clock()
            author = Author(self.runs.of(self.agent).id, self.context.by)
            reason = f"moved in from {self.system}"
            import_rows.add_memories(Ledger(connection, author, now), scope_id, plan.new, reason=reason)
            for memory, said in sorted(plan.evidence, key=lambda pair: pair[0]):
                import_rows.add_evidence(Ledger(connection, author, now), scope_id, memory, said, reason=reason)
            return _counts(plan)

    def _enter(self, connection: Connection, scope_id: int) -> int:
        """Lock the scope against passes and forgets until the transaction ends."""
        owner = read_owner(connection, scope_id)
        if owner is None:
            raise Forgotten
        hold_fence(connection, owner)
        until = time.monotonic() + PATIENCE_SECONDS
        while not lock_scope(connection, owner.scope_id):
            if time.monotonic() > until:
                raise SlowwaveError("a pass has held the memories of this agent for a minute; import again after it")
            self.pause(_PAUSE_SECONDS)
        return owner.scope_id


def _counts(plan: Plan) -> dict[str, int]:
    counts = {
        "memories added": len(plan.new),
        "memories said again": len(plan.evidence),
        "memories known": plan.counts["unchanged"],
        "memories rejected before": plan.counts["rejected"],
    }
    return {name: number for name, number in counts.items() if number}
