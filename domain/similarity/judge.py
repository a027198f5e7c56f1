"""The verdict on two statements: the guard's finding first, then the score.

Must not know: where statements are stored.
"""

from rapidfuzz.distance import Jaro
from rapidfuzz.fuzz import ratio

from slowwave_server.domain.similarity.alignment import Alignment, align
from slowwave_server.domain.similarity.findings import Finding
from slowwave_server.domain.similarity.guard import find_difference
from slowwave_server.domain.similarity.reading import Reading
from slowwave_server.domain.similarity.verdicts import Judgement, Thresholds, Verdict

DEFAULTS = Thresholds()
_BELOW = 0.01
_SCANT = 0.3


def judge(
    a: Reading,
    b: Reading,
    *,
    thresholds: Thresholds = DEFAULTS,
    same_scope: bool = True,
    same_type: bool = True,
    seconds_apart: float | None = None,
) -> Judgement:
    """How `a` and `b` relate; the same whichever comes first.

    same_scope: scopes are walls, over which nothing is more than related. same_type: of two types only the same words
    are made one. seconds_apart: between the times at which they were said.
    """
    if a.normal == b.normal:
        return Judgement("duplicate" if same_scope else "related", 1.0, ("the same words",))
    if (b.normal, b.text) < (a.normal, a.text):
        a, b = b, a
    if _have_little_in_common(a, b):
        return Judgement("distinct", _SCANT * _overlap(a, b), ("little in common",))
    aligned = align(a.content, b.content)
    score = _lexical(a, b, aligned)
    if not same_scope:
        return Judgement("related" if score >= thresholds.link else "distinct", score, ("of different scopes",))
    finding = find_difference(a, b, aligned, seconds_apart)
    verdict, score = _verdict(a, b, score, finding, thresholds, same_type=same_type)
    if finding is None:
        return Judgement(verdict, score, _reasons(a, b))
    return Judgement(verdict, score, (finding.reason,), finding.claim)


def _reasons(a: Reading, b: Reading) -> tuple[str, ...]:
    """Why there is nothing between them."""
    if a.claimed and a.claimed == b.claimed:
        return tuple(f"both say {one.subject_text}: {one.predicate} {one.object_text}" for one in a.claims[:1])
    return ("the same words in another form" if a.stems == b.stems else "the same in other words",)


def _verdict(
    a: Reading, b: Reading, score: float, finding: Finding | None, thresholds: Thresholds, *, same_type: bool
) -> tuple[Verdict, float]:
    if finding is not None and finding.kind in {"conflict", "distinct"}:
        return ("conflict" if finding.kind == "conflict" else "distinct"), score
    if finding is None and same_type:
        if a.stems == b.stems and Jaro.similarity(a.normal, b.normal) > thresholds.duplicate:
            return "duplicate", score
        if a.claimed and a.claimed == b.claimed:
            score = max(score, thresholds.merge)
        if score >= thresholds.merge:
            return "merge", score
    score = min(score, thresholds.merge - _BELOW)
    if score >= thresholds.synthesize and same_type and (finding is None or finding.kind == "differs"):
        return "synthesise", score
    return ("related" if score >= thresholds.link else "distinct"), score


def _lexical(a: Reading, b: Reading, aligned: Alignment) -> float:
    words = len(a.content) + len(b.content)
    kin = len(aligned.narrower_a) + len(aligned.narrower_b)
    overlap = (2 * aligned.shared + 1.6 * (kin)) / words if words else 0.0
    return 0.8 * overlap + 0.2 * ratio(a.normal, b.normal) / 100 if overlap < 1 else 1.0


def _have_little_in_common(a: Reading, b: Reading) -> bool:
    """A quick no to most pairs, which share no topic and few words."""
    shared = len(a.distinct_stems & b.distinct_stems)
    least = min(len(a.distinct_stems), len(b.distinct_stems))
    return shared < _SCANT * least and a.topics.isdisjoint(b.topics)


def _overlap(a: Reading, b: Reading) -> float:
    words = len(a.distinct_stems) + len(b.distinct_stems)
    return 2 * len(a.distinct_stems & b.distinct_stems) / words if words else 0.0
