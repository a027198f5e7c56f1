"""The backend of `Memory.from_url`: a gateway answers each call; the host needs only an address and an API key."""

import time
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from slowwave.capture import Trigger
from slowwave.errors import InvalidMessage, NotAllowed, NotAnswered, StoreUnavailable, shown
from slowwave.http.bodies import given, message_json
from slowwave.http.bound import BoundGateway
from slowwave.http.calls import Call, Verb
from slowwave.http.reads import GatewayReads
from slowwave.http.store import GatewayStore
from slowwave.http.wire import Answer, Wire, path_of
from slowwave.identity import scope_of
from slowwave.memory_records import Correction, parsed
from slowwave.memory_requests import ForgetTarget, MilestoneRequest, TurnRequest
from slowwave.messages import check_key, moment_of
from slowwave.receipts import Receipt, Status
from slowwave.settings import Settings
from slowwave.store import Mode
from slowwave.worker_requests import ANSWER_SECONDS, failure_of
from slowwave.working import Noted, NoteRequest, WorkingStats, check_note

_ACCEPTED = 202
_LOOK_SECONDS = 0.5


class GatewayCuration(BoundGateway):
    """Changes memories (right `decide`) and forgets data (right `forget`)."""

    def note_use(self, agent: str, ids: list[UUID], session: str | None) -> int:
        """Note that a reply used memories. Return how many of them the agent may read."""
        body = {"memories": [str(one) for one in ids]} | given(session=session)
        return int(self._change("POST", path_of("agents", agent, "used"), body).body["marked"])

    def show(self, agent: str, session: str, memories: Iterable[str]) -> None:
        body = {"memories": list(memories), "session": session, "shown": True}
        self._change("POST", path_of("agents", agent, "used"), body)

    def correct(self, memory: UUID, fields: dict[str, Any]) -> Correction:
        """Have a worker edit a memory."""
        return parsed(Correction, self._change("PATCH", path_of("memories", str(memory)), fields).body)

    def archive(self, memory: UUID, fields: dict[str, Any]) -> Correction:
        """Have a worker archive a memory."""
        return parsed(Correction, self._change("POST", path_of("memories", str(memory), "archive"), fields).body)

    def preview_forget(self, target: ForgetTarget) -> dict[str, Any]:
        return self._answered(self._change("POST", path_of("forgets"), target.to_json()))

    def forget(self, target: ForgetTarget, confirm: str) -> dict[str, Any]:
        """Have a worker delete the target: ask for a fresh preview, then confirm that one."""
        path = path_of("forgets", str(self.preview_forget(target)["id"]), "confirm")
        return self._answered(self._change("POST", path, {"confirm": confirm}))

    def _change(self, method: str, path: str, body: dict[str, Any]) -> Answer:
        wire, key = self.gateway.wire, self.gateway.new_key()
        return wire.call(method, path, body=body, key=key, invalid=InvalidMessage)

    def _answered(self, answer: Answer) -> dict[str, Any]:
        """Return the result; if no worker has answered yet, wait for the result. Raises NotAnswered."""
        if answer.status != _ACCEPTED:
            return answer.body
        request, end = str(answer.body["id"]), time.monotonic() + ANSWER_SECONDS
        while time.monotonic() < end:
            time.sleep(_LOOK_SECONDS)
            found = self.gateway.wire.call("GET", path_of("requests", request)).body
            if found["state"] == "done":
                return {"id": request} | dict(found["result"])
            if found["state"] == "failed":
                raise failure_of(found["result"], found["error"])
        raise NotAnswered(
            f"no worker answered request {request} within {ANSWER_SECONDS:g} s; a worker will answer it later", request
        )


_VERBS: Mapping[Trigger, Verb] = {"idle": "idle", "compaction": "compacted", "reset": "reset"}


class GatewayBackend(GatewayReads, GatewayCuration):
    """Calls a gateway. Calls that the gateway can't accept now go to this host's spool. Threads may share one object.

    The key decides which tenant, agents and scopes the object reaches. wire: the connections; by default new ones.
    """

    tenant = ""

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

    @property
    def settings(self) -> Settings:
        return self.gateway.settings

    def for_tenant(self, tenant: str | None) -> "GatewayBackend":
        """Return this backend for None. Raises NotAllowed for a tenant name: an API key belongs to one tenant."""
        if tenant is None:
            return self
        raise NotAllowed(f"an API key belongs to one tenant: make a key of tenant {shown(tenant)} for this")

    def new_key(self) -> str:
        return self.gateway.new_key()

    def record_turn(self, turn: TurnRequest) -> Receipt:
        if not turn.events:
            return Receipt(0, 0, turn.ignored, None, due=False, reason=None, stored="postgres")
        sent = [message_json(message) for message in turn.messages]
        body = {"messages": sent} | given(scope=turn.scope, room_id=turn.room_id, thread_id=turn.thread_id)
        call = Call(turn.agent, turn.session, "turns", body, turn.key)
        return self._send(call, events=len(turn.events), ignored=turn.ignored)

    def record_milestone(self, request: MilestoneRequest) -> Receipt:
        at = None if request.at is None else moment_of(request.at)
        body = {"event": request.event, "text": request.text} | given(at=at, run=request.run)
        call = Call(request.agent, request.session, "task-events", body, request.key)
        return self._send(call, events=len(request.events))

    def request_flush(self, agent: str, session: str, trigger: Trigger) -> Receipt:
        return self._send(Call(agent, session, _VERBS[trigger], {}, self.new_key()))

    def boost(self, agent: str, session: str) -> tuple[str, ...]:
        """Flush the agent's other sessions first, and return their names."""
        path = path_of("agents", agent, "sessions", session, "prompt")
        try:
            answer = self.gateway.wire.call("POST", path, body={}, key=self.new_key(), again=False)
        except StoreUnavailable as error:
            if self.gateway.raises:
                raise
            self.gateway.complain(error)
            return ()
        return tuple(answer.body["boosted"])

    def note(self, request: NoteRequest) -> Noted:
        content, said = check_note(request)
        body = {"content": content, "importance": request.importance, "type": request.type, "marked": request.marked}
        body |= given(session=request.session, scope=request.scope, ttl_seconds=request.ttl_seconds, at=said or None)
        key = self.new_key() if request.key is None else check_key(request.key)
        path = path_of("agents", request.agent, "notes")
        try:
            answer = self.gateway.wire.call("POST", path, body=body, key=key, invalid=InvalidMessage)
        except StoreUnavailable as error:
            raise StoreUnavailable(f"nothing was noted; call again: {error}") from error
        expires = datetime.fromisoformat(answer.body["expires_at"])
        return Noted(UUID(answer.body["id"]), answer.body["added"], expires)

    def consolidate(self, agent: str, scope: str | None) -> bool:
        """Request a consolidation cycle. Return False if one is already queued."""
        scope_of(agent, scope)
        path = path_of("agents", agent, "consolidate")
        answer = self.gateway.wire.call("POST", path, body=given(scope=scope), key=self.new_key())
        return bool(answer.body["asked"])

    def stats(self, agent: str, scope: str | None) -> WorkingStats:
        scope_of(agent, scope)
        found = self.gateway.wire.call("GET", path_of("agents", agent, "stats"), query={"scope": scope}).body
        last = found["last_run_at"]
        return WorkingStats(**found | {"last_run_at": None if last is None else datetime.fromisoformat(last)})

    def status(self) -> Status:
        """Read the tenant's backlog from the gateway, and measure this host's spool."""
        found = self.gateway.wire.call("GET", path_of("status")).body
        waiting = self.gateway.waiting()
        return Status(found["dirty_sessions"], found["oldest_dirty_seconds"], found["queues"] or {}, *waiting)

    def warm(self) -> None:
        """Do nothing: the gateway itself loads everything that reads need."""

    def flush(self, timeout: float) -> bool:
        return self.gateway.flush(timeout)

    def close(self) -> None:
        """Deliver or spool queued calls, then close the connections."""
        self.gateway.close()

    def _send(self, call: Call, *, events: int = 0, ignored: int = 0) -> Receipt:
        answer, stored = self.gateway.record(call)
        if answer is None:
            return Receipt(events, 0, ignored, None, due=False, reason=None, stored=stored)
        names = ("added", "repeated", "ignored", "last_seq", "due", "reason", "stored")
        return Receipt(**{name: answer.body[name] for name in names})
