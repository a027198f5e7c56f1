"""Calls that record, as queue and spool carry them: one call is one entry with one event, which holds its body.

Must not know: when calls are made, HTTP's headers.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Literal

from slowwave.capture import Delivery, Entry
from slowwave.errors import InvalidMessage, NotAllowed, RateLimited, SlowwaveError, StoreUnavailable
from slowwave.event_json import EventJson
from slowwave.http.wire import Answer, Wire, path_of

Verb = Literal["turns", "task-events", "idle", "compacted", "reset"]


@dataclass(frozen=True, slots=True)
class Call:
    """One call that records. key: its idempotency key; taken: since when it waits, in ISO 8601."""

    agent: str
    session: str
    verb: Verb
    body: Mapping[str, Any]
    key: str
    taken: str | None = None

    def send(self, wire: Wire) -> Answer:
        """Make it once. Raises what the gateway says."""
        path = path_of("agents", self.agent, "sessions", self.session, self.verb)
        return wire.call(
            "POST", path, body=self.body, key=self.key, taken=self.taken, invalid=InvalidMessage, again=False
        )


def entry_of(call: Call) -> Entry:
    """The call as an entry. The gateway knows its tenant by the key."""
    body = json.dumps(call.body, ensure_ascii=False, separators=(",", ":"))
    event: EventJson = {"key": call.key, "kind": "task", "step": 0, "content": body}
    event["metadata"] = {"verb": call.verb}
    return Entry("", call.agent, call.session, [event])


def call_of(entry: Entry) -> Call:
    """The call that an entry carries: said when it was taken, unless it says when. Raises ValueError and its like."""
    (event,) = entry.events
    verb: Verb = event["metadata"]["verb"]
    body: dict[str, Any] = json.loads(event["content"])
    said = event["at"]
    if verb == "turns":
        body["messages"] = [{"at": said, **_given(message)} for message in body["messages"]]
    elif verb == "task-events":
        body = {"at": said, **_given(body)}
    return Call(entry.agent, entry.session, verb, body, event["key"], event["taken"])


def names_of(url: str, key: str) -> tuple[str, str]:
    """The digests that keep apart what waits for different gateways, and what was said with different keys."""
    return blake2b(url.encode(), digest_size=6).hexdigest(), blake2b(key.encode(), digest_size=4).hexdigest()


@dataclass(frozen=True, slots=True)
class CallDeliverer:
    """Where queue and spool are emptied to. Doing it again changes nothing: calls carry their keys."""

    wire: Wire

    def deliver(self, entries: Sequence[Entry]) -> Delivery:
        """Make the calls in their order. Raises StoreUnavailable; then part of them may be made.

        A key that was revoked may be renewed, and a quota ends: these calls wait. What the gateway refuses otherwise is
        rejected.
        """
        delivery = Delivery([], [])
        for entry in entries:
            try:
                call_of(entry).send(self.wire)
            except (StoreUnavailable, RateLimited, NotAllowed) as error:
                raise StoreUnavailable(str(error)) from error
            except (SlowwaveError, LookupError, TypeError, ValueError) as error:
                delivery.rejected.append((entry, str(error)))
        return delivery


def _given(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name != "at" or value is not None}
