"""Recording calls as entries of a queue or spool: each call is one entry with one event, which holds the body."""

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
    """One recording call. key: its idempotency key; taken: when the host accepted it (ISO 8601), if spooled."""

    agent: str
    session: str
    verb: Verb
    body: Mapping[str, Any]
    key: str
    taken: str | None = None

    def send(self, wire: Wire) -> Answer:
        """Send the call once. Raises the gateway's error."""
        path = path_of("agents", self.agent, "sessions", self.session, self.verb)
        return wire.call(
            "POST", path, body=self.body, key=self.key, taken=self.taken, invalid=InvalidMessage, again=False
        )


def entry_of(call: Call) -> Entry:
    """Return the call as an entry, without a tenant, because the gateway derives the tenant from the key."""
    body = json.dumps(call.body, ensure_ascii=False, separators=(",", ":"))
    event: EventJson = {"key": call.key, "kind": "task", "step": 0, "content": body}
    event["metadata"] = {"verb": call.verb}
    return Entry("", call.agent, call.session, [event])


def call_of(entry: Entry) -> Call:
    """Return the call of an entry; its time stands for missing ones. Raises ValueError, LookupError, TypeError."""
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
    """Return digests of address and key, which separate spooled calls of different gateways and keys."""
    return blake2b(url.encode(), digest_size=6).hexdigest(), blake2b(key.encode(), digest_size=4).hexdigest()


@dataclass(frozen=True, slots=True)
class CallDeliverer:
    """Delivers queue and spool to a gateway. Repeated delivery is harmless, because calls carry idempotency keys."""

    wire: Wire

    def deliver(self, entries: Sequence[Entry]) -> Delivery:
        """Send the calls in order. Raises StoreUnavailable; the gateway may have accepted some of them before.

        If a key was revoked or a quota is used up, the calls stay spooled, because both may change. Calls that the
        gateway refuses for another reason are rejected.
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
