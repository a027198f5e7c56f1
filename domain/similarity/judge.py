"""Decide how two statements relate: by the guard's finding first, then by the score."""

from dataclasses import replace

from rapidfuzz.distance import Jaro
from rapidfuzz.fuzz import ratio

from slowwave_server.domain.similarity.alignment import Alignment, align
from slowwave_server.domain.similarity.amounts import identifiers_of, values_differ
from slowwave_server.domain.similarity.denials import denials_differ, denies, only_adds
from slowwave_server.domain.similarity.findings import Finding
from slowwave_server.domain.similarity.guard import find_difference
from slowwave_server.domain.similarity.meaning import BOTH_MAY_HOLD, LEARNED_CHARACTERS, Meaning, MeaningOf
from slowwave_server.domain.similarity.opposition import find_opposition
from slowwave_server.domain.similarity.quotes import plain_words, speakers_of
from slowwave_server.domain.similarity.reading import Reading, read
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
    meaning: MeaningOf | None = None,
) -> Judgement:
    """Compare two statements; the order of the two does not matter.

    Args:
        a: A statement.
        b: Another statement.
        thresholds: The minimum similarity for each verdict.
        same_scope: True if both belong to one scope. Across scopes the verdict is at most "related".
        same_type: True if both have one type. With two types, only equal words become one memory.
        seconds_apart: Seconds between the times at which the two were said.
        meaning: A model of meaning. It decides if the rules find no contradiction. It never merges two statements if
            the guard found a contradiction, two different things, or a different number, date or denial.

    Returns:
        The verdict with a score and reasons.
    """
    if a.normal == b.normal:
        return Judgement("duplicate" if same_scope else "related", 1.0, ("the same words",))
    if (b.normal, b.text) < (a.normal, a.text):
        a, b = b, a
    told = meaning(a.text, b.text) if meaning is not None and same_scope and not are_two_subjects(a, b) else None
    if told is None and _have_little_in_common(a, b):
        return Judgement("distinct", _SCANT * _overlap(a, b), ("little in common",))
    aligned = align(a.content, b.content)
    score = _lexical(a, b, aligned)
    if not same_scope:
        return Judgement("related" if score >= thresholds.link else "distinct", score, ("of different scopes",))
    finding = find_difference(a, b, aligned, seconds_apart)
    verdict, score = _verdict(a, b, score, finding, thresholds, same_type=same_type)
    if finding is None:
        ruled = Judgement(verdict, score, _reasons(a, b))
    else:
        ruled = Judgement(verdict, score, (finding.reason,), finding.claim)
    return ruled if told is None else _with_meaning(ruled, finding, told, a, b, aligned, same_type=same_type)


def are_two_subjects(a: Reading, b: Reading) -> bool:
    """Return True if at least one is about a name, and each is about a person whom the other does not mention.

    The speaker of two quotes is not their subject: "S010 is completed" and "S014 is completed", both said by Maya.
    """
    if not speakers_of(a.text).isdisjoint(speakers_of(b.text)):
        a, b = read(plain_words(a.text)), read(plain_words(b.text))
    if not (a.doer.names or b.doer.names):
        return False
    if not (a.doer.names and b.doer.names) and (a.doer.names | b.doer.names) <= _acronyms(a) | _acronyms(b):
        return False
    one, other = (reading.doer.names or {reading.doer.head} - {""} for reading in (a, b))
    return bool(one and other) and one.isdisjoint(_mentioned(b)) and other.isdisjoint(_mentioned(a))


def _acronyms(reading: Reading) -> frozenset[str]:
    """Return the names in capitals: "GPU quota" may have another subject than "the cards", "Maya" may not."""
    return frozenset(token.stem for token in reading.tokens if token.kind == "name" and token.text.isupper())


def _are_other_attributes(a: Reading, b: Reading) -> bool:
    """Return True if each gives a value, of different attributes ("lives in Oslo", "is a nurse"): both may hold. A
    claim without a value ("is not retired") may deny any attribute.
    """
    one, other = ({claim.attribute.partition(":")[0] for claim in reading.claims} for reading in (a, b))
    denies = any(claim.value in {"yes", "no"} for claim in (*a.claims, *b.claims))
    return bool(one and other) and one.isdisjoint(other) and not denies


def _mentioned(reading: Reading) -> frozenset[str]:
    return reading.names | reading.distinct_stems | frozenset(token.lower for token in reading.tokens)


def _allows_merge(finding: Finding | None, a: Reading, b: Reading, aligned: Alignment) -> bool:
    """Return True if the guard lets the model merge: no contradiction, no second thing, no different number, date or
    name, no denial of one alone, and no opposites.
    """
    if finding is not None and finding.kind not in {"apart", "differs"}:
        return False
    if values_differ(a.tokens, b.tokens) or _names_differ(a, b) or denials_differ(a, b, aligned):
        return False
    return denies(a) != denies(b) or find_opposition(a, b, aligned) is None


def _names_differ(a: Reading, b: Reading) -> bool:
    """Return True if each statement gives a name or an identifier ("pg-rep-04") that the other one does not mention."""
    return bool(_named(a) - _mentioned(b)) and bool(_named(b) - _mentioned(a))


def _named(reading: Reading) -> frozenset[str]:
    return reading.names | identifiers_of(reading.tokens)


def _with_meaning(
    ruled: Judgement,
    finding: Finding | None,
    told: Meaning,
    a: Reading,
    b: Reading,
    aligned: Alignment,
    *,
    same_type: bool,
) -> Judgement:
    """Return the verdict of the rules and the model together."""
    if ruled.verdict == "conflict" and told.contradiction < BOTH_MAY_HOLD:
        return replace(ruled, verdict="related", reasons=(*ruled.reasons, "but both may hold"), meaning=told)
    is_long = max(len(a.text), len(b.text)) > LEARNED_CHARACTERS
    if told.is_contradiction and (is_long or _are_other_attributes(a, b)):
        return replace(ruled, meaning=told)
    open_to_model = ruled.verdict not in {"conflict", "duplicate"} and (finding is None or finding.kind != "distinct")
    if open_to_model and told.is_contradiction and not only_adds(a, b):
        why = f"only one of the two can hold now (certainty {told.contradiction:.2f})"
        return replace(ruled, verdict="conflict", reasons=(why,), meaning=told)
    if (
        ruled.verdict not in {"duplicate", "merge"}
        and told.is_duplicate
        and same_type
        and _allows_merge(finding, a, b, aligned)
    ):
        why = f"both say the same in other words (certainty {told.duplicate:.2f})"
        return replace(ruled, verdict="merge", score=told.duplicate, reasons=(why,), meaning=told)
    return replace(ruled, meaning=told)


def _reasons(a: Reading, b: Reading) -> tuple[str, ...]:
    """Return the reasons why the two are unrelated."""
    if a.claimed and a.claimed == b.claimed:
        return tuple(f"both say {one.subject_text}: {one.predicate} {one.object_text}" for one in a.claims[:1])
    return ("the same words in another form" if a.stems == b.stems else "the same in other words",)


def _verdict(
    a: Reading, b: Reading, score: float, finding: Finding | None, thresholds: Thresholds, *, same_type: bool
) -> tuple[Verdict, float]:
    if finding is not None and finding.kind in {"conflict", "distinct", "subjects"}:
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
    """Return True for most unrelated pairs, by a quick check: they share no topic and few words."""
    shared = len(a.distinct_stems & b.distinct_stems)
    least = min(len(a.distinct_stems), len(b.distinct_stems))
    return shared < _SCANT * least and a.topics.isdisjoint(b.topics)


def _overlap(a: Reading, b: Reading) -> float:
    words = len(a.distinct_stems) + len(b.distinct_stems)
    return 2 * len(a.distinct_stems & b.distinct_stems) / words if words else 0.0
