"""Which hits relate to the query closely enough: by their relevance, and by a share of the strongest hit's evidence."""

from datetime import UTC, datetime

from slowwave.recall.hits import Hit
from slowwave.recall.ranking import Why, relevance
from slowwave.recall.selection import relevant


def hit(name: str, coverage: float, cosine: float | None = None, score: float | None = None) -> Hit:
    why = Why(1.0, 0.0, 0.0, 0.0, coverage=coverage, cosine=cosine)
    score = coverage if score is None else score
    moment = datetime(2026, 3, 1, tzinfo=UTC)
    return Hit(name, "memory", name, score, "active", moment, (), None, "fact", relevance=coverage, why=why)


def companion(name: str, score: float) -> Hit:
    moment = datetime(2026, 3, 1, tzinfo=UTC)
    return Hit(name, "memory", name, score, "active", moment, (), None, "fact")


def names(hits: list[Hit]) -> list[str]:
    return [each.id for each in hits]


def test_share_compares_with_the_strongest_hit() -> None:
    hits = [hit("a", 0.5), hit("b", 1.0), hit("c", 0.79), hit("d", 0.8)]
    assert names(relevant(hits, 0.0, 0.8)) == ["b", "d"]
    assert names(relevant(hits, 0.6)) == ["b", "c", "d"]
    assert relevant(hits, 0.0) == hits


def test_evidence_adds_the_cosine() -> None:
    hits = [hit("words", 0.6, 0.1), hit("meaning", 0.1, 0.6), hit("neither", 0.2, 0.1)]
    assert names(relevant(hits, 0.0, 0.8)) == ["words", "meaning"]


def test_hit_without_a_vector_counts_as_average() -> None:
    hits = [hit("old", 0.5, 0.6), hit("weak", 0.1, 0.2), hit("fresh", 0.5), hit("other", 0.2)]
    assert names(relevant(hits, 0.0, 0.8)) == ["old", "fresh"]


def test_companions_stay_with_their_hit() -> None:
    hits = [companion("today", 0.9), hit("until May", 0.9), companion("replaced", 0.2), hit("weak", 0.2)]
    assert names(relevant(hits, 0.0, 0.8)) == ["today", "until May"]


def test_hits_of_another_backend_stay() -> None:
    hits = [companion("one", 0.9), companion("two", 0.1)]
    assert relevant(hits, 0.5, 0.5) == hits


def test_a_weak_hit_is_more_relevant_beside_a_strong_one() -> None:
    assert relevance(0.15, None, best=0.7) > relevance(0.25, None, best=0.25)
    assert 0 < relevance(0.0, None, best=0.0) < relevance(1.0, None, best=1.0) < 1


def test_a_cosine_needs_no_best_hit() -> None:
    assert relevance(0.3, 0.4, best=0.9) == relevance(0.3, 0.4)
