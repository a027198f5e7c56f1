"""The ranking: every parameter of the SQL function `slowwave.search`, in one dataclass.

Each search passes these values to the function, so a new value needs no migration. `python -m bench recall` measures
it.

A new parameter needs a default in the function, such as `coalesce(r.NAME, 0)`: clients of an older version do not send
the parameter, and without a default all their scores are NULL.
"""

import json
import math
from dataclasses import asdict, dataclass, replace


@dataclass(frozen=True, slots=True)
class Ranking:
    """The parameters of the score, each with the source of its value.

    "LoCoMo" means two of its conversations, "RealMem" two of its persons; no value was fitted to the others.
    """

    fields: tuple[float, float, float, float] = (0.4, 0.7, 1.0, 1.0)
    """Weights of a word two turns before, in the heading or the turn before (entities, for a memory), in the date, in
    the text itself. LoCoMo; on RealMem (0.2, 0.4, 1, 1) is as good."""
    saturation: float = 1.2
    """How soon a repeated word stops to count. LoCoMo."""
    length_share: float = 0.4
    """How much a long document loses, from 0 to 1. LoCoMo."""
    memory: float = 1.3
    """A memory ranks before the event that it comes from. tau-bench by words, with a session's weight of 1: any@5 .84
    with 1.1, .90 with 1.3 and 1.5; LoCoMo (three conversations): any@10 .800, .795, .788."""
    ended: float = 0.5
    """A memory that has ended, or waits for a review, ranks behind one that holds."""
    tool: float = 0.8
    """The unflushed output of a tool ranks below speech."""
    session: float = 1.0
    """Weight of the mean word score of a session. RealMem with vectors: any@10 .459 without, .475 with 1, .486 with 2,
    .484 with 4; by words 1 and 2 are alike. tau-bench, whose customers ask for much the same: any@10 .97 with 1, .92
    with 2, .88 with 3. LoCoMo: .800 with 1, .809 with 2."""
    session_events: float = 4.0
    """A shorter session counts as one of so many events, so that its mean is no better than its best event."""
    vector: float = 1.0
    """Weight of the cosine beside the words, both in standard deviations. 0.6 and 1.5 differ by less than .02."""
    least_cosine: float = 0.25
    """Any two texts can have a smaller cosine than this: it finds nothing alone."""
    least_deviation: float = 0.03
    """Cosines of a small scope may hardly differ: no standard deviation is taken for less than this."""
    interval: float = 0.2
    """What a document gains whose event time lies in the interval that the question names, as a part of the best score.
    Chosen on LoCoMo."""
    diversity: float = 0.5
    """Share of its score that the second passage of one event keeps; the third keeps the square. RealMem."""
    recency: float = 4.0
    """What the newest document gains from a query that continues a conversation (`continuing.py`), as a multiple of its
    own score. RealMem, any@10: by words (five persons) .445 with 0, .479 with 1, .486 with 2.5, .498 with 5; with
    vectors (two persons) .489 with 0, .557 with 2.5, .569 with 4, .557 with 8."""
    recency_days: float = 10.0
    """A document so many days older than the newest one gains half of that. RealMem: 7, 14 and 30 differ by .01."""
    use: float = 0.4
    """What a memory gains or loses by its use, from -0.2 to 0.3 (domain.learned_importance), counts this much as a part
    of the best score: at most 12 %. Chosen, not fitted: no data set tells what replies used."""

    def to_json(self) -> str:
        """Return the parameters in the form that slowwave.search accepts."""
        return json.dumps(asdict(self) | {"fields": f"{{{','.join(map(str, self.fields))}}}"})


RANKING = Ranking()
STEADY = replace(RANKING, recency=0.0)
"""For a query about any time: recent documents gain nothing."""

_STEEPNESS = 6.0
_EVEN = 0.9
_UNKNOWN_COSINE = 0.35
_BEST = 1.5


@dataclass(frozen=True, slots=True)
class Why:
    """The parts of a hit's score.

    Attributes:
        words: the gain from the words of the query, in standard deviations.
        session: the gain from the relevance of the hit's conversation.
        vector: the gain from the cosine of the vectors, in standard deviations; 0 without vectors.
        interval: the gain from the interval that the query names.
        coverage: the share of the query's words that the hit contains, weighted by rarity, from 0 to 1.
        cosine: the cosine of the vectors of query and hit; None without vectors.
        recency: the gain of a recent document from a query that continues a conversation.
    """

    words: float
    session: float
    vector: float
    interval: float
    coverage: float
    cosine: float | None
    recency: float = 0.0


def relevance(coverage: float, cosine: float | None, best: float | None = None) -> float:
    """Return the estimated probability that a hit relates to the query, from 0 to 1. It means the same in every scope.

    It grows with the share of the query's words in the hit, and with the cosine of their vectors. It was measured with
    vectors on two conversations of LoCoMo and two persons of RealMem. There, each query was also sent to the scope of
    the other conversation or person. A floor of 0.06 leaves no result for .55 (LoCoMo) and .07 (RealMem) of those
    foreign queries, and loses .005 and .023 of the existing answers; a floor of 0.11 leaves none for .84 and .38, and
    loses .015 and .115.

    Args:
        coverage: the share of the query's words in the hit, weighted by rarity.
        cosine: the cosine of the vectors of query and hit; None without vectors.
        best: the highest coverage of any hit, for a question that is searched by words alone: a scope where no hit
            holds much of a question knows little about it. None for a message that continues a conversation, which
            has many words that no hit holds. LoCoMo, 200 questions and as many foreign ones: a floor of 0.2 leaves no
            result for .81 of the foreign ones, and loses .03 of the answers; without `best`, .59 at that loss.
    """
    unknown = _UNKNOWN_COSINE if best is None else _BEST * best
    evidence = coverage + (unknown if cosine is None else cosine)
    return 1 / (1 + math.exp(-_STEEPNESS * (evidence - _EVEN)))
