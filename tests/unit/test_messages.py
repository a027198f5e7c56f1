"""What callers may hand over, and the sentence that they get otherwise."""

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from slowwave.coordination.queue_messages import FLUSH_TASK
from slowwave.errors import InvalidMessage, InvalidName, SlowwaveError, TooLarge
from slowwave.messages import (
    FLUSH_SESSION,
    KINDS,
    MAX_CONTENT_CHARACTERS,
    MAX_KEY_CHARACTERS,
    MAX_MESSAGES,
    FlushSession,
    Message,
    PromptArrived,
    RecordTurn,
    turn_events,
)
from slowwave.postgres_text import MAX_METADATA_BYTES, clean_text

USER = {"role": "user", "content": "My sister Priya moved to Porto."}
REPLY = {"role": "assistant", "content": "Noted."}


def one(**fields: Any) -> dict[str, Any]:
    events, _ = turn_events([{**USER, **fields}], "k")
    return dict(events[0])


def test_a_turn_becomes_events_with_keys_of_the_call() -> None:
    events, ignored = turn_events([USER, REPLY], "call")
    assert [(e["key"], e["kind"], e["step"]) for e in events] == [("call:0", "user", 1), ("call:1", "assistant", 1)]
    assert ignored == 0


@pytest.mark.parametrize(
    ("roles", "steps"),
    [
        (["user", "assistant", "user", "assistant"], [1, 1, 2, 2]),
        (["assistant", "user"], [0, 1]),
        (["assistant", "assistant"], [1, 1]),
        (["task"], [1]),
    ],
)
def test_a_user_event_begins_a_turn_and_so_does_a_call_without_one(roles: list[str], steps: list[int]) -> None:
    events, _ = turn_events([{"role": role, "content": "x"} for role in roles], "k")
    assert [event["step"] for event in events] == steps


@pytest.mark.parametrize("role", [role for role, kind in KINDS.items() if kind is None])
def test_instructions_and_telemetry_are_counted_and_left_out(role: str) -> None:
    events, ignored = turn_events([{"role": role, "content": "{}"}, USER], "k")
    assert (len(events), ignored) == (1, 1)
    assert events[0]["key"] == "k:1", "a key names the place in the call, whatever is left out"


@pytest.mark.parametrize("content", [None, "", "  \n", [], [{"type": "image_url", "image_url": {"url": "x"}}]])
def test_a_message_without_text_is_left_out(content: Any) -> None:
    assert turn_events([{"role": "assistant", "content": content, "tool_calls": []}], "k") == ([], 1)


def test_parts_of_a_content_are_joined() -> None:
    assert one(content=[{"type": "text", "text": "one"}, {"type": "text", "text": "two"}])["content"] == "one\ntwo"


def test_other_roles_of_chat_apis_are_known_and_kept() -> None:
    assert one(role="human")["kind"] == "user"
    assert one(role="human")["role"] == "human"
    assert "role" not in one(role="user")


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ({"role": "usr", "content": "x"}, "message 1: role must be one of user, "),
        ({"role": ["user"], "content": "x"}, "message 1: role must be one of"),
        ({"content": "x"}, "message 1: role must be one of"),
        ({"role": "user"}, "message 1: content is missing"),
        ({"role": "user", "content": 3}, "message 1: content must be text, null or a list of parts, got 3"),
        ("hello", "message 1: a message is a mapping"),
        (USER | {"at": datetime(2026, 3, 1)}, "must have a time zone"),  # noqa: DTZ001 (the naive time is the point)
        (USER | {"at": "2026-03-01T10:00:00"}, "must have a time zone"),
        (USER | {"at": "yesterday"}, "at must be a time like"),
        (USER | {"at": 1_772_000_000}, "at must be a time like"),
        (USER | {"at": "0001-01-01T00:00:00+00:00"}, "years 1900 to 2999"),
        (USER | {"metadata": ["x"]}, "metadata must be a mapping"),
        (USER | {"metadata": {"x": float("nan")}}, "can't be written as JSON"),
        (USER | {"metadata": {"x": object()}}, "can't be written as JSON"),
        (USER | {"key": ""}, "key must be text"),
        (USER | {"key": "a\0b"}, "can't hold NUL"),
    ],
)
def test_what_cannot_be_recorded_is_refused_with_a_sentence(message: Any, sentence: str) -> None:
    with pytest.raises(InvalidMessage, match=sentence.replace("(", r"\(")):
        turn_events([message], "k")


def test_names_of_speakers_keep_the_rules_of_names() -> None:
    with pytest.raises(InvalidName, match="message 1: name: "):
        one(name="May\0a")


@pytest.mark.parametrize(
    ("fields", "limit"),
    [
        ({"content": "x" * MAX_CONTENT_CHARACTERS}, {"content": "x" * (MAX_CONTENT_CHARACTERS + 1)}),
        ({"key": "k" * MAX_KEY_CHARACTERS}, {"key": "k" * (MAX_KEY_CHARACTERS + 1)}),
        ({"metadata": {"x": "y" * (MAX_METADATA_BYTES - 9)}}, {"metadata": {"x": "y" * (MAX_METADATA_BYTES - 8)}}),
    ],
    ids=["content", "key", "metadata"],
)
def test_limits_hold_to_the_last_character(fields: dict[str, Any], limit: dict[str, Any]) -> None:
    assert one(**fields)
    with pytest.raises(TooLarge, match="has at most"):
        one(**limit)


def test_a_call_has_a_limit_of_messages() -> None:
    assert len(turn_events([USER] * MAX_MESSAGES, "k")[0]) == MAX_MESSAGES
    with pytest.raises(TooLarge, match="at most 100 messages"):
        turn_events([USER] * (MAX_MESSAGES + 1), "k")


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_whatever_text_comes_in_postgres_can_store_what_goes_out(text: str) -> None:
    cleaned = clean_text(text)
    assert "\0" not in cleaned
    assert cleaned.encode().decode() == cleaned
    assert len(cleaned) == len(text)


@given(st.dictionaries(st.text(alphabet=st.characters(exclude_categories=())), st.text(max_size=20), max_size=5))
def test_metadata_is_cleaned_like_text(metadata: dict[str, str]) -> None:
    cleaned = json.dumps(one(metadata=metadata)["metadata"], ensure_ascii=False)
    assert "\\u0000" not in cleaned.replace("\\\\", "")
    cleaned.encode()


def test_times_are_kept_as_utc() -> None:
    local = datetime(2026, 3, 1, 9, 30, tzinfo=timezone(timedelta(hours=2)))
    assert one(at=local)["at"] == one(at="2026-03-01T09:30:00+02:00")["at"] == "2026-03-01T07:30:00+00:00"
    assert datetime.fromisoformat(one(at=local)["at"]) == local.astimezone(UTC)


def test_later_changes_of_a_callers_message_do_not_reach_the_event() -> None:
    metadata = {"mood": "calm"}
    message = {**USER, "metadata": metadata}
    events, _ = turn_events([message], "k")
    message["content"] = "changed"
    metadata["mood"] = "changed"
    assert (events[0]["content"], events[0]["metadata"]) == (USER["content"], {"mood": "calm"})


def test_a_payload_is_read_with_the_same_checks() -> None:
    turn = RecordTurn.model_validate({"agent": "maya", "session": "s", "messages": [USER | {"refusal": None}]})
    assert turn_events(turn.messages, "k") == turn_events([USER], "k")
    assert turn.messages == [Message(**USER)]
    for broken in ({"messages": [{"role": "usr", "content": "x"}]}, {"session": ""}, {"unknown": 1}):
        with pytest.raises((ValidationError, SlowwaveError)):
            RecordTurn.model_validate({"agent": "maya", "session": "s", "messages": [USER]} | broken)
    with pytest.raises((ValidationError, SlowwaveError)):
        PromptArrived.model_validate({"agent": "", "session": "s"})


def test_the_flush_message_is_the_one_that_an_offer_pushes() -> None:
    assert FLUSH_SESSION == FLUSH_TASK
    # `offer` sends its arguments by position.
    assert list(FlushSession.model_fields) == ["tenant", "agent", "session", "ticket"]
