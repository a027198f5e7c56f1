"""Similarity of statements. Each statement is parsed once, then pairs are compared: first by the guard, then by a
score.
"""

from slowwave_server.domain.similarity.changing import changes, tells_change
from slowwave_server.domain.similarity.claims import excludes, is_occupation
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
    "changes",
    "excludes",
    "is_occupation",
    "judge",
    "read",
    "tells_change",
]
