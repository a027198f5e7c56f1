"""The memory for one API key: it records only into sessions of scopes that the key reaches.

A session keeps its first scope. A call without a scope means the agent's own scope, unless the session already writes
to another scope that the key reaches. A session of a scope out of reach counts as missing.
"""

import threading
from collections import OrderedDict
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from slowwave import Memory, Receipt
from slowwave.capture import Trigger
from slowwave.errors import ScopeConflict
from slowwave.event_json import EventJson
from slowwave.postgres import PreparedStatement
from slowwave.postgres_backend import PostgresBackend
from slowwave.store import Store
from slowwave.working import Noted, NoteRequest, note
from slowwave_server.workers.gateway.caller import Caller, nothing

KNOWN_SESSIONS = 10_000
_SCOPE = PreparedStatement(
    b"slowwave_scope_of_session",
    b"SELECT k.kind, k.name FROM slowwave.sessions s JOIN slowwave.agents a ON a.id = s.agent_id"
    b" JOIN slowwave.scopes k ON k.id = s.scope_id WHERE a.tenant = $1 AND a.name = $2 AND s.name = $3",
)

Scope = dict[str, str]


class KnownScopes:
    """The shared scopes of recently seen sessions. A session never changes its scope."""

    def __init__(self, most: int = KNOWN_SESSIONS) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[str, str, str], Scope] = OrderedDict()

    def get(self, session: tuple[str, str, str]) -> Scope | None:
        """The scope of (tenant, agent, session), or None if it is not cached."""
        with self._lock:
            return self._known.get(session)

    def put(self, session: tuple[str, str, str], scope: Scope | None) -> None:
        """Cache the scope; None removes it."""
        with self._lock:
            self._known.pop(session, None)
            if scope is not None:
                self._known[session] = scope
            while len(self._known) > self._most:
                self._known.popitem(last=False)


_scopes = KnownScopes()


def taken_at(given: str | None, now: datetime) -> str | None:
    """Return the past time (ISO 8601) at which a caller's spool received its entries; None for any other value."""
    if given is None:
        return None
    try:
        taken = datetime.fromisoformat(given)
    except ValueError:
        return None
    return taken.astimezone(UTC).isoformat() if taken.tzinfo is not None and taken < now else None


class WalledBackend(PostgresBackend):
    """Records for the tenant of a key, only in scopes that the key reaches.

    taken: the time at which the caller's spool received the entries; if they were forgotten after this time, they are
    discarded.
    """

    def __init__(
        self, store: Store, caller: Caller, scopes: KnownScopes = _scopes, *, taken: str | None = None
    ) -> None:
        super().__init__(store, caller.tenant)
        self._caller = caller
        self._taken = taken
        self._scopes = scopes

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
        if self._taken is not None:
            for event in events:
                event.setdefault("at", self._taken)
                event["taken"] = self._taken
        options: dict[str, Any] = {"trigger": trigger, "ignored": ignored}
        if self._caller.reach.is_all:
            return super()._record(agent, session, events, about=about, **options)
        place = (self.tenant, agent, session)
        named = about is not None and "scope_kind" in about
        own = {"scope_kind": "agent", "scope_name": agent}
        for attempt in range(2):
            scope = {} if named else self._scopes.get(place) or own
            self._require(scope, session)
            try:
                return super()._record(agent, session, events, about={**(about or {}), **scope}, **options)
            except ScopeConflict:
                found = self._read_scope(place) or own
                self._require(found, session)  # the original message names the scope
                if named or attempt:
                    raise
                self._scopes.put(place, found)
        raise AssertionError("a second try answers or raises")

    def _require(self, scope: Scope, session: str) -> None:
        if scope and not self._caller.reach.admits(scope["scope_kind"], scope["scope_name"]):
            raise nothing("session", session)

    def _read_scope(self, place: tuple[str, str, str]) -> Scope | None:
        rows = self.store.postgres.call(_SCOPE, tuple(name.encode() for name in place))
        if not rows or rows[0][0] is None or rows[0][1] is None:
            return None
        return {"scope_kind": rows[0][0].decode(), "scope_name": rows[0][1].decode()}


class WalledMemory(Memory):
    """The memory for a caller of the gateway. taken: see `WalledBackend`."""

    def __init__(self, store: Store, caller: Caller, *, taken: str | None = None) -> None:
        super().__init__(store.settings, backend=WalledBackend(store, caller, taken=taken))
        self._taken = taken

    def note_late(self, agent: str, asked: Mapping[str, Any], key: str | None) -> Noted:
        """Store a delayed note as `remember` does. Raises WasForgotten, and the errors of `remember`."""
        request = NoteRequest(agent=agent, **{**asked, "at": asked["at"] or self._taken})
        key = self.store.new_key() if key is None else key
        return note(self.store.postgres, self.store.settings.memory, self.tenant, request, key=key, taken=self._taken)
