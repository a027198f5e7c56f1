"""`Memory`: what an agent's host calls to record turns and to read what the agent knows.

Must not know: how events are stored, spooled or flushed; celery.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, Self

from slowwave.capture import Entry, Trigger, about_of
from slowwave.errors import InvalidMessage, ScopeConflict, shown
from slowwave.event_json import EventJson
from slowwave.identity import check_name
from slowwave.memory_curation import CuratingMemory
from slowwave.memory_reads import ReadingMemory
from slowwave.memory_types import MemoryType
from slowwave.messages import TASK_EVENTS, Message, TaskEvent, check_key, check_run, message_events, turn_events
from slowwave.postgres import PreparedStatement
from slowwave.settings import Settings, load_settings
from slowwave.spool import spooled
from slowwave.store import Mode, Store, Stored
from slowwave.working import Noted, WorkingStats, note, read_stats, scope_of

_DIRTY = PreparedStatement(
    b"slowwave_dirty",
    b"SELECT count(*), extract(epoch FROM clock_timestamp() - min(s.dirty_since))"
    b" FROM slowwave.sessions s JOIN slowwave.agents a ON a.id = s.agent_id"
    b" WHERE a.tenant = $1 AND s.dirty_since IS NOT NULL",
)


class Receipt(NamedTuple):
    """What a hook did.

    added: events that are new; repeated: events whose key was there already; ignored: messages that a memory leaves out
    (system, empty; of tools where `memory.tools.record` is off). last_seq: the number of the session's last event.
    due: a flush was asked for, and reason why (turns, idle, compaction, reset). stored: "postgres" is committed; for
    "queued" and "spool" nothing is known but that `added` events were taken.
    """

    added: int
    repeated: int
    ignored: int
    last_seq: int | None
    due: bool
    reason: str | None
    stored: Stored


@dataclass(frozen=True, slots=True)
class Status:
    """How a tenant's memory stands.

    dirty_sessions: those with events that no flush has taken; oldest_dirty_seconds: since when the first of them waits.
    queues: messages in each queue. spool_files, spool_bytes: what waits on this host for Postgres; rejected_files: what
    Postgres refused.
    """

    dirty_sessions: int
    oldest_dirty_seconds: float | None
    queues: dict[str, int]
    spool_files: int
    spool_bytes: int
    rejected_files: int


class Memory(ReadingMemory, CuratingMemory):
    """The memory of one tenant's agents. Any number of threads may share one; a forked child may go on using it.

    mode: "durable" (a hook returns after the commit) or "background" (it returns at once, a thread commits in batches;
    what is queued is committed when the interpreter ends, but a child of `multiprocessing` must call `close` itself).
    raise_errors: tell of an unreachable Postgres with StoreUnavailable, after the events were spooled.
    store: what is behind the hooks, to share it; else it is made from `settings`.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        mode: Mode = "durable",
        raise_errors: bool = False,
        store: Store | None = None,
        tenant: str | None = None,
    ) -> None:
        self.store = store or Store(settings, mode=mode, raise_errors=raise_errors)
        self.tenant = check_name("tenant", settings.tenant if tenant is None else tenant)

    @classmethod
    def from_env(cls, *, mode: Mode = "durable", raise_errors: bool = False, **overrides: Any) -> Self:
        """Make one from the settings of this process; `overrides` are top-level keys. Raises InvalidSettings."""
        return cls(load_settings(**overrides), mode=mode, raise_errors=raise_errors)

    @staticmethod
    def from_url(
        url: str, key: str, *, mode: Mode = "durable", raise_errors: bool = False, **overrides: Any
    ) -> "Memory":
        """Make a memory whose calls a gateway (`slowwave serve`) answers: no login of Postgres or Redis is needed.

        Args:
            url: the address of the gateway.
            key: an API key, as `slowwave admin keys add` shows it once.
            mode: as for `Memory`.
            raise_errors: as for `Memory`; tells of a gateway that is away.
            overrides: settings of this host, such as `spool`.

        Returns:
            A memory with the same methods. The key says which tenant, agents and scopes it reaches.

        Raises:
            InvalidSettings: the address, the key or a setting can't be used, or httpx2 is not installed.

        Example:
            >>> memory = Memory.from_url("https://memory.example.com", os.environ["SLOWWAVE_KEY"])
            >>> memory.turn_completed("support-bot", "call-7", [{"role": "user", "content": "Hello"}]).added
            1
        """
        from slowwave.http.memory import GatewayMemory  # noqa: PLC0415 (brings httpx2)

        return GatewayMemory(load_settings(**overrides), url, key, mode=mode, raise_errors=raise_errors)

    def for_tenant(self, tenant: str | None) -> "Memory":
        """The memory of another tenant (None: the settings' own), on the same connections; closing one closes both."""
        return Memory(self.store.settings, store=self.store, tenant=tenant)

    def turn_completed(
        self,
        agent: str,
        session: str,
        messages: Sequence[Message | Mapping[str, Any]],
        *,
        room_id: str | None = None,
        thread_id: str | None = None,
        scope: str | None = None,
        key: str | None = None,
    ) -> Receipt:
        """Record what one turn added: usually a user's message and the reply, as {"role", "content"} and optionally
        name, at (aware time), metadata and key.

        scope: None writes to the agent's own memory, "room:NAME" or "team:NAME" to that; a session keeps the scope that
        it began with. key: makes a repetition of this call harmless.
        Raises `InvalidMessage`, `TooLarge`, `InvalidName`, `ScopeConflict`, `SpoolFull`.
        """
        tools = self.store.settings.memory.tools
        events, ignored = turn_events(messages, self.store.new_key() if key is None else check_key(key), tools)
        about = about_of(scope, room_id, thread_id)
        return self._record(agent, session, events, about=about, ignored=ignored)

    def task_event(
        self,
        agent: str,
        session: str,
        event: TaskEvent,
        text: str,
        *,
        at: datetime | str | None = None,
        key: str | None = None,
        run: str | None = None,
    ) -> Receipt:
        """Record a milestone of a task: run_queued, run_finished, run_failed or run_blocked. Raises as a turn does.

        run: the id of the run. In the summary of a day, a later milestone of the same run replaces an earlier one; runs
        without an id are told apart by their text.
        """
        if event not in TASK_EVENTS:
            raise InvalidMessage(f"event must be one of {', '.join(TASK_EVENTS)}, not {shown(event)}")
        metadata: dict[str, str] = {"event": event} if run is None else {"event": event, "run": check_run(run)}
        message = {"role": "task", "content": text, "at": at, "metadata": metadata}
        events = message_events(message, f"{self.store.new_key() if key is None else check_key(key)}:0")
        return self._record(agent, session, events)

    def session_idle(self, agent: str, session: str) -> Receipt:
        """The conversation went quiet: process it now."""
        return self._record(agent, session, [], trigger="idle")

    def session_compacted(self, agent: str, session: str) -> Receipt:
        """The host cut the conversation's history short: process it now."""
        return self._record(agent, session, [], trigger="compaction")

    def session_reset(self, agent: str, session: str) -> Receipt:
        """The conversation ends here, another begins: process it now."""
        return self._record(agent, session, [], trigger="reset")

    def prompt_arrived(self, agent: str, session: str) -> tuple[str, ...]:
        """Somebody wrote to `agent` in `session`: what its other sessions hold is wanted now, and processed first.

        Answers which sessions were boosted. Quick enough for the reply path; raises nothing for a server that is gone
        (with `raise_errors`: StoreUnavailable).
        """
        names = self.store.boost(self.tenant, check_name("agent", agent), check_name("session", session))
        return tuple(names)

    def remember(
        self,
        agent: str,
        content: str,
        importance: float = 0.5,
        session: str | None = None,
        *,
        type: MemoryType = "fact",  # noqa: A002 (the word that memories, search and the shell have for it)
        marked: bool = False,
        scope: str | None = None,
        ttl_seconds: float | None = None,
        key: str | None = None,
        at: datetime | str | None = None,
    ) -> Noted:
        """Note something in the agent's working memory: one statement, committed when this returns, in either mode.

        The next cycle makes a memory of it if it is `marked` or important enough (0..1); the rest expires after
        `ttl_seconds` (default: `memory.consolidation.working_ttl_seconds`). key: makes a repetition harmless. at: when
        it was said, if not now. Raises `InvalidMessage`, `TooLarge`, `InvalidName`, `StoreUnavailable` (nothing was
        noted; call again).
        """
        return note(
            self.store.postgres,
            self.store.settings.memory,
            self.tenant,
            agent,
            content,
            importance=importance,
            session=session,
            kind=type,
            marked=marked,
            scope=scope,
            ttl_seconds=ttl_seconds,
            key=self.store.new_key() if key is None else key,
            at=at,
        )

    def consolidate_now(self, agent: str, scope: str | None = None) -> bool:
        """Ask the workers for a cycle over the agent's own working memory, or that of "room:NAME" or "team:NAME".

        False: one is on its way already. Raises `InvalidName` and redis' own errors.
        """
        from slowwave.coordination.consolidation_queue import ask_for_pass  # noqa: PLC0415 (brings redis)

        return ask_for_pass(self.store.offers.redis(), self.tenant, *scope_of(agent, scope))

    def stats(self, agent: str, scope: str | None = None) -> WorkingStats:
        """What became of all that was noted there, and what the cycles did. Raises InvalidName, StoreUnavailable."""
        kind, name = scope_of(agent, scope)
        return self.store.postgres.read(lambda connection: read_stats(connection, self.tenant, kind, name))

    def status(self) -> Status:
        """How things stand. Raises StoreUnavailable and, for the queues, redis' own errors."""
        count, age = self.store.postgres.call(_DIRTY, (self.tenant.encode(),))[0]
        waiting, queues = spooled(self.store.settings.spool), self.store.offers.queue().depths()
        return Status(int(count or 0), float(age) if age else None, queues, *waiting)

    def warm(self) -> None:
        """Begin, in a thread, to load what the first read would wait for: mem0, if it is the backend."""
        self.store.warm()

    def flush(self, timeout: float = 30.0) -> bool:
        """Commit what is queued or spooled and wake the workers; False if that took more than `timeout` seconds."""
        return self.store.flush(timeout)

    def close(self) -> None:
        """Commit or spool what is queued, and close the connections. Raises SpoolFull if neither worked."""
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

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
        check_name("agent", agent)
        check_name("session", session)
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
