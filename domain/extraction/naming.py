"""Name the thing that an agent's report is about, if the call before it tells and the report does not.

"Your booking has been moved to Friday." (booking K-771)
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from slowwave_server.domain.candidates import Candidate
from slowwave_server.domain.events import Event
from slowwave_server.domain.extraction.tools import Call, pairs
from slowwave_server.domain.redaction import redact

_KEY = re.compile(r"(?:\w+\.)*(?P<noun>[a-z]{3,})_?id", re.IGNORECASE)
_VALUE = re.compile(r"(?=\S*\d|\S*[A-Z]{3})[\w-]{3,40}")
_REFUSED = re.compile(r"\b(?:cannot|can't|could not|couldn't|unable|not)\b", re.IGNORECASE)


def with_names(found: Iterable[Candidate], done: Iterable[Call], events: Iterable[Event]) -> Iterator[Candidate]:
    """Yield candidates; an agent's outcome ends with the one thing that was changed between it and the turn before.

    done: all calls of these events, in order.
    """
    changes = [call for call in done if call.changes_state and not call.error]
    spoken = [event.seq for event in events if event.is_spoken]
    for one in found:
        yield _named(one, changes, spoken) if changes and {"outcome", "agent"} <= set(one.signals) else one


def _named(one: Candidate, changes: Iterable[Call], spoken: Iterable[int]) -> Candidate:
    at = one.sources[-1]
    before = max((seq for seq in spoken if seq < at), default=0)
    things = {_thing(call) for call in changes if before < call.seqs[-1] < at}
    thing = things.pop() if len(things) == 1 else None
    if thing is None or _REFUSED.search(one.content) or _names(one.content, *thing):
        return one
    noun, value = thing
    told, end = (one.content[:-1], ".") if one.content.endswith(".") else (one.content, "")
    return replace(one, content=redact(f"{told} ({noun} {value}){end}").text)


def _thing(call: Call) -> tuple[str, str] | None:
    """Return the noun and the identifier of a call: "booking" of `move_booking(booking_id="K-771")`."""
    name = call.name.lower()
    for key, value in (*call.arguments, *pairs(call.answer)):
        match = _KEY.fullmatch(key)
        if match is not None and match["noun"].lower() in name and _VALUE.fullmatch(value) is not None:
            return match["noun"].lower(), value
    return None


def _names(content: str, noun: str, value: str) -> bool:
    """Return True if a statement names this thing or another of its kind."""
    other = rf"\b{noun}s?\b[^.]{{0,30}}?\b(?-i:(?=[A-Z0-9-]*[A-Z])[A-Z0-9-]{{5,}})\b"
    return value in content or re.search(other, content, re.IGNORECASE) is not None
