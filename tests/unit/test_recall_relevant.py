"""Which hits relate to the query closely enough: by their relevance, and by a share of the strongest hit's evidence."""

from datetime import UTC, datetime

from slowwave.recall.hits import Hit
from slowwave.recall.ranking import QueryFacts, Why, evidence, relevance
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


def of(own: float, best: float, words: int = 5, documents: int = 300, named: float = 0.0) -> float:
    def held(coverage: float) -> float:
        return evidence(coverage, None, min(coverage, named), named)

    return relevance(held(own), held(best), QueryFacts(words, documents, named))


def test_a_weak_hit_is_more_relevant_beside_a_strong_one() -> None:
    assert of(0.15, best=0.7) > of(0.25, best=0.25)
    assert of(0.7, best=0.7) > of(0.15, best=0.7)
    assert 0 < of(0.0, best=0.0) < of(1.0, best=1.0) < 1


def test_a_long_query_needs_less_of_its_words_in_a_hit() -> None:
    assert of(0.3, best=0.3, words=20) > of(0.3, best=0.3, words=3)
    assert of(0.3, best=0.3, documents=20) > of(0.3, best=0.3, documents=20_000)


def test_a_name_counts_more_than_another_word() -> None:
    assert evidence(0.4, None, names=0.4, named=0.4) > evidence(0.4, None, names=0.0, named=0.0)
    assert evidence(0.4, None, names=0.0, named=0.4) < evidence(0.4, None, names=0.0, named=0.0)


def test_a_cosine_adds_to_the_words() -> None:
    assert evidence(0.3, 0.6, 0.0, 0.0) > evidence(0.3, None, 0.0, 0.0) > evidence(0.3, 0.1, 0.0, 0.0)
