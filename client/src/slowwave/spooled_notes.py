"""Spool entries besides events: notes while Postgres is unavailable, and the memories that contexts showed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from slowwave.capture import Capture, Delivery, Entry
from slowwave.errors import SlowwaveError, StoreUnavailable, WasForgotten
from slowwave.event_json import EventJson
from slowwave.identity import scope_of
from slowwave.postgres import Postgres, PreparedStatement
from slowwave.settings import MemorySettings
from slowwave.working import NoteRequest, Remember, note

_NO_EVENTS = frozenset({"note", "shown"})
_SHOW = PreparedStatement(b"slowwave_show", b"SELECT slowwave.show_memories($1, $2, $3, $4, $5)")
_CARRIED = ("importance", "type", "marked", "ttl_seconds")


def entry_of(tenant: str, asked: Remember, key: str) -> Entry:
    """Return a note in the spool's form. It names its scope, so that a forget finds it."""
    fields = asked.model_dump(mode="json")
    event: EventJson = {"key": key, "kind": "task", "step": 0, "content": asked.content}
    event["metadata"] = {name: fields[name] for name in _CARRIED}
    if fields["at"] is not None:
        event["at"] = fields["at"]
    kind, name = scope_of(asked.agent, asked.scope)
    about = None if kind == "agent" else {"scope_kind": kind, "scope_name": name}
    return Entry(tenant, asked.agent, asked.session or "", [event], about, "note")


@dataclass(frozen=True, slots=True)
class Recorder:
    """Delivers entries: events to `capture`, notes and shown memories to Postgres. Repeated delivery is harmless."""

    capture: Capture
    postgres: Postgres
    settings: MemorySettings

    def deliver(self, entries: Sequence[Entry]) -> Delivery:
        """Record the entries. Raises StoreUnavailable; some of them may then be recorded already."""
        delivery = self.capture.deliver([entry for entry in entries if entry.trigger not in _NO_EVENTS])
        for entry in entries:
            deliver = {"note": self._note, "shown": self._show}.get(entry.trigger or "")
            if deliver is None:
                continue
            try:
                deliver(entry)
            except StoreUnavailable:
                if entry.trigger == "note":
                    raise
                # The note of shown memories is only a hint, so it must not delay an event.
            except WasForgotten:
                continue  # forgotten in the meantime: it stays forgotten (I10)
            except (SlowwaveError, LookupError, TypeError, ValueError) as error:
                delivery.rejected.append((entry, str(error)))
        return delivery

    def _show(self, entry: Entry) -> None:
        for event in entry.events:
            memories = "{" + ",".join(event["metadata"]["memories"]) + "}"
            values = (entry.tenant, entry.agent, entry.session, memories, event["at"])
            self.postgres.call(_SHOW, tuple(value.encode() for value in values))

    def _note(self, entry: Entry) -> None:
        about = entry.about or {}
        scope = f"{about['scope_kind']}:{about['scope_name']}" if about else None
        for event in entry.events:
            carried: dict[str, Any] = event["metadata"]
            request = NoteRequest(
                agent=entry.agent,
                content=event["content"],
                session=entry.session or None,
                scope=scope,
                at=event["at"],
                **{name: carried[name] for name in _CARRIED},
            )
            note(self.postgres, self.settings, entry.tenant, request, key=event["key"], taken=event["taken"])
