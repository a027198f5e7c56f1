"""Windows: contiguous, bounded, never empty (I2), with room for tools beside what is said."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave_server.domain.events import Event, EventKind
from slowwave_server.domain.windows import TOOL_ROOM, cut_window, most_events, preceding

SOME_DAY = datetime(2026, 3, 1, tzinfo=UTC)


def events(lengths: list[int], first: int = 1, kinds: tuple[EventKind, ...] = ("user",)) -> list[Event]:
    return [Event(first + i, kinds[i % len(kinds)], "any", "x" * length, SOME_DAY) for i, length in enumerate(lengths)]


KINDS = st.lists(st.sampled_from(["user", "assistant", "tool", "task"]), min_size=1, max_size=5).map(tuple)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=60), KINDS, st.integers(1, 10), st.integers(1, 60))
def test_windows_cover_a_session_without_gap_and_keep_bounds(
    lengths: list[int], kinds: tuple[EventKind, ...], max_messages: int, max_chars: int
) -> None:
    rest = events(lengths, kinds=kinds)
    covered: list[int] = []
    while rest:
        window = cut_window(rest, max_messages=max_messages, max_chars=max_chars)
        assert 1 <= len(window.events) <= most_events(max_messages)
        for is_tool, room in ((True, TOOL_ROOM), (False, 1)):
            sizes = [len(event.content) for event in window.events if (event.kind == "tool") is is_tool]
            assert len(sizes) <= room * max_messages
            assert len(window.events) == 1 or sum(sizes) <= room * max_chars
        covered += [e.seq for e in window.events]
        rest = rest[len(window.events) :]
    assert covered == list(range(1, len(lengths) + 1))


def test_a_long_event_is_a_window_by_itself_and_whole() -> None:
    window = cut_window(events([500, 3, 3]), max_messages=10, max_chars=100)
    assert [len(event.content) for event in window.events] == [500]


def test_tool_events_do_not_displace_the_outcome() -> None:
    talk = events([50, *[700] * 60, 50], kinds=("user", *["tool"] * 60, "assistant"))  # type: ignore[arg-type]
    window = cut_window(talk, max_messages=20, max_chars=12_000)
    assert [event.kind for event in window.events if event.kind != "tool"] == ["user", "assistant"]


def test_bisection_counts_events_of_every_kind() -> None:
    window = cut_window(events([1] * 9, kinds=("user", "tool")), max_messages=20, max_chars=100, max_events=3)
    assert len(window.events) == 3


def test_turns_before_a_run_of_tool_events_precede_the_window() -> None:
    before = events([5] * 12, kinds=("user", "assistant", *["tool"] * 10))  # type: ignore[arg-type]
    assert [event.seq for event in preceding(before)] == [1, 2, 9, 10, 11, 12]
    assert [event.seq for event in preceding(before[:2])] == [1, 2]
    assert preceding([]) == ()


def test_a_gap_is_refused_since_what_lies_in_it_would_be_lost() -> None:
    holed = [*events([1, 1]), *events([1], first=4)]
    with pytest.raises(ValueError, match="events 2 and 4 are not neighbours"):
        cut_window(holed, max_messages=10, max_chars=100)
    with pytest.raises(ValueError, match="at least one"):
        cut_window([], max_messages=10, max_chars=100)
