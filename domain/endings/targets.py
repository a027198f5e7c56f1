"""Find the memories that a statement ends. In doubt the result is empty, because a wrong end loses knowledge.

ending          ended memory
called off      the decision, task or instruction that names the thing
lifted          the instruction with these words
corrected       the memory with the old value, on the same matter or from the previous turn
instruction     the older instruction on the same matter
an outcome      the open work that it settles
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from slowwave_server.domain.consolidation.known import TRUSTS, MemoryRevision
from slowwave_server.domain.endings import tongues
from slowwave_server.domain.endings.instructions import prohibits, replaces
from slowwave_server.domain.endings.recognise import Ending
from slowwave_server.domain.endings.wording import ending_of, instruction_of, is_quoted, speaker_of
from slowwave_server.domain.endings.words import distinctive, stems
from slowwave_server.domain.endings.work import may_settle, settles, work_of
from slowwave_server.domain.similarity import read

OUTCOMES = frozenset({"result", "lesson", "event", "fact", "decision"})
"""Types of statements that may report the outcome of open work."""
CALLED_OFF = frozenset({"decision", "task", "instruction", "result"})
"""Types of memories that can be called off."""
CORRECTED = frozenset({"decision", "task", "fact", "event", "result", "preference"})
"""Types of memories that can be corrected."""
_CHOSEN = frozenset({"decision", "task"})
_LEAST_SHARE = 0.2
"""Minimum share of a memory's words that a thing with a single distinctive word must make up."""
_TITLED = re.compile(r'^[^"\n]{1,90} (?:agreed on|delivered) "(?P<title>[^"\n]{3,120})"')
_ENTIRE = re.compile(
    r"^(?:a |an |the |on |at |in |to |by |for |from |seat |room |gate |platform |version |number |no\. |['\"])+",
    re.IGNORECASE,
)
_WEAK = re.compile(
    r"^(?:\d+|[$€£]?\d[\d.,:]*\W*\w*|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|june|"
    r"july|august|september|october|november|december|today|tomorrow|tonight|noon|midnight|morning|evening)$",
    re.IGNORECASE,
)
_FOR_WEAK = 2
"""Context words that a correction of a plain number or a day must share with a memory; for a name, one is enough."""


@dataclass(frozen=True, slots=True)
class Sourced:
    """A memory with its source events (session, seq)."""

    memory: MemoryRevision
    events: frozenset[tuple[int, int]] = frozenset()


@dataclass(frozen=True, slots=True)
class End:
    """A memory that a newer one ends. reason: without words of either memory, which a forget would have to find."""

    older: MemoryRevision
    reason: str


_Match = tuple[Sourced, frozenset[str], int]
"""A candidate memory, the words of its subject, and its match score."""


def may_end(content: str, kind: str) -> bool:
    """Return True if a memory may end others: a cheap check with false positives."""
    if kind == "instruction" or ending_of(content) is not None:
        return True
    return kind in OUTCOMES and may_settle(content)


def may_be_ended(content: str, kind: str) -> bool:
    """Return True if another memory can end a memory of this type."""
    return kind in CORRECTED | CALLED_OFF and ending_of(content) is None


def ends(newer: Sourced, pool: Iterable[Sourced]) -> list[End]:
    """Return the ends that `newer` causes among earlier memories. A less trusted witness can only settle work."""
    memory = newer.memory
    older = [one for one in pool if _can_end(memory, one.memory)]
    ending = ending_of(memory.content)
    if ending is not None:
        return _ENDS[ending.act](newer, ending, older)
    if memory.type == "instruction":
        return _replaced(memory, older)
    return _settled(memory, older) if memory.type in OUTCOMES else []


def _can_end(newer: MemoryRevision, older: MemoryRevision) -> bool:
    return (
        newer.id != older.id
        and older.live
        and ending_of(older.content) is None
        and older.reaffirmed_at <= newer.reaffirmed_at
        # A tool may report the outcome of a person's work. A less trusted witness can't end a statement.
        and (older.type == "task" or TRUSTS.index(newer.trust) <= TRUSTS.index(older.trust))
    )


def _called_off(newer: Sourced, ending: Ending, older: Sequence[Sourced]) -> list[End]:
    words = distinctive(ending.what)
    every = stems(ending.what)

    def match(one: Sourced) -> _Match | None:
        memory = one.memory
        if memory.type not in CALLED_OFF or (memory.type == "result" and not _TITLED.match(memory.content)):
            return None
        about = _about(memory)
        if not words <= about or (memory.type != "instruction" and read(memory.content).polarity.denied):
            return None
        share = len(words) / len(about)
        if share < _LEAST_SHARE and len(words) == 1:
            return None
        return one, about, len(every & stems(memory.content)) + _exactly(words, about)

    return _meant(newer, older, match, "called off")


def _lifted(newer: Sourced, ending: Ending, older: Sequence[Sourced]) -> list[End]:
    words = tongues.words(ending.what) if ending.foreign else distinctive(ending.what)
    every = not words
    words = words or stems(ending.what)
    who = speaker_of(newer.memory.content)

    def match(one: Sourced) -> _Match | None:
        body = instruction_of(one.memory.content)
        if one.memory.type != "instruction" or body is None or speaker_of(one.memory.content) != who:
            return None
        quoted = is_quoted(one.memory.content)
        denies = tongues.prohibits(body) if quoted else prohibits(body)
        if ending.direction != "either" and denies != (ending.direction == "prohibition"):
            return None
        about = stems(body) if every else distinctive(body)
        if quoted or ending.foreign:
            # A multilingual person may lift an instruction in another language; names and loanwords are then equal.
            exact = words in (about, tongues.words(body))
            about = words if exact else about | tongues.words(body)
        return (one, about, _exactly(words, about)) if words <= about else None

    return _meant(newer, older, match, "the instruction was lifted")


def _corrected(newer: Sourced, ending: Ending, older: Sequence[Sourced]) -> list[End]:
    old, new = (_ENTIRE.sub("", value) for value in (ending.what, ending.instead))
    context = distinctive(ending.context)
    holds_old, holds_new = map(_holding, (old, new))
    weak = _WEAK.match(old) is not None

    def match(one: Sourced) -> _Match | None:
        content = one.memory.content
        if one.memory.type not in CORRECTED or not holds_old.search(content) or holds_new.search(content):
            return None
        about = _about(one.memory)
        shared = len(context & about)
        near = not newer.events.isdisjoint(one.events)
        chosen = ending.chooses and one.memory.type in _CHOSEN and not weak
        if not near and not chosen and shared < (_FOR_WEAK if weak else 1):
            return None
        return one, about, shared + int(chosen)

    return _meant(newer, older, match, "its value was corrected")


def _holding(value: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-]){re.escape(value)}(?![\w-])", re.IGNORECASE)


def _replaced(newer: MemoryRevision, older: Sequence[Sourced]) -> list[End]:
    said, who = instruction_of(newer.content), speaker_of(newer.content)
    if said is None:
        return []
    found = []
    for one in older:
        body = instruction_of(one.memory.content) if one.memory.type == "instruction" else None
        if body is None or speaker_of(one.memory.content) != who or one.memory.reaffirmed_at == newer.reaffirmed_at:
            continue
        foreign = is_quoted(newer.content) or is_quoted(one.memory.content)
        why = tongues.replaces(said, body) if foreign else replaces(said, body)
        if why is not None:
            found.append(End(one.memory, why))
    return found


def _settled(newer: MemoryRevision, older: Sequence[Sourced]) -> list[End]:
    """Return the work that an outcome settles, if all matches have the same words; otherwise none."""
    found = [
        (one.memory, work.object)
        for one in older
        if one.memory.type == "task"
        and one.memory.reaffirmed_at < newer.reaffirmed_at
        and (work := work_of(one.memory.content)) is not None
        and settles(newer.content, work)
    ]
    most = max((len(about) for _, about in found), default=0)
    largest = {about for _, about in found if len(about) == most}
    if len(largest) != 1:
        return []
    return [End(memory, "its outcome was said") for memory, about in found if about in largest]


def _meant(
    newer: Sourced, older: Sequence[Sourced], match: Callable[[Sourced], _Match | None], reason: str
) -> list[End]:
    """Return the best match, preferably from the previous turn. If several subjects match equally well, return none."""
    found = [fit for one in older if (fit := match(one)) is not None]
    near = [fit for fit in found if not newer.events.isdisjoint(fit[0].events)]
    found = near or found
    best = max((fit[2] for fit in found), default=0)
    top = [fit for fit in found if fit[2] == best]
    if len({about for _, about, _ in top}) != 1:
        return []
    return [End(one.memory, reason) for one, _, _ in top]


def _exactly(words: frozenset[str], about: frozenset[str]) -> int:
    """Return a bonus for a memory whose subject is exactly these words."""
    return int(words == about)


def _about(memory: MemoryRevision) -> frozenset[str]:
    """Return the words of a memory's subject: an outline's title, an instruction's body, else its content."""
    titled = _TITLED.match(memory.content)
    said = titled["title"] if titled is not None else instruction_of(memory.content) or memory.content
    return distinctive(said)


_ENDS: dict[str, Callable[[Sourced, Ending, Sequence[Sourced]], list[End]]] = {
    "called_off": _called_off,
    "lifted": _lifted,
    "corrected": _corrected,
}
