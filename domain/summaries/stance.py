"""Whether a person's turn agrees to what an agent proposed or delivered, or declines it, and in which words.

Must not know: what was proposed.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from slowwave_server.domain.extraction.acts import acts_of
from slowwave_server.domain.extraction.decisions import accepts
from slowwave_server.domain.extraction.standalone import content_words

MUCH = 14
"""Content words beyond which a sentence says no more to a reader."""
_LOOKED_AT = 5
"""Sentences of a turn in which its stance stands."""

_AGREES = re.compile(
    r"\b(?:(?:sounds?|looks?) (?:\w+ ){0,2}(?:good|great|perfect|right|solid|amazing|like a (?:\w+ )?plan)|"
    r"works (?:for me|"
    r"perfectly|great)|on board (?:with)?|(?:exactly|just|precisely) what (?:i|we)|covers everything|i(?:'m|"
    r" am) (?:so |very |"
    r"really )?happy with|no (?:need to tweak|(?:more )?(?:adjustments?|changes|tweaks) (?:are )?(?:needed|"
    r"necessary)))\b",
    re.IGNORECASE,
)
_NOT_DECLINED = re.compile(
    r"^no (?:long|need|adjust\w*|tweak\w*|changes?|time|more|further|questions?|wast\w*|stress|issues?|rush|other|"
    r"additional)\b|\bnot (?:too|that|so) \w+",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Stance:
    """What a turn says to what came before it. quote: the sentence that says so."""

    verb: Literal["agreed", "declined"]
    quote: str


def stance_of(parts: Sequence[str]) -> Stance | None:
    """The stance of a turn by its sentences; None if it takes none."""
    fair = [part for part in parts[:_LOOKED_AT] if not _NOT_DECLINED.search(part)]
    acts = acts_of(fair, by_agent=False)
    agreeing = [part for part, act in zip(fair, acts, strict=True) if act == "accept" or _AGREES.search(part)]
    declining = [part for part, act in zip(fair, acts, strict=True) if act == "reject"]
    if agreeing and (accepts(list(fair)) or (not declining and "correct" not in acts)):
        plain = [part for part in agreeing if not part.endswith("?")]
        return Stance("agreed", max(plain, key=weight_of_words)) if plain else None
    return Stance("declined", declining[0]) if declining and declining[0] == fair[0] else None


def weight_of_words(sentence: str) -> int:
    """How much a sentence says: its content words, up to `MUCH`."""
    return min(len(set(content_words(sentence))), MUCH)
