"""A difference of meaning between two statements.

Must not know: how it was found, and what follows from it.
"""

from dataclasses import dataclass
from typing import Literal

from slowwave_server.domain.similarity.verdicts import AttributeClaim


@dataclass(frozen=True, slots=True)
class Finding:
    """A difference. conflict: both can't hold; distinct: of different things or occasions; apart: they say different
    things of the same; differs: one says something that the other leaves out.
    """

    kind: Literal["conflict", "distinct", "apart", "differs"]
    reason: str
    claim: AttributeClaim | None = None
