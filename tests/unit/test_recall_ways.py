"""The search methods of an evaluation of recall."""

from datetime import UTC, datetime, timedelta
from typing import Any, cast

from slowwave.memory import Memory
from slowwave.recall import Hit
from slowwave_server.services.evaluation.recall_data import RecallQuestion
from slowwave_server.services.evaluation.recall_ways import search_ways

BEGUN = datetime(2031, 4, 9, 9, tzinfo=UTC)


def event(seq: int) -> Hit:
    moment = BEGUN + timedelta(minutes=seq)
    return Hit(f"s#{seq}", "event", "Yes.", 1.0 / seq, "processed", moment, (("s", seq),), None, "user")


class Ranked:
    """Eleven events, best first by relevance; the best one is the newest."""

    def search(self, _agent: str, _query: str, limit: int, *, order: str = "auto", **_: Any) -> list[Hit]:
        oldest_first = [event(seq) for seq in range(1, 12)]
        return oldest_first[:limit] if order != "relevance" else oldest_first[::-1][:limit]


def test_hits_are_judged_by_relevance_even_if_a_question_asks_for_an_order() -> None:
    question = RecallQuestion("atlas", "What came first, the dog or the car?", 11, frozenset({"11"}), None)
    search = search_ways("words", cast("Memory", Ranked()))["search, words"]
    assert search(question, {("s", seq): str(seq) for seq in range(1, 12)})["any@10"] == 1
