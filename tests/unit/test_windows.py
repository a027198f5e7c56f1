"""Windows: contiguous, bounded, never empty (I2)."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave_server.domain.events import Event
from slowwave_server.domain.windows import cut_window, shorten

SOME_DAY = datetime(2026, 3, 1, tzinfo=UTC)


def events(lengths: list[int], first: int = 1) -> list[Event]:
    return [Event(first + i, "user", "user", "x" * length, SOME_DAY) for i, length in enumerate(lengths)]


@given(st.lists(st.integers(0, 50), min_size=1, max_size=40), st.integers(1, 10), st.integers(1, 60))
def test_windows_cover_a_session_without_gap_or_overlap_and_keep_both_bounds(
    lengths: list[int], max_messages: int, max_chars: int
) -> None:
    rest = events(lengths)
    covered: list[int] = []
    while rest:
        window = cut_window(rest, max_messages=max_messages, max_chars=max_chars)
        assert 1 <= len(window.events) <= max_messages
        assert len(window.events) == 1 or sum(len(e.content) for e in window.events) <= max_chars
        assert all(len(e.content) <= max_chars for e in window.events)
        covered += [e.seq for e in window.events]
        rest = rest[len(window.events) :]
    assert covered == list(range(1, len(lengths) + 1))


def test_a_gap_is_refused_since_what_lies_in_it_would_be_lost() -> None:
    holed = [*events([1, 1]), *events([1], first=4)]
    with pytest.raises(ValueError, match="events 2 and 4 are not neighbours"):
        cut_window(holed, max_messages=10, max_chars=100)
    with pytest.raises(ValueError, match="at least one"):
        cut_window([], max_messages=10, max_chars=100)


@given(st.text(max_size=400), st.integers(1, 300))
def test_a_long_text_keeps_its_beginning_and_its_end_around_a_mark(text: str, max_chars: int) -> None:
    short = shorten(text, max_chars)
    assert len(short) <= max_chars
    if len(text) <= max_chars:
        assert short == text
    elif max_chars > 60:
        assert f"{len(text) - max_chars} characters left out" in short
        assert text.startswith(short[:5])
        assert text.endswith(short[-5:])
