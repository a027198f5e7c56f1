"""`Memory` whose calls a gateway answers: no login of Postgres or Redis, only an address and an API key.

Must not know: how calls are sent and kept, what a gateway does with them.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from slowwave.capture import about_of
from slowwave.errors import InvalidMessage, NotAllowed, SlowwaveError, StoreUnavailable, shown
from slowwave.http.bodies import given, message_json
from slowwave.http.calls import Call, Verb
from slowwave.http.curation import GatewayCuration
from slowwave.http.reads import GatewayReads
from slowwave.http.store import GatewayStore
from slowwave.http.wire import Wire, path_of
from slowwave.identity import check_name
from slowwave.memory import Memory, Receipt, Status
from slowwave.memory_types import MemoryType
from slowwave.messages import TASK_EVENTS, Message, TaskEvent, check_key, check_run, moment_of, turn_events
from slowwave.settings import Settings
from slowwave.store import Mode
from slowwave.working import Noted, WorkingStats, check_note, scope_of


def _no_store(_: object) -> Any:
    raise SlowwaveError("this needs a connection to Postgres, which a memory over HTTP lacks: use Memory.from_env()")


class GatewayMemory(GatewayReads, GatewayCuration, Memory):
    """As `Memory`, over HTTP: made by `Memory.from_url`. The key says which tenant, agents and scopes it reaches.

    What the gateway can't take now waits in the spool of this host. Any number of threads may share one.
    wire: what carries the calls.
    """

    store: Any = property(_no_store)

    def __init__(
        self,
        settings: Settings,
        url: str,
        key: str,
        *,
        mode: Mode = "durable",
        raise_errors: bool = False,
        wire: Wire | None = None,
    ) -> None:
        self.gateway = GatewayStore(settings, wire or Wire(url, key), key, mode=mode, raise_errors=raise_errors)
        self.tenant = ""

    def for_tenant(self, tenant: str | None) -> Memory:
        """Answer this memory for None. Raises NotAllowed for a tenant: an API key belongs to one."""
        if tenant is None:
            return self
        raise NotAllowed(f"an API key belongs to one tenant: make a key of tenant {shown(tenant)} for this")

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
        """See `Memory.turn_completed`."""
        key = self._key(key)
        events, ignored = turn_events(messages, key, self.gateway.settings.memory.tools)
        about_of(scope, room_id, thread_id)
        if not events:
            _check_names(agent, session)
            return Receipt(0, 0, ignored, None, due=False, reason=None, stored="postgres")
        sent = [message_json(message) for message in messages]
        body = {"messages": sent} | given(scope=scope, room_id=room_id, thread_id=thread_id)
        return self._send(agent, session, "turns", body, key=key, events=len(events), ignored=ignored)

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
        """See `Memory.task_event`."""
        if event not in TASK_EVENTS:
            raise InvalidMessage(f"event must be one of {', '.join(TASK_EVENTS)}, not {shown(event)}")
        key = self._key(key)
        events, _ = turn_events([{"role": "task", "content": text}], key)
        body: dict[str, Any] = {"event": event, "text": text}
        body |= given(at=None if at is None else moment_of(at), run=None if run is None else check_run(run))
        return self._send(agent, session, "task-events", body, key=key, events=len(events))

    def session_idle(self, agent: str, session: str) -> Receipt:
        """See `Memory.session_idle`."""
        return self._send(agent, session, "idle", {}, key=self._key(None))

    def session_compacted(self, agent: str, session: str) -> Receipt:
        """See `Memory.session_compacted`."""
        return self._send(agent, session, "compacted", {}, key=self._key(None))

    def session_reset(self, agent: str, session: str) -> Receipt:
        """See `Memory.session_reset`."""
        return self._send(agent, session, "reset", {}, key=self._key(None))

    def prompt_arrived(self, agent: str, session: str) -> tuple[str, ...]:
        """See `Memory.prompt_arrived`."""
        _check_names(agent, session)
        path = path_of("agents", agent, "sessions", session, "prompt")
        try:
            answer = self.gateway.wire.call("POST", path, body={}, key=self._key(None), again=False)
        except StoreUnavailable as error:
            if self.gateway.raises:
                raise
            self.gateway.complain(error)
            return ()
        return tuple(answer.body["boosted"])

    def remember(
        self,
        agent: str,
        content: str,
        importance: float = 0.5,
        session: str | None = None,
        *,
        type: MemoryType = "fact",  # noqa: A002 (as in `Memory`)
        marked: bool = False,
        scope: str | None = None,
        ttl_seconds: float | None = None,
        key: str | None = None,
        at: datetime | str | None = None,
    ) -> Noted:
        """See `Memory.remember`."""
        check_name("agent", agent)
        limits: dict[str, Any] = {"importance": importance, "ttl_seconds": ttl_seconds, "marked": marked}
        content, said = check_note(content=content, kind=type, session=session, at=at, **limits)
        scope_of(agent, scope)
        body = {"content": content, "importance": importance, "type": type, "marked": marked}
        body |= given(session=session, scope=scope, ttl_seconds=ttl_seconds, at=said or None)
        path = path_of("agents", agent, "notes")
        try:
            answer = self.gateway.wire.call("POST", path, body=body, key=self._key(key), invalid=InvalidMessage)
        except StoreUnavailable as error:
            raise StoreUnavailable(f"nothing was noted; call again: {error}") from error
        expires = datetime.fromisoformat(answer.body["expires_at"])
        return Noted(UUID(answer.body["id"]), answer.body["added"], expires)

    def consolidate_now(self, agent: str, scope: str | None = None) -> bool:
        """See `Memory.consolidate_now`; a broker that is away is StoreUnavailable."""
        scope_of(agent, scope)
        path = path_of("agents", agent, "consolidate")
        answer = self.gateway.wire.call("POST", path, body=given(scope=scope), key=self._key(None))
        return bool(answer.body["asked"])

    def stats(self, agent: str, scope: str | None = None) -> WorkingStats:
        """See `Memory.stats`."""
        scope_of(agent, scope)
        found = self.gateway.wire.call("GET", path_of("agents", agent, "stats"), query={"scope": scope}).body
        last = found["last_run_at"]
        return WorkingStats(**found | {"last_run_at": None if last is None else datetime.fromisoformat(last)})

    def status(self) -> Status:
        """See `Memory.status`; the spool is that of this host. Needs the right `administer`."""
        found = self.gateway.wire.call("GET", path_of("status")).body
        return Status(
            found["dirty_sessions"],
            found["oldest_dirty_seconds"],
            found["queues"] or {},
            *self.gateway.waiting(),
        )

    def warm(self) -> None:
        """Do nothing: the gateway has what reads need."""

    def flush(self, timeout: float = 30.0) -> bool:
        """Deliver what is queued or spooled; False if that took more than `timeout` seconds."""
        return self.gateway.flush(timeout)

    def close(self) -> None:
        """Deliver or spool what is queued, and close the connections. Raises SpoolFull if neither worked."""
        self.gateway.close()

    def _key(self, key: str | None) -> str:
        return self.gateway.new_key() if key is None else check_key(key)

    def _send(
        self,
        agent: str,
        session: str,
        verb: Verb,
        body: Mapping[str, Any],
        *,
        key: str,
        events: int = 0,
        ignored: int = 0,
    ) -> Receipt:
        _check_names(agent, session)
        answer, stored = self.gateway.record(Call(agent, session, verb, body, key))
        if answer is None:
            return Receipt(events, 0, ignored, None, due=False, reason=None, stored=stored)
        names = ("added", "repeated", "ignored", "last_seq", "due", "reason", "stored")
        return Receipt(**{name: answer.body[name] for name in names})


def _check_names(agent: str, session: str) -> None:
    check_name("agent", agent)
    check_name("session", session)
