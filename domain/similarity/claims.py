"""What a statement says of one attribute of one subject, by the common frames of sentences that are remembered.

Must not know: any second statement.
"""

import re
from collections.abc import Iterable

from domain.similarity.frames import FRAMES, Frame
from domain.similarity.lexicon import stem
from domain.similarity.stopwords import NEGATORS
from domain.similarity.tokens import Token, tokenise
from domain.similarity.verdicts import Claim

MAX_CLAIMS = 8
MAX_CLAUSE = 300
"""Longer clauses are tables or prose, which no frame fits."""

_CLAUSES = re.compile(r"(?<=[^.\s]{2})[.;!?]\s+|\n")
_FIRST_PERSON = (
    (re.compile(r"\bI'm\b"), "the user is"),
    (re.compile(r"\bI've\b"), "the user has"),
    (re.compile(r"\bI\b(?!\w)"), "the user"),
    (re.compile(r"\b[Mm]y\b"), "the user's"),
    (re.compile(r"\bthe user am\b"), "the user is"),
)
_NEGATED = re.compile(
    r"\b(?:" + "|".join(sorted(NEGATORS)) + r"|\w+n't|used to|stopped|quit|gave up|former|formerly|previously)\b",
    re.IGNORECASE,
)
_TYPES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("date", re.compile(r"(?i)\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:19|20)\d\d|jan|feb|mar|apr|may \d|jun|jul|aug|sep|oct|nov|dec|\d+:\d\d|tomorrow)")),
    ("quantity", re.compile(r"[$€£¥]?\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|twenty)\b")),
)  # fmt: skip


def claims_of(text: str) -> tuple[Claim, ...]:
    """The claims of `text`, in its order, each once."""
    found: dict[tuple[str, str, str], Claim] = {}
    for clause in _CLAUSES.split(text):
        plain = clause.strip().rstrip(".!?;")
        if 0 < len(plain) <= MAX_CLAUSE:
            for pattern, person in _FIRST_PERSON:
                plain = pattern.sub(person, plain)
            for claim in _of_clause(plain):
                found.setdefault((claim.subject, claim.attribute, claim.value), claim)
    return tuple(found.values())[:MAX_CLAIMS]


def normal(text: str) -> str:
    """The stems of what carries content in `text`, in its order."""
    return " ".join(spelling(token) for token in tokenise(text) if token.carries_content)


def spelling(token: Token) -> str:
    """What stands for a token where texts are compared: the stem of a word, the value of a number."""
    return stem(token.lemma) if token.kind in {"word", "name"} else token.lemma


def _of_clause(clause: str) -> Iterable[Claim]:
    for frame in FRAMES:
        found = frame.pattern.match(clause)
        if found is None:
            continue
        claim = _claim(frame, found, negated=_NEGATED.search(clause) is not None)
        if claim is not None:
            yield claim
            if frame.final:
                return


def _claim(frame: Frame, found: re.Match[str], *, negated: bool) -> Claim | None:
    parts = found.groupdict()
    subject, topic = normal(parts["s"]), normal(parts.get("n") or "")
    value = normal(parts.get("v") or "")
    if not subject or not (value or topic):
        return None
    attribute = frame.attribute.format(n=topic, v=value)
    if frame.polar:
        value = "no" if negated != frame.hostile else "yes"
    elif negated:
        value = f"not {value}"
    words = (parts.get("v") or parts.get("n") or "").strip()
    return Claim(
        subject,
        attribute,
        value,
        frame.single,
        re.sub(r"(?i)^(?:the|a|an) ", "", parts["s"]) if subject != "user" else "user",
        frame.predicate.format(n=(parts.get("n") or "").strip(), v=words),
        words,
        "person" if subject == "user" or parts["s"][:1].isupper() else "thing",
        frame.object_type or _type(words),
    )


def _type(words: str) -> str:
    return next((name for name, pattern in _TYPES if pattern.search(words)), "thing")
