"""Which notes of days are worth a line in the curated memory, and in which order.

Must not know: where notes are stored, how many are taken, whether something says the same already.
"""

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from uuid import UUID

LEAST_WORTH = 0.05
"""A note that is worth less is no line: an aside of an agent's working memory, a doubtful remark."""


@dataclass(frozen=True, slots=True)
class Note:
    """A memory that is not curated yet, at one revision. confidence, importance: 0..1.

    witnesses: how many conversations, notes or files say it, each independent of the others.
    """

    id: UUID
    revision: int
    status: str
    confidence: float
    importance: float
    witnesses: int


def independence(witnesses: int) -> float:
    """What so many witnesses make of a statement: 0.5 for one, 0.75 for two, never quite 1; 0 for none."""
    return 1 - 0.5 ** max(witnesses, 0)


def worth(note: Note) -> float:
    """How much a note deserves a line, 0..1: it matters, it is likely true, and it does not hang on one witness."""
    return note.importance * note.confidence * independence(note.witnesses)


def by_worth(notes: Iterable[Note]) -> Iterator[Note]:
    """The notes that are worth a line, the worthiest first, equals by id. They must come with importance times
    confidence falling.

    Lazy: no note is asked for once nothing behind it could come before what is answered next.
    """
    waiting: list[tuple[float, UUID, Note]] = []
    for note in notes:
        bound = note.importance * note.confidence
        # No note is worth more than its bound, and bounds fall: what is worth more than this is before all to come.
        while waiting and -waiting[0][0] > bound:
            yield heapq.heappop(waiting)[2]
        if worth(note) >= LEAST_WORTH:
            heapq.heappush(waiting, (-worth(note), note.id, note))
    while waiting:
        yield heapq.heappop(waiting)[2]
