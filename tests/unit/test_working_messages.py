"""What may be noted, and the sentence that a caller gets otherwise."""

from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from slowwave.errors import InvalidMessage, InvalidName, SlowwaveError, TooLarge
from slowwave.identity import scope_of
from slowwave.messages import MAX_CONTENT_CHARACTERS
from slowwave.working import MAX_TTL_SECONDS, ConsolidateScope, NoteRequest, Remember, check_note

NOTE = NoteRequest(agent="atlas", content="Maya lives in Lisbon.")


def test_what_postgres_cannot_keep_is_replaced() -> None:
    assert check_note(replace(NOTE, content="a\0b\ud800"))[0] == "a\ufffdb\ufffd"


def test_a_time_is_told_in_utc() -> None:
    assert check_note(replace(NOTE, at="2026-03-03T09:30:00+01:00"))[1] == "2026-03-03T08:30:00+00:00"


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        ({"content": "  "}, InvalidMessage, "not empty"),
        ({"content": None}, InvalidMessage, "must be text"),
        ({"content": "x" * (MAX_CONTENT_CHARACTERS + 1)}, TooLarge, "at most 100,000 characters"),
        ({"importance": 1.1}, InvalidMessage, "from 0 to 1"),
        ({"importance": float("nan")}, InvalidMessage, "from 0 to 1"),
        ({"importance": True}, InvalidMessage, "from 0 to 1"),
        ({"importance": "high"}, InvalidMessage, "from 0 to 1"),
        ({"type": "rumour"}, InvalidMessage, "type must be one of fact, preference"),
        ({"ttl_seconds": 0}, InvalidMessage, "more than 0"),
        ({"ttl_seconds": MAX_TTL_SECONDS + 1}, InvalidMessage, "at most 31,536,000"),
        ({"ttl_seconds": float("nan")}, InvalidMessage, "more than 0"),
        ({"session": ""}, InvalidName, "can't be empty"),
        ({"at": "yesterday"}, InvalidMessage, "must be a time"),
    ],
)
def test_a_note_that_breaks_a_rule_says_which(wrong: dict[str, Any], error: type[SlowwaveError], words: str) -> None:
    with pytest.raises(error, match=words):
        check_note(replace(NOTE, **wrong))


def test_a_scope_is_the_agents_own_unless_one_is_named() -> None:
    assert scope_of("atlas", None) == ("agent", "atlas")
    assert scope_of("atlas", "room:office") == scope_of(None, "room:office") == ("room", "office")
    with pytest.raises(InvalidName):
        scope_of("atlas", "kitchen")


@pytest.mark.parametrize("payload", [{"content": "x"}, {"agent": "atlas"}, {"agent": "atlas", "content": "x", "y": 1}])
def test_a_payload_of_remember_is_refused_where_something_is_missing_or_unknown(payload: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Remember.model_validate(payload)


@pytest.mark.parametrize(
    "payload", [{"content": ""}, {"importance": 2}, {"scope": "kitchen"}, {"agent": "a\nb"}, {"ttl_seconds": -1}]
)
def test_a_payload_of_remember_keeps_the_limits_of_the_client(payload: dict[str, Any]) -> None:
    with pytest.raises((ValidationError, SlowwaveError)):
        Remember.model_validate({"agent": "atlas", "content": "x"} | payload)


def test_a_pass_names_a_scope_and_a_known_mode() -> None:
    assert ConsolidateScope(scope="team:garden").mode == "working"
    with pytest.raises((ValidationError, SlowwaveError)):
        ConsolidateScope.model_validate({})
    with pytest.raises(ValidationError):
        ConsolidateScope.model_validate({"agent": "atlas", "mode": "rem"})
