"""What belongs to a hit stands beside it: what replaced it, what it replaced, what contradicts it."""

from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from slowwave.recall.hits import Hit
from slowwave.recall.pairing import paired

AT = datetime(2025, 1, 14, tzinfo=UTC)
ENDED = datetime(2025, 5, 2, tzinfo=UTC)


def hit(name: str) -> Hit:
    return Hit(name, "memory", f"Maya says {name}.", 1.0, "active", AT, ((name, 1),), None, "fact")


def event(session: str) -> Hit:
    return Hit(f"{session}#1", "event", "…", 0.5, "processed", AT, ((session, 1),), None, "user", "Maya")


def beside(found: str, relation: str, other: str, *, ended: bool = False) -> dict[str, Any]:
    return {
        "found": found,
        "relation": relation,
        "id": other,
        "seq": None,
        "content": f"Maya says {other}.",
        "status": "active",
        "valid_from": AT,
        "valid_to": ENDED if ended else None,
        "scope_id": 1,
        "type": "fact",
        "speaker": None,
        "superseded_by": None,
        "sources": [[1, other, 1]],
    }


def shown(hits: list[Hit], *rows: dict[str, Any], limit: int = 10) -> list[str]:
    return [one.id for one in paired(hits, rows, {1: None}, limit)]


def test_replaced_memory_stands_behind_its_current_one() -> None:
    rows = (beside("Bergen", "replaced", "Porto", ended=True),)
    (current, replaced, _) = paired([hit("Bergen"), hit("tea")], rows, {1: None}, 10)
    assert (current.id, current.valid_to) == ("Bergen", None)
    assert (replaced.id, replaced.valid_to) == ("Porto", ENDED)


def test_ended_hit_brings_its_current_memory_before_it() -> None:
    rows = (beside("Porto", "self", "Porto", ended=True), beside("Porto", "current", "Bergen"))
    (current, ended) = paired([hit("Porto")], rows, {1: None}, 10)
    assert (current.id, ended.id, ended.valid_to) == ("Bergen", "Porto", ENDED)


def test_both_sides_of_a_conflict_come_together_and_name_each_other() -> None:
    rows = (beside("cats", "conflict", "no cats"),)
    (one, other, _) = paired([hit("cats"), hit("tea")], rows, {1: None}, 10)
    assert (one.contradicts, other.id, other.contradicts) == (("no cats",), "no cats", ("cats",))


def test_other_side_found_below_moves_up() -> None:
    rows = (beside("cats", "conflict", "no cats"), beside("no cats", "conflict", "cats"))
    assert shown([hit("cats"), hit("tea"), hit("no cats")], *rows) == ["cats", "no cats", "tea"]


def test_conflict_of_the_current_memory_comes_along() -> None:
    rows = (
        beside("Porto", "self", "Porto", ended=True),
        beside("Porto", "current", "Bergen"),
        beside("Bergen", "conflict", "Oslo"),
    )
    assert shown([hit("Porto")], *rows) == ["Bergen", "Oslo", "Porto"]


def test_one_side_alone_gives_way_at_the_limit() -> None:
    rows = (beside("cats", "conflict", "no cats"),)
    assert shown([hit("tea"), hit("cats"), hit("bees")], *rows, limit=2) == ["tea", "bees"]
    (alone,) = paired([hit("cats")], rows, {1: None}, 1)
    assert alone.contradicts == ("no cats",)


def test_replaced_memory_takes_no_place_beyond_the_limit() -> None:
    rows = (beside("Bergen", "replaced", "Porto", ended=True),)
    assert shown([hit("Bergen"), hit("tea")], *rows, limit=1) == ["Bergen"]
    ended = (beside("Porto", "self", "Porto", ended=True), beside("Porto", "current", "Bergen"))
    assert shown([hit("Porto")], *ended, limit=1) == ["Bergen"]


def test_event_of_a_companion_is_not_repeated() -> None:
    rows = (beside("Bergen", "replaced", "Porto", ended=True),)
    assert shown([hit("Bergen"), event("Porto"), event("tea")], *rows) == ["Bergen", "Porto", "tea#1"]


names = st.sampled_from("abcdefgh")
drawn = st.lists(st.tuples(names, st.sampled_from(("self", "current", "replaced", "conflict")), names), max_size=12)


@given(st.lists(names, unique=True, min_size=1), drawn, st.integers(1, 8))
def test_limit_holds_and_nothing_comes_twice(found: list[str], related: list[tuple[str, str, str]], limit: int) -> None:
    rows = [
        beside(one, relation, one if relation == "self" else other, ended=relation in {"self", "replaced"})
        for one, relation, other in related
        if relation != "self" or one in found
    ]
    answered = shown([hit(name) for name in found], *rows, limit=limit)
    assert answered
    assert len(answered) <= limit
    assert len(set(answered)) == len(answered)
