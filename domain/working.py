"""Decide about notes in working memory: which repeat a known memory, which are kept, and which links they get.

A note is dropped only if its spelling is almost equal (Jaro) *and* the guard finds that both say the same: "prefers
dark mode" and "prefers light mode" have almost the same spelling, and are two statements.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from rapidfuzz.distance import Jaro

from slowwave_server.domain.consolidation.known import MemoryRevision
from slowwave_server.domain.similarity import Judgement, Reading, Thresholds, judge, read
from slowwave_server.domain.statements import normal_form

NOTE_CONFIDENCE = 0.6
"""Confidence of one note as evidence: an agent's word counts less than a user's. A second session raises it to 0.72."""
NOTE_TRUST = "assistant"
MAX_LINKS = 5
MAX_COMPARED = 2_000
"""Characters. A longer note is compared for equality alone: its similarity says little, and costs much."""
MAX_LOOKED_AT = 24
"""The number of neighbours to compare with a note, those with the most shared keys first."""

_SAME = frozenset({"duplicate", "merge"})


@dataclass(frozen=True, slots=True)
class Note:
    """An item of working memory that is due. content: the agent's text; importance: a number from 0 to 1."""

    id: UUID
    agent_id: int
    session: str | None
    type: str
    content: str
    importance: float
    marked: bool
    said_at: datetime


@dataclass(frozen=True, slots=True)
class Other:
    """A text to compare with a note: a memory, or (is_note) a kept note of the same cycle.

    current: True if answers may use it, and no other memory supersedes it.
    """

    id: UUID
    is_note: bool
    type: str
    content: str
    reading: Reading
    said_at: datetime
    current: bool = True


@dataclass(frozen=True, slots=True)
class Link:
    """A related memory or note, with its similarity."""

    to: Other
    score: float


@dataclass(frozen=True, slots=True)
class Sifted:
    """A note with its decision. repeats: the memory or note that says the same, or None; why: the reason in words."""

    note: Note
    repeats: Other | None
    links: tuple[Link, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Sieve:
    """The thresholds. duplicate: the Jaro similarity from which the guard is asked; link: the least score of a link."""

    duplicate: float
    link: float
    thresholds: Thresholds

    def sift(
        self,
        notes: Sequence[tuple[Note, Reading]],
        neighbours: Sequence[Sequence[Other]],
        keys_of: Callable[[Reading], Sequence[int]],
    ) -> list[Sifted]:
        """Decide about notes in order. neighbours: the memories near each note.

        Notes of one cycle find each other by `keys_of`, as if they were memories already.
        """
        kept: list[Other] = []
        by_key: dict[int, list[int]] = {}
        sifted = []
        for (note, reading), near in zip(notes, neighbours, strict=True):
            keys = keys_of(reading)
            shared = Counter(place for key in keys for place in by_key.get(key, ()))
            others = [kept[place] for place, _ in shared.most_common(MAX_LOOKED_AT)]
            others += near[:MAX_LOOKED_AT]
            decided = self._one(note, reading, others)
            sifted.append(decided)
            if decided.repeats is None:
                for key in keys:
                    by_key.setdefault(key, []).append(len(kept))
                kept.append(Other(note.id, True, note.type, note.content, reading, note.said_at))
        return sifted

    def _one(self, note: Note, reading: Reading, others: Sequence[Other]) -> Sifted:
        judged = [(other, self._judge(note, reading, other)) for other in others] if _short(note.content) else []
        text = normal_form(note.content)
        alike: list[tuple[float, Other]] = []
        for other, judgement in judged:
            jaro = Jaro.similarity(text, normal_form(other.content))
            if jaro > self.duplicate and judgement.verdict in _SAME:
                alike.append((jaro, other))
        if alike:
            jaro, best = max(alike, key=lambda pair: (pair[0], not pair[1].is_note))
            return Sifted(note, best, (), f"noted again in words {jaro:.2f} alike")
        links = [
            Link(other, judgement.score)
            for other, judgement in judged
            if judgement.score >= self.link and judgement.verdict != "distinct" and other.current
        ]
        links.sort(key=lambda link: (-link.score, str(link.to.id)))
        why = "marked by the agent" if note.marked else f"noted by the agent with importance {note.importance:.2f}"
        return Sifted(note, None, tuple(links[:MAX_LINKS]), why)

    def _judge(self, note: Note, reading: Reading, other: Other) -> Judgement:
        return judge(
            reading,
            other.reading,
            thresholds=self.thresholds,
            # An agent that gives no type gets "fact", so this type makes no difference.
            same_type=note.type in {"fact", other.type},
            seconds_apart=abs((note.said_at - other.said_at).total_seconds()),
        )


def memory_as_other(known: MemoryRevision) -> Other:
    """Convert a memory for comparisons."""
    current = known.live and known.valid_to is None
    return Other(known.id, False, known.type, known.content, read(known.content), known.reaffirmed_at, current)


def _short(content: str) -> bool:
    return len(content) <= MAX_COMPARED
