"""What was said once is shown once, and what was replaced stands behind what replaced it."""

from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from slowwave.recall.hits import choose, hit_of


def row(identifier: str, *sources: int, seq: int | None = None, superseded_by: str | None = None) -> dict[str, Any]:
    return {
        "id": identifier,
        "seq": seq,
        "content": "Maya keeps bees.",
        "status": "active",
        "valid_from": datetime(2024, 5, 9, tzinfo=UTC),
        "scope_id": 1,
        "type": "fact",
        "speaker": None,
        "superseded_by": superseded_by,
        "sources": [[1, "kitchen", n] for n in sources],
    }


def chosen(*rows: dict[str, Any], limit: int = 10) -> list[str]:
    return [each["id"] for each in choose(rows, limit)]


def test_an_event_below_its_memory_is_not_repeated() -> None:
    assert chosen(row("memory", 3), row("kitchen#3", 3, seq=3), row("kitchen#4", 4, seq=4)) == ["memory", "kitchen#4"]


def test_a_memory_below_its_only_event_is_not_repeated() -> None:
    assert chosen(row("kitchen#3", 3, seq=3), row("memory", 3), row("wider", 3, 8)) == ["kitchen#3", "wider"]


def test_a_memory_without_sources_is_shown() -> None:
    assert chosen(row("kitchen#3", 3, seq=3), row("by hand")) == ["kitchen#3", "by hand"]


def test_what_was_replaced_comes_behind_what_replaced_it() -> None:
    rows = (row("first", 1, superseded_by="second"), row("second", 2, superseded_by="third"), row("third", 3))
    assert chosen(*rows) == ["third", "second", "first"]


def test_a_ring_of_replacements_ends() -> None:
    assert sorted(chosen(row("a", 1, superseded_by="b"), row("b", 2, superseded_by="a"))) == ["a", "b"]


def test_two_memories_of_one_event_both_stay() -> None:
    assert chosen(row("whippet", 3), row("kitchen#3", 3, seq=3), row("Porto", 3)) == ["whippet", "Porto"]


drawn_rows = st.lists(st.tuples(st.booleans(), st.sets(st.integers(1, 6), min_size=1, max_size=3)), max_size=20)


@given(drawn_rows, st.integers(1, 5))
def test_nothing_stands_both_as_an_event_and_as_a_memory_of_it_alone(
    drawn: list[tuple[bool, set[int]]], limit: int
) -> None:
    rows = [
        row(f"{place}", *([min(sources)] if is_event else sorted(sources)), seq=min(sources) if is_event else None)
        for place, (is_event, sources) in enumerate(drawn)
    ]
    picked = choose(rows, limit)
    kept: set[int] = set()
    verbatim: set[int] = set()
    for each in picked:
        origins = {seq for _, _, seq in each["sources"]}
        if each["seq"] is None:
            assert origins - verbatim
            kept |= origins
        else:
            assert not origins & kept
            verbatim |= origins
    everything = {seq for each in rows for _, _, seq in each["sources"]}
    assert len(picked) == limit or kept | verbatim == everything


def test_json_has_the_keys_that_the_shell_prints() -> None:
    hit = hit_of(row("kitchen#3", 3, seq=3), 1.23456, {1: "room:kitchen"})
    assert hit.to_json() == {
        "id": "kitchen#3",
        "kind": "event",
        "content": "Maya keeps bees.",
        "score": 1.2346,
        "status": "active",
        "valid_from": "2024-05-09T00:00:00+00:00",
        "sources": [["kitchen", 3]],
        "scope": "room:kitchen",
        "type": "fact",
        "speaker": None,
        "part": None,
        "relevance": None,
        "why": None,
        "valid_to": None,
        "contradicts": [],
    }
