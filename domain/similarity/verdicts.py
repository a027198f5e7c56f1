"""The result of a comparison of two statements, and the claims in it."""

from dataclasses import dataclass
from typing import Literal

from slowwave_server.domain.similarity.meaning import Meaning

Verdict = Literal["duplicate", "merge", "synthesise", "related", "conflict", "distinct"]
"""duplicate: the same statement; merge: the same in other words, and keeping one loses nothing; synthesise: about the
same subject, but each may add something; related: worth a link; conflict: at most one is true; distinct: two facts.
"""


@dataclass(frozen=True, slots=True)
class AttributeClaim:
    """The value of one attribute of one subject, as a statement says it.

    subject, attribute, value: normal forms ("maya", "employer", "google"; a polarity has the values "yes" and "no").
    single: True if another value of the attribute contradicts this one. The texts are the words of the statement, for a
    triple; the types are person, organisation, place, date, quantity or thing.
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
    """Minimum similarities from 0 to 1 for each verdict; duplicate: the edit similarity (Jaro) for working memory."""

    merge: float = 0.90
    synthesize: float = 0.75
    link: float = 0.70
    duplicate: float = 0.85


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on two statements. score: the similarity from 0 to 1; reasons: sentences for a person.

    attribute: for a conflict about one attribute of one subject, the claim of one of the two statements. meaning: the
    answer of the model of meaning, if the model was asked.
    """

    verdict: Verdict
    score: float
    reasons: tuple[str, ...]
    attribute: AttributeClaim | None = None
    meaning: Meaning | None = None
