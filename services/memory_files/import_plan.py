"""Plan the import of each statement of a folder: a new memory, evidence of one, or nothing."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from sqlalchemy import Connection

from slowwave_server.domain.statements import content_hash
from slowwave_server.services.memory_files import import_rows
from slowwave_server.services.memory_files.folder_reading import FileStatement


@dataclass
class Plan:
    """The plan of an import: which statements become memories.

    new: the statements that become memories, each with the new memory's id. evidence: the statements that an existing
    memory already has, each with this memory's id. placed: from the id in a line to the id of the memory with its
    statement. ended: the new memories that name their replacement. counts: see ImportReport.
    """

    new: list[tuple[UUID, FileStatement]] = field(default_factory=list)
    evidence: list[tuple[UUID, FileStatement]] = field(default_factory=list)
    placed: dict[UUID, UUID] = field(default_factory=dict)
    ended: list[tuple[UUID, FileStatement]] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


def once(statements: Iterable[FileStatement]) -> Iterator[FileStatement]:
    """Deduplicate lines: a memory in MEMORY.md and in its day's log is one statement."""
    seen: set[tuple[UUID | None, bytes]] = set()
    for said in statements:
        key = (said.memory.id, content_hash(said.memory.content))
        if key not in seen:
            seen.add(key)
            yield said


def make_plan(connection: Connection, scope_id: int, statements: Sequence[FileStatement]) -> Plan:
    """Compare all statements with the scope's memories, and with each other."""
    planner = _Planner(connection, scope_id, statements)
    for said in statements:
        planner.decide(said)
    return planner.plan


class _Planner:
    def __init__(self, connection: Connection, scope_id: int, statements: Sequence[FileStatement]) -> None:
        ids = {said.memory.id for said in statements} | {said.memory.superseded_by for said in statements}
        hashes = {content_hash(said.memory.content) for said in statements}
        self._known = import_rows.known_ids(connection, scope_id, {one for one in ids if one is not None})
        self._read = import_rows.known_digests(connection, scope_id, {said.digest for said in statements})
        self._says = import_rows.known_contents(connection, scope_id, hashes)
        self._fresh = import_rows.new_ids(connection)
        self.plan = Plan(placed={one: one for one in self._known.here})

    def decide(self, said: FileStatement) -> None:
        own = said.memory.id
        words = content_hash(said.memory.content)
        if own is not None and self._known.here.get(own) == words:
            self.plan.counts["unchanged"] += 1
            return
        # The id exists here with another text: the file's text becomes a new memory.
        self.plan.counts["reworded"] += own in self._known.here
        memory = self._settle(said, words)
        if own is not None and own not in self._known.here and memory is not None:
            self.plan.placed[own] = memory

    def _settle(self, said: FileStatement, words: bytes) -> UUID | None:
        """Return the memory with the statement from now on; None if it was rejected."""
        if said.digest in self._read:
            self.plan.counts["unchanged"] += 1
            return self._read[said.digest]
        before = self._says.get((said.memory.type, words))
        if before is None:
            return self._add(said, words)
        memory, was_rejected = before
        if was_rejected:
            self.plan.counts["rejected"] += 1
            return None
        self.plan.evidence.append((memory, said))
        return memory

    def _add(self, said: FileStatement, words: bytes) -> UUID:
        own = said.memory.id
        is_free = own is not None and own not in self._known.here and own not in self._known.elsewhere
        # If two lines have the same id, it belongs to the first one.
        is_free = is_free and own not in self.plan.placed
        memory = own if own is not None and is_free else next(self._fresh)
        self.plan.new.append((memory, said))
        if said.memory.status != "archived":
            self._says[said.memory.type, words] = (memory, False)
        if said.memory.superseded_by is not None:
            self.plan.ended.append((memory, said))
        return memory
