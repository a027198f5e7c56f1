"""Find entries of the queue of failed work: a dead letter (12), or a quarantined event (AGENT/SESSION#SEQ)."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import typer

from slowwave_server.workers.shared.shell import Shell

if TYPE_CHECKING:
    from slowwave_server.models.driver import Reads
    from slowwave_server.services.dead_letters.quarantine import RetryResult
    from slowwave_server.services.reports.quarantine import QuarantinedEvent

EVENTS_AT_ONCE = 1000


class Entries(NamedTuple):
    """Dead letters by number, and quarantined events."""

    letters: list[int]
    events: "list[QuarantinedEvent]"


def event_id(event: "QuarantinedEvent") -> str:
    """The id of a quarantined event."""
    return f"{event.agent}/{event.session}#{event.seq}"


def find_entries(connection: "Reads", tenant: str, ids: Sequence[str]) -> Entries:
    """Parse ids: 12 is a dead letter, AGENT/SESSION#SEQ a quarantined event. Raises BadParameter, UnknownName."""
    letters = [int(text) for text in ids if text.isascii() and text.isdecimal()]
    events = [_event(connection, tenant, text) for text in ids if not (text.isascii() and text.isdecimal())]
    return Entries(letters, events)


def _event(connection: "Reads", tenant: str, text: str) -> "QuarantinedEvent":
    from slowwave_server.services.lookup import UnknownName
    from slowwave_server.services.reports.quarantine import list_quarantined

    place, _, seq = text.rpartition("#")
    if "/" not in place or not (seq.isascii() and seq.isdecimal()):
        raise typer.BadParameter(f"ID must be 12 for a dead letter or AGENT/SESSION#SEQ for an event, got {text!r}")
    for agent, session in _splits(place):
        events = list_quarantined(connection, tenant, agent=agent, session=session, limit=EVENTS_AT_ONCE)
        for event in events:
            if event.seq == int(seq):
                return event
    raise UnknownName(f"no quarantined event {text} in tenant {tenant!r}; `slowwave queue list` lists them")


def _splits(place: str) -> Iterator[tuple[str, str]]:
    """Return every way to split a place into agent and session, because names may contain slashes."""
    parts = place.split("/")
    for at in range(1, len(parts)):
        yield "/".join(parts[:at]), "/".join(parts[at:])


def retry_events(shell: Shell, events: "Sequence[QuarantinedEvent]") -> "Iterator[tuple[str, RetryResult]]":
    """Extract each event again; yield its id and the result."""
    from slowwave.identity import SessionRef
    from slowwave_server.services.dead_letters.quarantine import retry_quarantined
    from slowwave_server.services.extraction.build import build_extractor

    extractor = build_extractor(shell.settings, shell.engine, shell.redis, shell.now)
    for event in events:
        ref = SessionRef(shell.tenant, event.agent, event.session)
        yield event_id(event), retry_quarantined(shell.engine, extractor, ref, event.seq, shell.now())
