"""Select tool memories: results of calls that changed state, and lessons from a failed call and its correction."""

from collections.abc import Iterable, Iterator, Sequence

from slowwave.memory_types import MemoryType
from slowwave_server.domain.candidates import Candidate
from slowwave_server.domain.events import Event
from slowwave_server.domain.extraction.entities import entities
from slowwave_server.domain.extraction.tools import Call, difference, lessons
from slowwave_server.domain.extraction.weights import confidence, importance
from slowwave_server.domain.redaction import redact


def candidates(done: Sequence[Call], events: Iterable[Event], inside: frozenset[int]) -> Iterator[Candidate]:
    """Yield results and lessons of the calls that were answered in the window.

    Args:
        done: all calls of these events, in order.
        events: the events of the window and those before it.
        inside: the seq numbers of the window's events.
    """
    happened = {event.seq: event for event in events}
    for call in done:
        if call.seqs[-1] in inside and call.changes_state and call.is_identified and call.error is None:
            yield _candidate(call.told(), "result", ("tool_result",), call.seqs, happened, inside)
    for failed, worked in lessons(done):
        if worked.seqs[-1] in inside:
            yield _lesson(failed, worked, happened, inside)


def _lesson(failed: Call, worked: Call, happened: dict[int, Event], inside: frozenset[int]) -> Candidate:
    otherwise = difference(failed, worked)
    told = f"{worked.name} failed ({failed.error}); it worked with {otherwise or 'other arguments'}."
    return _candidate(told, "lesson", ("tool_lesson",), (*failed.seqs, *worked.seqs), happened, inside)


def _candidate(
    told: str,
    kind: MemoryType,
    fired: tuple[str, ...],
    seqs: tuple[int, ...],
    happened: dict[int, Event],
    inside: frozenset[int],
) -> Candidate:
    content = redact(told).text
    return Candidate(
        content=content,
        type=kind,
        importance=importance(fired),
        confidence=confidence(fired),
        valid_from=happened[seqs[-1]].happened_at,
        sources=tuple(sorted(inside.intersection(seqs))),
        entities=entities(content, ()),
        trust="task",
        signals=fired,
    )
