"""Summaries of segments: which question each line answers, who said it, and what never gets in."""

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from slowwave_server.domain.events import Event, EventKind
from slowwave_server.domain.summaries import (
    FACETS,
    MAX_SEGMENT_CHARACTERS,
    MAX_SEGMENT_EVENTS,
    MAX_SEGMENT_LINES,
    Line,
    cut_segments,
    merge_lines,
    summarize_segment,
)

AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
Turn = tuple[EventKind, str | None, str]


def events(*turns: Turn | tuple[str, str], first: int = 1) -> tuple[Event, ...]:
    """(kind, name, text), or (milestone, text)."""
    found: list[Event] = []
    for seq, turn in enumerate(turns, first):
        at = AT + timedelta(minutes=seq)
        if len(turn) == 2:
            found.append(Event(seq, "task", "task", turn[1], at, metadata={"event": turn[0]}))
        else:
            found.append(Event(seq, turn[0], turn[0], turn[2], at, name=turn[1]))
    return tuple(found)


def lines(*turns: Turn | tuple[str, str]) -> tuple[Line, ...]:
    return summarize_segment(events(*turns), session="s1", agent="helper")


def texts(found: Sequence[Line], facet: str) -> list[str]:
    return [line.text for line in found if line.facet == facet]


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]+", text.lower()))


CODING: tuple[Turn | tuple[str, str], ...] = (
    ("user", None, "Hey! The checkout page throws a 500 since the last deploy. Can you find the cause?"),
    (
        "assistant",
        None,
        "Sure.\n```\nTraceback (most recent call last)\n```\nThe root cause was a null from the tax API.",
    ),
    ("user", None, "Let's go with a guard in the checkout. Add a test for EU customers, please."),
    ("assistant", None, "I've added the guard and a test for EU customers. All tests pass now."),
    ("run_queued", "Deploy checkout 4.2.1 to staging"),
    ("run_failed", "Deploy checkout 4.2.1 to staging failed: migration lock"),
    ("assistant", None, "I've released the migration lock and restarted it."),
    ("run_finished", "Deploy checkout 4.2.1 to staging"),
    ("user", None, "Thanks! From now on always run migrations before the deploy."),
    ("run_blocked", "Nightly import of the price list"),
    ("assistant", None, "The ticket for the tax API is still open."),
)


def test_a_coding_day_answers_the_four_questions() -> None:
    found = lines(*CODING)
    assert texts(found, "wanted") == [
        'The user asked to find the cause. helper answered: "The root cause was a null from the tax API."',
        (
            "The user asked to add a test for EU customers. "
            'helper answered: "I\'ve added the guard and a test for EU customers. All tests pass now."'
        ),
    ]
    assert texts(found, "decided") == [
        'The user: "Let\'s go with a guard in the checkout."',
        "The user: From now on always run migrations before the deploy.",
    ]
    executed = texts(found, "executed")
    assert "helper has released the migration lock and restarted it." in executed
    assert "Run finished: Deploy checkout 4.2.1 to staging" in executed
    state = texts(found, "state")
    assert "Run blocked: Nightly import of the price list" in state
    (ended,) = texts(found, "ended")
    assert ended == (
        'The user said last: "From now on always run migrations before the deploy." '
        'helper answered: "The ticket for the tax API is still open."'
    )


def test_of_each_task_the_last_outcome_is_the_state() -> None:
    found = lines(*CODING)
    assert not [line for line in found if line.text.startswith("Run queued")]
    early, late = lines(*CODING[:6]), summarize_segment(events(*CODING[6:], first=7), session="s1", agent="helper")
    assert "Run failed: Deploy checkout 4.2.1 to staging failed: migration lock" in texts(early, "state")
    merged = merge_lines([early, late], max_words=220).lines
    assert not [line for line in merged if line.facet == "state" and "Deploy" in line.text]


@pytest.mark.parametrize(
    ("failed", "finished", "same"),
    [
        ("Import: the disk of host seven is full", "Import", True),
        ("Import was blocked by a lock", "Import.", True),
        ("Nightly import of prices", "Nightly import of prices (1,200 rows)", True),
        ("Import of prices", "Import", False),
        ("Order the office chairs: the card was declined", "Order the office chairs: six chairs, on Monday", True),
        ("Order the office chairs - the card was declined", "Order the office lamps - four, on Monday", False),
        ("Weekly report: sent to Jonas", "Weekly report: no room left on the disk of host seven", False),
        ("Nightly import of prices", "Nightly backup of orders", False),
    ],
)
def test_an_earlier_failure_is_history_where_the_same_task_finished(failed: str, finished: str, *, same: bool) -> None:
    found = lines(("run_failed", failed), ("run_finished", finished))
    facets = [line.facet for line in found if line.text == f"Run failed: {failed}"]
    assert facets in ([["executed"], []] if same else [["state"]])
    if "disk" in failed:
        assert facets == ["executed"]


def test_an_assistant_day_tells_the_wish_the_booking_and_what_is_blocked() -> None:
    found = lines(
        ("user", "Priya", "I want to book a trip to Lisbon for my mother's birthday in May."),
        ("assistant", None, "Lovely! When would you like to travel?"),
        ("user", "Priya", "From 12 May to 18 May. My mother can't climb stairs."),
        ("user", "Priya", "Book the Hotel Mundial then. We decided to take the train to the airport."),
        ("assistant", None, "I have booked the Hotel Mundial. Could you send me the passport number of your mother?"),
        ("run_blocked", "Book flights Berlin to Lisbon"),
        ("user", "Priya", "Remind me tomorrow."),
    )
    assert texts(found, "wanted") == [
        "Priya wants to book a trip to Lisbon for their mother's birthday in May.",
        'Priya asked to book the Hotel Mundial then. helper answered: "I have booked the Hotel Mundial."',
    ]
    assert texts(found, "decided") == ['Priya: "We decided to take the train to the airport."']
    assert texts(found, "executed") == []
    assert "Run blocked: Book flights Berlin to Lisbon" in texts(found, "state")
    assert [line.speaker for line in found if "passport" in line.text and line.facet == "state"] == ["helper"]
    assert "Priya's mother can't climb stairs." in texts(found, "said")


def test_what_is_told_an_agent_in_short_words_is_asked_decided_or_done() -> None:
    found = lines(
        ("user", "Priya", "Also bump the version to 3.2 and don't deploy before Monday."),
        ("user", "Priya", "No, keep the old name. And don't spend more than 90 euros."),
        ("user", "Priya", "I decided we leave the archive where it is. No update from Jonas so far."),
        ("user", "Priya", "can u check why the shop is down? We should never go below two hosts."),
        ("assistant", None, "Fixed the cache key in `ci.yml`. Updated instructions are in the wiki."),
        ("assistant", None, "I bumped the version to 3.2."),
    )
    assert texts(found, "wanted") == [
        "Priya asked to bump the version to 3.2 and don't deploy before Monday.",
        "Priya asked not to spend more than 90 euros.",
        "Priya asked to keep the old name.",
    ]
    assert texts(found, "decided") == [
        'Priya: "I decided we leave the archive where it is."',
        'Priya: "We should never go below two hosts."',
    ]
    assert texts(found, "executed") == []
    assert texts(found, "ended") == [
        (
            'Priya asked last: "Can u check why the shop is down? We should never go below two hosts." '
            'helper answered: "Fixed the cache key in ci.yml. Updated instructions are in the wiki. '
            'I bumped the version to 3.2."'
        )
    ]


def test_what_people_decide_for_themselves_binds_no_agent() -> None:
    found = lines(
        ("user", "Priya", "I decided I was too tired for the choir on Sunday."),
        ("assistant", "Jonas", "Booked the tickets for the concert in Porto without you then."),
    )
    assert texts(found, "decided") == texts(found, "executed") == []


def test_a_task_that_failed_first_keeps_both_of_its_ends_apart_from_what_else_was_done() -> None:
    found = lines(
        ("run_finished", "Send the weekly report: to Anna"),
        ("run_finished", "Send the weekly report: twelve pages, with charts, archived behind the shop's folder"),
    )
    assert len(texts(found, "executed")) == 2


def test_talk_between_people_is_attributed_and_imperatives_are_no_requests() -> None:
    found = lines(
        ("user", "Maya", "I adopted a greyhound called Rocket yesterday."),
        ("assistant", "Jonas", "Enjoy it! Give him a big hug from me. I painted a lighthouse last weekend."),
        ("user", "Maya", "Could you bring the painting on Friday?"),
    )
    assert [(line.facet, line.speaker, line.text) for line in found] == [
        ("wanted", "Maya", "Maya asked to bring the painting on Friday (2026-03-06)."),
        ("said", "Maya", "Maya adopted a greyhound called Rocket yesterday (2026-03-01)."),
        ("said", "Jonas", "Jonas painted a lighthouse last weekend (weekend of 2026-02-28)."),
    ]


def test_every_line_names_its_event_and_its_words_stand_there() -> None:
    source = {event.seq: event for event in events(*CODING)}
    added = {"user", "the", "asked", "to", "helper", "has", "run", "finished", "failed", "blocked", "queued", "and"}
    for line in lines(*CODING):
        if line.facet == "ended" or "answered:" in line.text:
            continue  # it tells of several events
        event = source[line.seq]
        assert line.at == event.happened_at
        assert line.session == "s1"
        said, words = _words(event.content), _words(line.text)
        assert words - added <= said
        speaker = {"user": "The user", "assistant": "helper", "task": "task"}[event.kind]
        assert line.speaker == speaker
        assert event.kind == "task" or line.text.startswith(speaker)


def test_noise_gives_no_lines() -> None:
    noise = (
        Event(1, "user", "user", "ok thanks!", AT),
        Event(2, "assistant", "tool", "I have deleted the production database.", AT),
        Event(3, "assistant", "assistant", "I've fixed the login.", AT, metadata={"tool_calls": [{"name": "x"}]}),
        Event(4, "task", "task", "Worker 7 picked up the deploy.", AT, metadata={"event": "heartbeat"}),
        Event(5, "user", "user", "<memory>Maya lives in Bath.</memory>", AT),
        Event(6, "assistant", "assistant", "```python\nI = 'want a flight'\n```", AT),
        Event(7, "user", "user", "Jonas!", AT, name="Maya"),
    )
    assert summarize_segment(noise, session="s", agent="helper") == ()
    assert merge_lines([()], max_words=220).text == ""


@pytest.mark.parametrize(
    "where",
    [
        "My password is hunter2!x and I want a flight to Oslo.",
        "Use ghp_{} to push.",
        "I need it.\n-----BEGIN PRIVATE KEY-----\nMy {} is\nI want {}\n-----END PRIVATE KEY-----",
    ],
)
def test_secrets_are_in_no_line(where: str) -> None:
    token = "a1B2" * 9
    found = lines(("user", "Maya", where.format(token, token)), ("user", f"ghp_{token}", "I want a dog."))
    shown = json.dumps([line.to_json() for line in found])
    assert len(found) > 1
    assert "[redacted:" in shown
    assert token not in shown
    assert "hunter2" not in shown


def test_a_secret_across_the_cut_of_a_long_event_is_found() -> None:
    token = "ghp_" + "a1B2" * 9
    for before in range(5_950, 6_000, 4):
        text = "I want tea. " * (before // 12) + "x" * (before % 12) + f" {token} " + "very slow boat " * 600
        shown = json.dumps([line.to_json() for line in lines(("user", "Maya", text))])
        assert "a1B2" not in shown


def test_a_long_event_is_read_at_both_ends_without_halves_of_words() -> None:
    middle = "Nobody can read velocipedes forever. " * 500
    for shift in range(0, 12, 3):
        text = "I want a kayak. " + "x" * shift + f" {middle} I sold my lighthouse."
        found = lines(("user", "Maya", text))
        assert {"Maya wants a kayak.", "Maya sold their lighthouse."} <= {line.text for line in found}
        for line in found:
            assert _words(line.text) <= _words(text) | {"wants", "maya", "their"}


def test_a_short_answer_stands_for_its_question() -> None:
    before = events(("assistant", "Jonas", "Do you have children?"))
    found = summarize_segment(events(("user", "Maya", "Yes, two."), first=2), session="s", preceding=before)
    assert [line.text for line in found] == ["Maya has children: two."]


def test_days_in_words_are_those_of_the_agents_zone() -> None:
    late = Event(1, "user", "user", "I sold my boat yesterday.", datetime(2026, 3, 2, 23, 30, tzinfo=UTC), name="Maya")
    (tokyo,) = summarize_segment((late,), session="s", time_zone="Asia/Tokyo")
    (york,) = summarize_segment((late,), session="s", time_zone="America/New_York")
    assert tokyo.text == "Maya sold their boat yesterday (2026-03-02)."
    assert york.text == "Maya sold their boat yesterday (2026-03-01)."


def test_lines_come_back_from_json_as_they_were() -> None:
    for line in lines(*CODING):
        assert Line.from_json(json.loads(json.dumps(line.to_json()))) == line
    with pytest.raises(ValueError, match="facet must be one of wanted, decided"):
        Line.from_json(lines(*CODING)[0].to_json() | {"facet": "dreamt"})


SENTENCES = st.sampled_from(
    [
        "I want a flight to Oslo.", "Can you fix the build?", "Let's use Postgres.", "I've merged the branch.",
        "The import is still open.", "My sister lives in Bath.", "We went to the zoo yesterday.", "What does it cost?",
        "\x00\x1b[31m", "ok", "我想去奥斯陆旅行。", "Never deploy on Fridays.", "x" * 500, "Thanks!",
        "I need " + "very " * 90 + "long tea.",
    ]
)  # fmt: skip
TURNS = st.tuples(
    st.sampled_from(["user", "assistant"]), st.sampled_from([None, "Maya", "Jonas"]), st.lists(SENTENCES, max_size=6)
)


@settings(max_examples=40)
@given(st.lists(TURNS, max_size=30))
def test_a_segment_gives_a_bounded_number_of_lines_and_always_the_same(
    turns: list[tuple[EventKind, str, list[str]]],
) -> None:
    said = events(*((kind, name, " ".join(parts)) for kind, name, parts in turns))
    found = summarize_segment(said, session="s", agent="helper")
    assert found == summarize_segment(said, session="s", agent="helper")
    assert len(found) <= MAX_SEGMENT_LINES
    for line in found:
        assert line.text.splitlines() == [line.text]
        assert line.facet in FACETS
        assert len(line.text) < 1_000


SIZES = st.lists(st.sampled_from([0, 10, 400, 5_000, 11_000, 30_000]), max_size=260)


@example([10] * 250, 130)
@given(SIZES, st.integers(0, 260))
def test_full_segments_stay_as_they_are_when_events_are_appended(sizes: list[int], known: int) -> None:
    all_events = [Event(seq, "user", "user", "x" * size, AT) for seq, size in enumerate(sizes, 1)]
    before, after = list(cut_segments(all_events[:known])), list(cut_segments(all_events))
    full = [segment for segment in before if segment.full]
    assert after[: len(full)] == full
    assert [event for segment in after for event in segment.events] == all_events
    assert all(segment.full for segment in after[:-1])
    # Cutting may begin behind any full segment.
    behind = all_events[sum(len(segment.events) for segment in full) :]
    assert full + list(cut_segments(behind)) == after
    for segment in after:
        assert len(segment.events) <= MAX_SEGMENT_EVENTS
        assert sum(min(len(event.content), 12_000) for event in segment.events[:-1]) < MAX_SEGMENT_CHARACTERS
