"""Notes in the spool while Postgres is down, for callers that can't repeat their call."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from slowwave.capture import Capture, Delivery, Entry
from slowwave.errors import SlowwaveError, StoreUnavailable, WasForgotten
from slowwave.event_json import EventJson
from slowwave.postgres import Postgres
from slowwave.settings import MemorySettings
from slowwave.working import NoteRequest, Remember, note, scope_of

_CARRIED = ("importance", "type", "marked", "ttl_seconds")


def entry_of(tenant: str, asked: Remember, key: str) -> Entry:
    """A note in the spool's form. It names its scope, so that a forget finds it."""
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
    """Delivers the spool: events to `capture`, notes to working memory. Repeated delivery is harmless."""

    capture: Capture
    postgres: Postgres
    settings: MemorySettings

    def deliver(self, entries: Sequence[Entry]) -> Delivery:
        """Record the entries. Raises StoreUnavailable; some of them may be recorded then."""
        delivery = self.capture.deliver([entry for entry in entries if entry.trigger != "note"])
        for entry in entries:
            if entry.trigger == "note":
                try:
                    self._note(entry)
                except StoreUnavailable:
                    raise
                except WasForgotten:
                    continue  # meanwhile: it stays forgotten (I10)
                except (SlowwaveError, LookupError, TypeError, ValueError) as error:
                    delivery.rejected.append((entry, str(error)))
        return delivery

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
