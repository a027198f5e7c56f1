"""Merging of a day's parts: bounded in words and depth, the same in any order, linear in the day."""

import cProfile
import math
import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import product
from pstats import Stats

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slowwave_server.domain.events import Event
from slowwave_server.domain.summaries import (
    FACETS,
    MAX_SEGMENT_LINES,
    DaySummary,
    Line,
    cut_segments,
    merge_lines,
    summarize_segment,
)

AT = datetime(2026, 3, 2, tzinfo=UTC)
WORDS = st.lists(
    st.sampled_from("Maya Jonas wants tea flight Oslo Postgres runs green boat lake sings".split()), max_size=12
)
MILESTONES = st.sampled_from(
    [f"Run {end}: nightly {what}" for end in ("failed", "finished") for what in ("import", "tea")]
)
LINES = st.builds(
    Line,
    facet=st.sampled_from(FACETS),
    text=WORDS.map(lambda words: " ".join(["Maya", *words])) | MILESTONES,
    speaker=st.just("Maya"),
    session=st.sampled_from(["a", "b"]),
    seq=st.integers(1, 500),
    at=st.integers(0, 86_399).map(lambda seconds: AT + timedelta(seconds=seconds)),
    weight=st.sampled_from([-2.0, -0.5, 0.0, 0.7, 3.0]),
)
PARTS = st.lists(st.lists(LINES, max_size=12), max_size=20)


@settings(max_examples=20)
@given(PARTS, st.integers(0, 120))
def test_a_summary_keeps_its_number_of_words_and_says_only_what_its_parts_say(
    parts: list[list[Line]], max_words: int
) -> None:
    summary = merge_lines(parts, max_words=max_words)
    assert len(summary.text.split()) <= max_words
    assert {(line.place, line.speaker) for line in summary.lines} <= {
        (line.place, line.speaker) for part in parts for line in part
    }
    order = [(FACETS.index(line.facet), line.at) for line in summary.lines]
    assert order == sorted(order)
    assert [text[2:] for text in summary.text.splitlines() if text.startswith("- ")] == [
        line.text for line in summary.lines
    ]


@settings(max_examples=20)
@given(st.lists(st.lists(LINES, min_size=1, max_size=6), min_size=9, max_size=18), st.randoms(use_true_random=False))
def test_the_order_of_parts_and_of_their_lines_does_not_matter(parts: list[list[Line]], rnd: random.Random) -> None:
    shuffled = [rnd.sample(part, len(part)) for part in rnd.sample(parts, len(parts))]
    for max_words in (10, 60):
        assert merge_lines(shuffled, max_words=max_words) == merge_lines(parts, max_words=max_words)


def test_the_depth_grows_with_the_logarithm_of_the_parts() -> None:
    for count in (0, 1, 8, 9, 64, 65, 600):
        parts = [[_line(seq, f"Maya wants thing number {seq}.")] for seq in range(1, count + 1)]
        assert merge_lines(parts, max_words=100).levels == max(1, math.ceil(math.log(max(1, count), 8)))


def test_the_same_sentence_of_two_sessions_is_one_line_and_keeps_its_first_source() -> None:
    later = _line(9, "Maya wants a flight to Oslo.", "b")
    (line,) = merge_lines([[later], [_line(2, "Maya wants a flight to Oslo.", "a")]], max_words=100).lines
    assert (line.session, line.seq) == ("a", 2)


def test_a_run_that_failed_after_it_had_finished_has_failed() -> None:
    finished = _line(1, "Run finished: nightly import", facet="executed", weight=3.0)
    failed = _line(2, "Run failed: nightly import", facet="state", weight=3.0)
    assert merge_lines([[failed], [finished]], max_words=100).lines == (failed,)
    early = _line(1, "Run failed: nightly import", facet="state", weight=3.0)
    late = _line(2, "Run finished: nightly import", facet="executed", weight=3.0)
    assert {line.facet for line in merge_lines([[late, early]], max_words=100).lines} == {"executed"}


def test_the_id_of_a_run_tells_which_milestone_ends_it() -> None:
    queued = _line(1, "Run queued: nightly import", facet="state", weight=3.0, run="import-7")
    other = _line(2, "Run queued: nightly import", facet="state", weight=3.0, run="import-8")
    ended = _line(3, "Run finished: 40 rows were read", facet="executed", weight=3.0, run="import-7")
    assert merge_lines([[queued, other], [ended]], max_words=100).lines == (ended, other)


def test_of_each_conversation_the_last_ending_is_kept() -> None:
    first = _line(1, 'Maya asked last: "Is the ferry booked?" No answer followed.', facet="ended", weight=5.0)
    last = _line(9, 'Maya closed: "Thanks, that is all for the ferry."', facet="ended", weight=5.0)
    other = _line(4, "helper delivered the list of hotels.", "t", facet="ended", weight=5.0)
    assert merge_lines([[first], [other], [last]], max_words=100).lines == (other, last)


def test_what_was_asked_for_does_not_hide_that_it_was_done() -> None:
    asked = _line(1, "Maya asked to add a test for the tax service.")
    done = _line(2, "helper has added a test for the tax service.", facet="executed")
    again = _line(3, "Maya asked for a test for the tax service to be added.")
    assert merge_lines([[asked, done, again]], max_words=100).lines == (asked, done)


def test_each_question_gets_an_answer_before_much_that_was_said() -> None:
    said = [_line(seq, f"Maya likes {word} {word}s very much.", facet="said", weight=2.9) for seq, word in _named(60)]
    answers = [
        _line(70 + at, f"Maya settles matter {facet}.", facet=facet, weight=0.6) for at, facet in enumerate(FACETS[:5])
    ]
    summary = merge_lines([said, answers], max_words=80)
    assert {line.facet for line in summary.lines} == set(FACETS)


def test_a_poor_line_is_left_out_beside_good_ones_and_shown_where_there_is_nothing_else() -> None:
    poor, good = _line(1, "Jonas thinks about walls.", weight=-2.0), _line(2, "Maya wants a flight to Oslo.")
    assert merge_lines([[poor, good]], max_words=100).lines == (good,)
    assert merge_lines([[poor]], max_words=100).lines == (poor,)


@pytest.mark.parametrize("events", [1_200, pytest.param(2_000, marks=pytest.mark.long)])
def test_a_day_of_ten_times_as_many_events_costs_ten_times_as_much(events: int) -> None:
    small, few = _calls(lambda: _summary(events))
    large, many = _calls(lambda: _summary(10 * events))
    assert many <= 12 * few
    assert 100 < len(small.text.split()) <= 220
    assert 100 < len(large.text.split()) <= 220
    # The parts that are merged are bounded, too, whatever a segment holds.
    crowd = [
        Event(seq, "user", "user", " ".join(f"I want boat {seq * 100 + n}." for n in range(80)), AT)
        for seq in range(1, 50)
    ]
    assert all(len(summarize_segment(s.events, session="s")) <= MAX_SEGMENT_LINES for s in cut_segments(crowd))


def _summary(count: int) -> DaySummary:
    names = [f"{first}{second}" for first, second in product("bdfgklmnprst", ("avo", "elu", "imi", "oru", "uta"))]
    said = (
        Event(
            seq,
            "user",
            "user",
            f"I want {names[seq % 60]} in {names[seq // 60 % 60]}." if seq % 4 == 0 else "ok thanks",
            AT + timedelta(seconds=seq),
            name="Maya",
        )
        for seq in range(1, count + 1)
    )
    parts = [summarize_segment(segment.events, session="s") for segment in cut_segments(said)]
    return merge_lines(parts, max_words=220)


def _calls(work: Callable[[], DaySummary]) -> tuple[DaySummary, int]:
    """What `work` answers, and how many calls of Python functions it took: a measure that no other process disturbs."""
    profile = cProfile.Profile(builtins=False)
    answer = profile.runcall(work)
    profile.create_stats()
    return answer, Stats(profile).total_calls


def _named(count: int) -> list[tuple[int, str]]:
    return [(seq, f"{chr(97 + seq % 26)}{chr(97 + seq // 26)}ork") for seq in range(1, count + 1)]


def _line(
    seq: int, text: str, session: str = "s", *, facet: str = "wanted", weight: float = 1.0, run: str | None = None
) -> Line:
    at = (AT + timedelta(minutes=seq)).isoformat()
    return Line.from_json(
        {
            "facet": facet,
            "text": text,
            "speaker": text.split(maxsplit=1)[0],
            "session": session,
            "seq": seq,
            "at": at,
            "weight": weight,
            "run": run,
        }
    )
