"""The backend of `Memory.from_env`: it records and reads in Postgres, and wakes workers through Redis."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from uuid import UUID

from slowwave.capture import Entry, Trigger
from slowwave.errors import ScopeConflict
from slowwave.event_json import EventJson
from slowwave.identity import SessionRef, check_name, scope_of
from slowwave.memory_records import Correction, MemoryExplanation, MemoryPage, MemoryRecord, memory_id
from slowwave.memory_requests import ChangesRequest, ForgetTarget, MemoriesRequest, MilestoneRequest, TurnRequest
from slowwave.postgres import PreparedStatement
from slowwave.recall_requests import ContextRequest, SearchRequest
from slowwave.receipts import Receipt, Status
from slowwave.settings import Settings
from slowwave.spool import spooled
from slowwave.store import Store
from slowwave.working import Noted, NoteRequest, WorkingStats, note, read_stats

if TYPE_CHECKING:
    from slowwave.change_following import Following
    from slowwave.recall import Context, Hit
    from slowwave.worker_requests import Kind

_DIRTY = PreparedStatement(
    b"slowwave_dirty",
    b"SELECT count(*), extract(epoch FROM clock_timestamp() - min(s.dirty_since))"
    b" FROM slowwave.sessions s JOIN slowwave.agents a ON a.id = s.agent_id"
    b" WHERE a.tenant = $1 AND s.dirty_since IS NOT NULL",
)


class PostgresBackend:
    """Answers the calls of one tenant's memory. Several backends may share one store."""

    def __init__(self, store: Store, tenant: str) -> None:
        self.store = store
        self.tenant = check_name("tenant", tenant)

    @property
    def settings(self) -> Settings:
        """The settings of the store."""
        return self.store.settings

    def for_tenant(self, tenant: str | None) -> "PostgresBackend":
        """Return the backend of another tenant on the same store; None is the tenant of the settings."""
        return PostgresBackend(self.store, self.settings.tenant if tenant is None else tenant)

    def new_key(self) -> str:
        return self.store.new_key()

    def record_turn(self, turn: TurnRequest) -> Receipt:
        return self._record(turn.agent, turn.session, turn.events, about=turn.about, ignored=turn.ignored)

    def record_milestone(self, request: MilestoneRequest) -> Receipt:
        return self._record(request.agent, request.session, request.events)

    def request_flush(self, agent: str, session: str, trigger: Trigger) -> Receipt:
        return self._record(agent, session, [], trigger=trigger)

    def boost(self, agent: str, session: str) -> tuple[str, ...]:
        """Flush the agent's other sessions first, and return their names."""
        return tuple(self.store.boost(self.tenant, agent, session))

    def note(self, request: NoteRequest) -> Noted:
        key = self.new_key() if request.key is None else request.key
        return note(self.store.postgres, self.settings.memory, self.tenant, request, key=key)

    def consolidate(self, agent: str, scope: str | None) -> bool:
        """Request a consolidation cycle. Return False if one is already queued."""
        from slowwave.coordination.consolidation_queue import ask_for_pass  # noqa: PLC0415 (brings redis)

        return ask_for_pass(self.store.offers.redis(), self.tenant, *scope_of(agent, scope))

    def stats(self, agent: str, scope: str | None) -> WorkingStats:
        kind, name = scope_of(agent, scope)
        return self.store.postgres.read(lambda connection: read_stats(connection, self.tenant, kind, name))

    def status(self) -> Status:
        """Measure the backlog of the tenant and of this host's spool."""
        count, age = self.store.postgres.call(_DIRTY, (self.tenant.encode(),))[0]
        waiting, queues = spooled(self.settings.spool), self.store.offers.queue().depths()
        return Status(int(count or 0), float(age) if age else None, queues, *waiting)

    def search(self, request: SearchRequest) -> "list[Hit]":
        from slowwave import read_routing  # noqa: PLC0415 (hosts that only record need none of it)

        return read_routing.search(self.store.source(), self.tenant, request)

    def context(self, request: ContextRequest) -> "Context":
        from slowwave import read_routing  # noqa: PLC0415 (as above)

        found = read_routing.context(self.store.source(), self.tenant, request)
        if request.session is not None and request.noted:
            self.show(request.agent, request.session, [hit.id for hit in (*found.memories, *found.recent)])
        return found

    def memories(self, request: MemoriesRequest) -> MemoryPage:
        from slowwave import memory_queries  # noqa: PLC0415 (as above)

        return self.store.postgres.read(
            lambda connection: memory_queries.list_records(connection, self.tenant, request)
        )

    def get(self, memory: UUID) -> MemoryRecord:
        from slowwave import memory_queries  # noqa: PLC0415 (as above)

        return self.store.postgres.read(
            lambda connection: memory_queries.existing_record(connection, self.tenant, memory)
        )

    def explain(self, memory: UUID) -> MemoryExplanation:
        from slowwave import memory_queries  # noqa: PLC0415 (as above)

        told = self.store.postgres.read(
            lambda connection: memory_queries.read_explanation(connection, self.tenant, memory)
        )
        return memory_queries.found(told, memory)

    def follow(self, request: ChangesRequest) -> "Following":
        """Prepare to follow changes, without reading."""
        from slowwave.change_following import followed  # noqa: PLC0415 (as above)

        return followed(self.store, self.tenant, request)

    def show(self, agent: str, session: str, memories: Iterable[str]) -> None:
        self.store.show(SessionRef(self.tenant, agent, session), memories)

    def note_use(self, agent: str, ids: list[UUID], session: str | None) -> int:
        """Note that a reply used memories. Return how many of them the agent may read."""
        from slowwave import memory_queries  # noqa: PLC0415 (as above)

        return self.store.postgres.read(
            lambda connection: memory_queries.note_use(connection, self.tenant, agent, ids, session)
        )

    def correct(self, memory: UUID, fields: dict[str, Any]) -> Correction:
        """Have a worker edit a memory."""
        return self._changed("correct", memory, fields)

    def archive(self, memory: UUID, fields: dict[str, Any]) -> Correction:
        """Have a worker archive a memory."""
        return self._changed("archive", memory, fields)

    def preview_forget(self, target: ForgetTarget) -> dict[str, Any]:
        return self._ask("forget_preview", target.to_json())

    def forget(self, target: ForgetTarget, confirm: str) -> dict[str, Any]:
        """Have a worker delete the target."""
        return self._ask("forget", target.to_json() | {"confirm": confirm})

    def warm(self) -> None:
        """Connect to mem0 in a thread, if mem0 is the backend."""
        self.store.warm()

    def flush(self, timeout: float) -> bool:
        """Deliver queue, spool and offers."""
        return self.store.flush(timeout)

    def close(self) -> None:
        """Commit or spool queued events, and close the connections."""
        self.store.close()

    def _record(
        self,
        agent: str,
        session: str,
        events: list[EventJson],
        *,
        about: dict[str, str] | None = None,
        trigger: Trigger | None = None,
        ignored: int = 0,
    ) -> Receipt:
        if not events and trigger is None:
            return Receipt(0, 0, ignored, None, due=False, reason=None, stored="postgres")
        captured, stored = self.store.record(Entry(self.tenant, agent, session, events, about, trigger))
        if captured is None:
            return Receipt(len(events), 0, ignored, None, due=False, reason=None, stored=stored)
        if captured.problem:
            raise ScopeConflict(f"{agent}/{session}: {captured.problem}")
        return Receipt(
            captured.added, captured.repeated, ignored, captured.last_seq, captured.due, captured.reason, stored
        )

    def _changed(self, kind: "Kind", memory: UUID, fields: dict[str, Any]) -> Correction:
        result = self._ask(kind, {"memory": str(memory)} | fields)
        return Correction(self.get(memory_id(result["memory"])), result["run"])

    def _ask(self, kind: "Kind", arguments: dict[str, Any]) -> dict[str, Any]:
        from slowwave.worker_requests import ask_worker  # noqa: PLC0415 (as above)

        return ask_worker(self.store.postgres, self.store.offers.redis, self.tenant, kind, arguments)
