"""Detect whether a person's turn agrees to or declines an agent's proposal or delivery, and in which words."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from slowwave_server.domain.extraction.acts import Act, acts_of
from slowwave_server.domain.extraction.decisions import accepts
from slowwave_server.domain.extraction.standalone import content_words

MUCH = 14
"""Maximum content words that count; further words add no information for a reader."""
_LOOKED_AT = 5
_LAST = 2
"""A stance is in the first `_LOOKED_AT` or the last `_LAST` sentences of a turn."""

_AGREES = re.compile(
    r"\b(?:(?:sounds?|looks?) (?:\w+ ){0,2}(?:good|great|perfect|right|solid|amazing|like a (?:\w+ )?plan)|"
    r"works (?:for me|"
    r"perfectly|great)|on board (?:with)?|(?:exactly|just|precisely) what (?:i|we)|covers everything|i(?:'m|"
    r" am) (?:so |very |"
    r"really )?happy with|no (?:need to tweak|(?:more )?(?:adjustments?|changes|tweaks) (?:are )?(?:needed|"
    r"necessary)))\b",
    re.IGNORECASE,
)
_CHOOSES = re.compile(
    r"\blet'?s (?:plan|do|go|start|stick|keep|take|book|use|confirm|proceed|make)\b|\bmakes? the most sense\b|"
    r"\boption \w+ "
    r"(?:is|makes|sounds|works|looks)\b|\bi(?:'ll| will) (?:go with|take|choose)\b",
    re.IGNORECASE,
)
_YES = re.compile(
    r"^(?:(?:oh|well|hmm|okay|ok|great|perfect|thanks|thank you|understood|alright|in that case)[\s,.!]+)*(?:yes|"
    r"yeah|yep|yup|"
    r"sure|correct|confirmed|absolutely|definitely|please (?:do|go ahead|proceed))\b(?!,? (?:but|not))",
    re.IGNORECASE,
)
_SLOGAN = re.compile(
    r"\blet'?s (?:\w+ )?(?:make|get|do|go|have|keep|move)\b(?: (?:this|that|it|things?|us|some|the \w+))?"
    r"(?: \w+){0,2}!+$|\blet'?s (?:make|get) (?:this|that|it|things?)(?: \w+){1,2}[.!]?$|"
    r"\blet'?s (?:go|do (?:it|this|that)|get (?:started|going|to it)|begin|start|move on|proceed|continue)[.!]*$",
    re.IGNORECASE,
)
"""Words that set the mood and choose nothing."""
_RESERVED = re.compile(
    r"\b(?:\w+n't|not|never|hardly) (?:\w+ ){0,2}(?:sound|look|feel|work|right|good|great|perfect)|,? but\b|"
    r"\bgood (?:question|point)\b|\bonly if\b|\bunless\b|\bnot sure\b",
    re.IGNORECASE,
)
"""Words that make a yes conditional."""
_REQUEST = re.compile(r"\b(?:cancel|drop|skip|forget|ignore|discard|scrap) (?:it|that|this)\b", re.IGNORECASE)
"""Commands ("cancel it") that decline nothing, unless a no precedes them."""
_NO = re.compile(r"^(?:(?:oh|well|hmm|ok|okay)[\s,.!]+)*(?:no|nope|not)\b", re.IGNORECASE)
_FINALLY = re.compile(r"^finally\b", re.IGNORECASE)
"""Relief ("Finally!"), or the last of several points."""
_DECLINES = re.compile(
    r"\bno,? thank|\b(?:don't|do not|won't|wouldn't|rather not|prefer not) \w+|\bneither\b|\btoo (?:much|many|"
    r"expensive|long|late|"
    r"complicated)\b|\bunacceptable\b|\bnot what i\b|\b(?:doesn't|does not|won't|will not) work\b",
    re.IGNORECASE,
)
"""Negative answers that decline a proposal."""
_NOT_DECLINED = re.compile(
    r"^(?:oh,? )?no,? (?:this|that|it|the \w+)\b.*\b(?:good|great|fine|perfect|all|everything|concludes|enough)\b|"
    r"^no (?:long|need|adjust\w*|tweak\w*|changes?|time|more|further|questions?|wast\w*|stress|issues?|rush|other|"
    r"additional)\b|\bnot (?:too|that|so) \w+",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Stance:
    """A turn's reaction to the previous turn. quote: the sentence that expresses it."""

    verb: Literal["agreed", "declined", "answered"]
    quote: str


def stance_of(parts: Sequence[str]) -> Stance | None:
    """Return the stance in a turn's sentences; None if they take no stance."""
    ends = [*parts[:_LOOKED_AT], *parts[_LOOKED_AT:][-_LAST:]]
    heard = [part for part in ends if not _FINALLY.search(part)]
    told = zip(heard, _acts(heard), strict=True)
    agreeing = [part for part, act in told if (act == "accept" or _agrees(part)) and not _RESERVED.search(part)]
    if all(is_slogan(part) for part in agreeing):
        agreeing = []
    fair = [part for part in heard if not _NOT_DECLINED.search(part) and not _YES.search(part)]
    acts = _acts(fair)
    declining = [part for part, act in zip(fair, acts, strict=True) if act == "reject" and not _only_asks(part)]
    if agreeing and (accepts(fair) or (not declining and "correct" not in acts)):
        plain = [part for part in agreeing if not part.endswith("?")]
        chosen = [part for part in plain if _CHOOSES.search(part) and not is_slogan(part)] or plain
        return Stance("agreed", max(chosen, key=weight_of_words)) if chosen else None
    if not declining or declining[0] != heard[0]:
        return None
    return Stance("declined" if _DECLINES.search(declining[0]) else "answered", declining[0])


def is_slogan(sentence: str) -> bool:
    """Return True if a sentence only cheers ("Let's make this happen!") and names no choice."""
    return _SLOGAN.search(sentence) is not None


def chooses(sentence: str) -> bool:
    """Return True if a sentence names its choice."""
    return _CHOOSES.search(sentence) is not None and not is_slogan(sentence)


def _acts(parts: Sequence[str]) -> list[Act]:
    return acts_of(parts, by_agent=False)


def _only_asks(part: str) -> bool:
    return _REQUEST.search(part) is not None and _NO.search(part) is None


def _agrees(part: str) -> bool:
    return any(pattern.search(part) is not None for pattern in (_YES, _AGREES, _CHOOSES))


def weight_of_words(sentence: str) -> int:
    """Count the content words of a sentence, up to `MUCH`."""
    return min(len(set(content_words(sentence))), MUCH)
