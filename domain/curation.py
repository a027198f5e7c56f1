"""Select the notes of days that a curation activates, and sort them."""

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from uuid import UUID

LEAST_WORTH = 0.05
"""A note below this worth gets no line: an aside of an agent's working memory, a doubtful remark."""


@dataclass(frozen=True, slots=True)
class Note:
    """A memory at one revision that is not curated yet. confidence, importance: numbers from 0 to 1.

    witnesses: the number of independent conversations, notes or files that say it.
    """

    id: UUID
    revision: int
    status: str
    confidence: float
    importance: float
    witnesses: int


def independence(witnesses: int) -> float:
    """Return the factor for the number of witnesses: 0 for none, 0.5 for one, 0.75 for two; it never reaches 1."""
    return 1 - 0.5 ** max(witnesses, 0)


def worth(note: Note) -> float:
    """Return a note's score from 0 to 1: high for an important note that is likely true and has several witnesses."""
    return note.importance * note.confidence * independence(note.witnesses)


def by_worth(notes: Iterable[Note]) -> Iterator[Note]:
    """Yield the notes that are good enough for a line, best first, equal ones by id.

    notes: sorted by importance times confidence, descending. The function is lazy: it reads the next note only if a
    later note could still precede the next result.
    """
    waiting: list[tuple[float, UUID, Note]] = []
    for note in notes:
        bound = note.importance * note.confidence
        # A note's score is at most its bound, and bounds fall: a note with a higher score precedes all later notes.
        while waiting and -waiting[0][0] > bound:
            yield heapq.heappop(waiting)[2]
        if worth(note) >= LEAST_WORTH:
            heapq.heappush(waiting, (-worth(note), note.id, note))
    while waiting:
        yield heapq.heappop(waiting)[2]
