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
    """Weight of the cosine beside the words, both in standard deviations. 0.6 and 1.5 differ by less than .02. A linear
    map of the question's vector that was fitted on some sets finds no more of the others: LoCoMo any@10 .851, .841."""
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
    remembered: float = 0.3
    """What an event that ranks before its memory gains of the words and the cosine of that memory. By words, with 0,
    0.2 and 0.3: RealMem (all five persons) any@10 .500, .505, .516; LoCoMo (five conversations) .827, .827, .829."""
    turns_before: float = 0.3
    """What a document gains of the cosine of the nearer one of the two turns before, as an answer needs its question.
    With vectors, both values at 0, 0.2, 0.3 and 0.4: RealMem any@10 .535, .553, .560, .565; LoCoMo .851, .856, .856,
    .853."""
    use: float = 0.4
    """What a memory gains or loses by its use, from -0.2 to 0.3 (domain.learned_importance), counts this much as a part
    of the best score: at most 12 %. Chosen, not fitted: no data set tells what replies used."""

    def to_json(self) -> str:
        """Return the parameters in the form that slowwave.search accepts."""
        return json.dumps(asdict(self) | {"fields": f"{{{','.join(map(str, self.fields))}}}"})


RANKING = Ranking()
STEADY = replace(RANKING, recency=0.0)
"""For a query about any time: recent documents gain nothing."""

_NAMES = 1.0
"""What a name of the query counts for the evidence beyond its share of the words: a question about an unknown person
has all its other words in common with texts about others."""
_COSINE = 0.7
_UNKNOWN_COSINE = 0.38
"""What a hit without a vector counts as, so that a relevance means the same with vectors and by words."""
_BEST = 5.0
_LENGTH, _SIZE, _NAMED = 0.06, -0.01, -0.2
"""A long query has many words that no hit holds; in a large scope, some hit holds more of any query; and whoever names
somebody known finds at least the name."""
_STEEPNESS, _EVEN = 11.0, 0.586


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
        names: the share of the query's names that the hit contains, weighted by rarity; None without a name.
        evidence: what the hit holds of the query by words, names and cosine, from which its relevance follows.
        best: the highest evidence of any hit of the search, on which the relevance depends most.
    """

    words: float
    session: float
    vector: float
    interval: float
    coverage: float
    cosine: float | None
    recency: float = 0.0
    names: float | None = None
    evidence: float = 0.0
    best: float = 0.0


@dataclass(frozen=True, slots=True)
class QueryFacts:
    """What the relevance takes into account of a search.

    words: the number of the query's words; documents: of the documents of the scopes; named: the share of the query's
    names among its words, weighted by rarity.
    """

    words: int
    documents: int
    named: float


def evidence(coverage: float, cosine: float | None, names: float, named: float) -> float:
    """Return how much of a query a document holds, by its words and its vector.

    Args:
        coverage: the share of the query's words in the document, weighted by rarity.
        cosine: the cosine of the vectors of query and document; None without vectors.
        names: the part of the coverage that the query's names have; incomplete names count half.
        named: the share of all names of the query among its words.
    """
    held = (coverage + _NAMES * names) / (1 + _NAMES * named)
    return held + _COSINE * (_UNKNOWN_COSINE if cosine is None else cosine)


def relevance(own: float, best: float, query: QueryFacts) -> float:
    """Return the estimated probability that a hit relates to the query, from 0 to 1. It means the same in every scope.

    A scope knows little about a query of which no hit holds much, so the best hit decides most. Measured with queries
    that were also sent to another scope of the same set, a floor of 0.2 leaves no result for this share of them, and
    loses this part of any@10 where an answer exists:

        LoCoMo      by words .96, .006     with vectors .94, .006 (three conversations)
        MSC                  .87, .039                  .97, .017
        tau-bench            .76, .013                  .78, .009
        RealMem              .38, .011                  .47, .017 (a replay of the formula)

    The numbers were fitted on these sets. What is left of tau-bench names a route and a date of several customers; of
    RealMem, messages such as "what's next this week?", which fit anybody's plans.

    Args:
        own: the evidence of the hit.
        best: the highest evidence of any hit of the search.
        query: the query and its scopes.
    """
    found = (own + _BEST * best) / (1 + _BEST)
    named = query.named * (1 + _NAMES) / (1 + _NAMES * query.named)
    expected = _LENGTH * math.log(max(query.words, 1)) + _SIZE * math.log(max(query.documents, 1)) + _NAMED * named
    return 1 / (1 + math.exp(-_STEEPNESS * (found + expected - _EVEN)))
