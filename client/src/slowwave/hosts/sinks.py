"""Destinations of recorded messages: Postgres, or a gateway if SLOWWAVE_URL and SLOWWAVE_KEY name one.

Messages carry idempotency keys, so a second delivery changes nothing. Each message carries its own time as the time of
recording, so a message from before a forget of its agent stays forgotten.
"""

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from slowwave.capture import Entry
from slowwave.errors import InvalidMessage, InvalidName, InvalidSettings, Refused
from slowwave.event_json import EventJson
from slowwave.hosts.places import KEY, URL
from slowwave.hosts.protocols import Trigger
from slowwave.memory import Memory
from slowwave.messages import moment_of, turn_events
from slowwave.settings import Tools

if TYPE_CHECKING:
    from slowwave.http.store import GatewayStore

log = logging.getLogger(__name__)

Messages = Sequence[Mapping[str, Any]]


class Place(NamedTuple):
    """A conversation. taken: the time (ISO 8601) at which a hook received messages that have no time of their own."""

    agent: str
    session: str
    taken: str


class Sink(Protocol):
    """Records messages and ends of conversations. Raises SpoolFull. What is refused for good is logged and dropped."""

    def messages(self, place: Place, messages: Messages) -> None: ...

    def ends(self, place: Place, trigger: Trigger) -> None: ...


@dataclass(frozen=True, slots=True)
class PostgresSink:
    """Writes to Postgres, or to the spool while Postgres is unavailable."""

    memory: Memory

    def messages(self, place: Place, messages: Messages) -> None:
        """Record messages; a message that can't be recorded does not delay the others."""
        tools = self.memory.store.settings.memory.tools
        try:
            events, _ = turn_events(messages, "-", tools)
        except (InvalidMessage, InvalidName):
            events = [event for message in messages for event in _alone(message, tools)]
        now = datetime.now(UTC).isoformat()
        for event in events:
            event["taken"] = min(event.setdefault("at", place.taken), now)
        if events:
            self._store(place, events, None)

    def ends(self, place: Place, trigger: Trigger) -> None:
        """Request a flush of the session now."""
        self._store(place, [], trigger)

    def _store(self, place: Place, events: list[EventJson], trigger: Trigger | None) -> None:
        entry = Entry(self.memory.tenant, place.agent, place.session, events, None, trigger)
        try:
            captured, _ = self.memory.store.record(entry)
        except Refused as error:
            log.error("events of %s are refused: %s", entry.ref, error)  # noqa: TRY400 (the sentence says it all)
            return
        if captured is not None and captured.problem:
            log.error("events of %s are refused: %s", entry.ref, captured.problem)


@dataclass(frozen=True, slots=True)
class GatewaySink:
    """Calls a gateway, or spools while it is unavailable. Raises also NotAllowed, NotFound and RateLimited."""

    memory: Memory
    gateway: "GatewayStore"

    def messages(self, place: Place, messages: Messages) -> None:
        """Record messages in one call, or one by one if the gateway refuses the call."""
        try:
            self._send(place, messages)
        except (InvalidMessage, InvalidName) as error:
            if len(messages) == 1:
                log.warning("a message is left out: %s", error)
                return
            for message in messages:
                self.messages(place, [message])

    def ends(self, place: Place, trigger: Trigger) -> None:
        """Request a flush of the session now."""
        if trigger == "compaction":
            self.memory.session_compacted(place.agent, place.session)
        else:
            self.memory.session_reset(place.agent, place.session)

    def _send(self, place: Place, messages: Messages) -> None:
        from slowwave.http.bodies import message_json  # noqa: PLC0415 (brings httpx2)
        from slowwave.http.calls import Call  # noqa: PLC0415 (as above)

        sent = [message_json({"at": place.taken, **message}) for message in messages]
        taken = min(datetime.now(UTC).isoformat(), *(moment_of(message["at"]) for message in sent))
        call = Call(place.agent, place.session, "turns", {"messages": sent}, self.gateway.new_key(), taken)
        self.gateway.record(call)


def open_memory() -> tuple[Memory, Sink]:
    """Return the memory for this process' settings, and the sink for its messages. Raises InvalidSettings."""
    url, key = os.environ.get(URL), os.environ.get(KEY)
    if not url and not key:
        memory = Memory.from_env()
        return memory, PostgresSink(memory)
    if not url or not key:
        raise InvalidSettings(f"{URL} and {KEY} belong together, and {KEY if url else URL} is not set")
    from slowwave.http.backend import GatewayBackend  # noqa: PLC0415 (brings httpx2)
    from slowwave.settings import load_settings  # noqa: PLC0415 (as above)

    settings = load_settings()
    backend = GatewayBackend(settings, url, key)
    memory = Memory(settings, backend=backend)
    return memory, GatewaySink(memory, backend.gateway)


def _alone(message: Mapping[str, Any], tools: Tools) -> Iterator[EventJson]:
    """Return the events of one message out of several; [] for a message that can't be recorded."""
    try:
        yield from turn_events([message], "-", tools)[0]
    except (InvalidMessage, InvalidName) as error:
        log.warning("a message is left out: %s", error)
