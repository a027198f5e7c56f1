"""What a statement says of one attribute of one subject, by the common frames of sentences that are remembered.

Must not know: any second statement.
"""

import re
from collections.abc import Iterable

from domain.similarity.frames import FRAMES, Frame
from domain.similarity.stopwords import NEGATORS
from domain.similarity.tokens import tokenise
from domain.similarity.verdicts import Claim

MAX_CLAIMS = 8
MAX_CLAUSE = 300
"""Longer clauses are tables or prose, which no frame fits."""

_CLAUSES = re.compile(r"(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bMrs)(?<!\bSt)(?<!\bProf)(?<=[^.\s]{2})[.;!?]\s+|\n")
_UNCERTAIN = re.compile(r"(?i)(?:an?|some|there|several|many|few|no|any|each|every|someone|nobody|if|when|maybe) ")
"""How a clause opens that speaks of nobody certain."""
_MORE = re.compile(r"(?i),? (?:with|since|because|while|although|though|which|who|so that|in order to)\b|, ")
_NEGATED = re.compile(r"\b(?:" + "|".join(sorted(NEGATORS)) + r"|former|formerly|previously)\b", re.IGNORECASE)
_TYPES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("date", re.compile(r"(?i)\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:19|20)\d\d|jan|feb|mar|apr|may \d|jun|jul|aug|sep|oct|nov|dec|\d+:\d\d|tomorrow)")),
    ("quantity", re.compile(r"[$€£¥]?\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|twenty)\b")),
)  # fmt: skip


def claims_of(text: str) -> tuple[tuple[Claim, ...], bool]:
    """The claims of `text`, in its order, each once, and whether they are all that it says."""
    found: dict[tuple[str, str, str], Claim] = {}
    clauses = [clause.strip().rstrip(".!?; ") for clause in _CLAUSES.split(text)]
    whole = sum(map(bool, clauses)) == 1
    for clause in clauses:
        if not clause or len(clause) > MAX_CLAUSE or _UNCERTAIN.match(clause):
            continue
        core = _MORE.split(clause, maxsplit=1)[0]
        whole = whole and core == clause
        for claim in _of_clause(core):
            found.setdefault((claim.subject, claim.attribute, claim.value), claim)
    return tuple(found.values())[:MAX_CLAIMS], whole and bool(found)


def excludes(one: Claim, other: Claim) -> bool:
    """Whether two claims give one attribute of one subject values that can't both hold.

    A value that only says more than the other ("Berlin", "Berlin, Germany") excludes nothing.
    """
    if not one.single or one.attribute != other.attribute or one.value == other.value:
        return False
    if one.subject != other.subject and not _same_name(one.subject.split(), other.subject.split()):
        return False
    mine, its = set(one.value.split()), set(other.value.split())
    return not (mine <= its or its <= mine)


def _same_name(one: list[str], other: list[str]) -> bool:
    """Whether one is the other with a family name behind it."""
    return one[: len(other)] == other or other[: len(one)] == one if min(len(one), len(other)) == 1 else False


def normal(text: str) -> str:
    """The stems of what carries content in `text`, in its order."""
    return " ".join(token.stem for token in tokenise(text) if token.carries_content)


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
        attribute, value = f"{attribute}:{value}", "no"
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
