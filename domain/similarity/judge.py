"""The verdict on two statements.

Must not know: where statements are stored.
"""

from collections import Counter

from rapidfuzz.distance import Jaro
from rapidfuzz.fuzz import token_set_ratio

from domain.similarity.lexicon import are_opposites
from domain.similarity.reading import Reading
from domain.similarity.verdicts import Claim, Judgement, Thresholds

DEFAULTS = Thresholds()


def judge(
    a: Reading,
    b: Reading,
    *,
    thresholds: Thresholds = DEFAULTS,
    same_scope: bool = True,
    same_type: bool = True,
    seconds_apart: float | None = None,
    embedding: float | None = None,
) -> Judgement:
    """How `a` and `b` relate; symmetric in verdict and score."""
    if a.normal == b.normal:
        return Judgement("duplicate" if same_scope else "related", 1.0, ("the same words",))
    if (b.normal, b.text) < (a.normal, a.text):
        return judge(
            b, a, thresholds=thresholds, same_scope=same_scope, same_type=same_type,
            seconds_apart=seconds_apart, embedding=embedding,
        )  # fmt: skip
    left, right = Counter(a.stems), Counter(b.stems)
    only_a, only_b = list((left - right).elements()), list((right - left).elements())
    shared = sum((left & right).values())
    score = 2 * shared / max(1, len(a.stems) + len(b.stems))
    score = max(score, embedding or 0.0, 0.9 * token_set_ratio(a.normal, b.normal) / 100 * (score > 0.5))
    if not same_scope:
        return Judgement("related" if score >= thresholds.link else "distinct", score, ("of different scopes",))
    claim = next((one for one in a.claims for other in b.claims if contradict(one, other)), None)
    if claim is not None:
        return Judgement("conflict", score, (f"two values of {claim.attribute}",), claim)
    if a.negated != b.negated and not (only_a and only_b) and shared:
        return Judgement("conflict", score, ("only one is negated",), None)
    if any(are_opposites(one, other) for one in only_a for other in only_b) and len(only_a) == len(only_b) == 1:
        return Judgement("conflict", score, (f"one says {only_a[0]}, the other {only_b[0]}",), None)
    same = {(c.subject, c.attribute, c.value) for c in a.claims} & {(c.subject, c.attribute, c.value) for c in b.claims}
    if same and a.negated == b.negated:
        return Judgement("merge", max(score, thresholds.merge), ("the same value of the same attribute",))
    if only_a or only_b or a.negated != b.negated or a.stems != b.stems:
        score = min(score, thresholds.merge - 0.01)
    elif Jaro.similarity(a.normal, b.normal) > thresholds.duplicate:
        return Judgement("duplicate", score, ("the same words",))
    else:
        return Judgement("merge", max(score, thresholds.merge), ("the same words",))
    if score >= thresholds.synthesize and same_type:
        return Judgement("synthesise", score, ("much in common",))
    return Judgement("related" if score >= thresholds.link else "distinct", score, ())


def contradict(one: Claim, other: Claim) -> bool:
    """Whether two claims give one attribute of one subject values that exclude each other."""
    return one.single and one.subject == other.subject and one.attribute == other.attribute and one.value != other.value
