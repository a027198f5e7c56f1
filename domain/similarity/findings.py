"""The kinds of differences in meaning between two statements."""

from dataclasses import dataclass
from typing import Literal

from slowwave_server.domain.similarity.verdicts import AttributeClaim


@dataclass(frozen=True, slots=True)
class Finding:
    """A difference. conflict: at most one of the two is true; distinct: they are about different things or occasions;
    subjects: distinct, because the grammatical subjects have different names; apart: they say different things about
    the same subject; differs: one contains something that the other lacks.
    """

    kind: Literal["conflict", "distinct", "subjects", "apart", "differs"]
    reason: str
    claim: AttributeClaim | None = None
