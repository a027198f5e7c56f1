"""What a comparison of two statements says, and the claims that it speaks of.

Must not know: how a comparison is made.
"""

from dataclasses import dataclass
from typing import Literal

from slowwave_server.domain.similarity.meaning import Meaning

Verdict = Literal["duplicate", "merge", "synthesise", "related", "conflict", "distinct"]
"""duplicate: the same statement; merge: the same said in other words, nothing is lost by keeping one of them;
synthesise: about the same, but each may hold something of its own; related: worth a link; conflict: both can't hold;
distinct: two facts."""


@dataclass(frozen=True, slots=True)
class AttributeClaim:
    """What a statement says of one attribute of one subject.

    subject, attribute, value: normal forms ("maya", "employer", "google"; a polarity has the values "yes" and "no").
    single: whether another value of the attribute contradicts this one. The texts are the words of the statement, for
    a triple; the types are person, organisation, place, date, quantity or thing.
    """

    subject: str
    attribute: str
    value: str
    single: bool
    subject_text: str
    predicate: str
    object_text: str
    subject_type: str
    object_type: str


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Similarities, 0 … 1, from which a verdict holds; duplicate is the edit similarity (Jaro) of working memory."""

    merge: float = 0.90
    synthesize: float = 0.75
    link: float = 0.70
    duplicate: float = 0.85


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on two statements; score: similarity, 0 … 1; reasons: in words that a person understands.

    attribute: of a conflict about one attribute of one subject, the claim of one of the two statements.
    meaning: the answer of the model of meaning, if it was asked.
    """

    verdict: Verdict
    score: float
    reasons: tuple[str, ...]
    attribute: AttributeClaim | None = None
    meaning: Meaning | None = None
