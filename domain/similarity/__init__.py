"""Similarity of statements: each statement is read once, then pairs are judged. The guard comes first, the score
second.
"""

from slowwave_server.domain.similarity.claims import is_occupation
from slowwave_server.domain.similarity.judge import judge
from slowwave_server.domain.similarity.meaning import Meaning, MeaningOf
from slowwave_server.domain.similarity.reading import Reading, read
from slowwave_server.domain.similarity.verdicts import AttributeClaim, Judgement, Thresholds, Verdict

__all__ = [
    "AttributeClaim",
    "Judgement",
    "Meaning",
    "MeaningOf",
    "Reading",
    "Thresholds",
    "Verdict",
    "is_occupation",
    "judge",
    "read",
]
