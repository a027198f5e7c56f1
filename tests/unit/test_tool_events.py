"""Calls of tools and their results: the events that they become, in the forms of OpenAI, Anthropic and LangChain."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.errors import InvalidMessage, TooLarge
from slowwave.event_json import EventJson
from slowwave.message_parts import MAX_TOOL_PARTS
from slowwave.messages import MAX_CONTENT_CHARACTERS, turn_events
from slowwave.recall.rendering import Block, fenced
from slowwave.settings import Tools
from slowwave.tool_text import bounded, call_text, result_text, tool_name

USER = {"role": "user", "content": "Cancel ZX4."}
CALL = {
    "id": "c1",
    "type": "function",
    "function": {"name": "cancel", "arguments": '{"booking_id": "ZX4", "refund": true}'},
}
CALLED = {"role": "assistant", "content": None, "tool_calls": [CALL]}
ANSWER = {"role": "tool", "tool_call_id": "c1", "content": '{"status": "cancelled", "items": [{"price": 12.5}]}'}


def events_of(*messages: Any, tools: Tools | None = None) -> list[EventJson]:
    return turn_events(messages, "k", tools or Tools())[0]


def test_calls_and_results_in_openais_form_are_events() -> None:
    _, call, result = events_of(USER, CALLED, ANSWER)
    assert call == {
        "key": "k:1",
        "kind": "tool",
        "step": 1,
        "role": "tool_call",
        "name": "tool cancel",
        "content": 'cancel(booking_id="ZX4", refund=true)',
        "metadata": {"tool": "cancel", "tool_call_id": "c1"},
    }
    assert (result["role"], result["name"]) == ("tool", "tool cancel")
    assert result["content"] == 'status: cancelled\nitems: [{"price": 12.5}]'
    assert result["metadata"] == {"tool": "cancel", "tool_call_id": "c1"}


def test_calls_and_results_in_anthropics_form_are_events() -> None:
    used = {"type": "tool_use", "id": "t1", "name": "cancel", "input": {"booking_id": "ZX4"}}
    failed = {
        "type": "tool_result",
        "tool_use_id": "t1",
        "is_error": True,
        "content": [{"type": "text", "text": "No."}],
    }
    events = events_of(
        USER,
        {"role": "assistant", "content": [{"type": "text", "text": "I cancel it."}, used]},
        {"role": "user", "content": [failed, {"type": "text", "text": "And?"}]},
    )
    assert [(e["key"], e["kind"], e["step"], e["content"]) for e in events] == [
        ("k:0", "user", 1, "Cancel ZX4."),
        ("k:1", "assistant", 1, "I cancel it."),
        ("k:1:tool1", "tool", 1, 'cancel(booking_id="ZX4")'),
        ("k:2:tool1", "tool", 1, "No."),
        ("k:2", "user", 2, "And?"),
    ]
    assert events[3]["metadata"] == {"tool": "cancel", "tool_call_id": "t1", "error": True}


def test_a_message_with_results_alone_begins_no_turn() -> None:
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "done"}
    assert [event["step"] for event in events_of({"role": "user", "content": [result]})] == [0]
    assert [event["step"] for event in events_of(CALLED, ANSWER)] == [0, 0]
    assert [event["step"] for event in events_of(CALLED, ANSWER, {"role": "assistant", "content": "Done."})] == [
        1,
        1,
        1,
    ]


@pytest.mark.parametrize(
    "call",
    [
        {"name": "cancel", "args": {"booking_id": "ZX4"}, "id": "c1"},
        {"name": "cancel", "arguments": '{"booking_id": "ZX4"}'},
        {"type": "custom", "id": "c1", "custom": {"name": "cancel", "input": '{"booking_id": "ZX4"}'}},
    ],
)
def test_other_forms_of_a_call_are_read(call: dict[str, Any]) -> None:
    (event,) = events_of({"role": "assistant", "tool_calls": [call]})
    assert event["content"] == 'cancel(booking_id="ZX4")'


def test_the_old_form_of_a_call_is_read() -> None:
    old = {"role": "assistant", "content": None, "function_call": {"name": "cancel", "arguments": "{}"}}
    assert [e["content"] for e in events_of(old, {"role": "function", "name": "cancel", "content": "ok"})] == [
        "cancel()",
        "ok",
    ]


def test_the_text_of_a_message_keeps_its_key_and_its_metadata() -> None:
    message = CALLED | {"content": "One moment.", "key": "own", "metadata": {"mood": "calm"}, "at": "2026-03-01T10:00Z"}
    said, call = events_of(message)
    assert (said["key"], call["key"]) == ("own", "own:tool1")
    assert said["metadata"] == {"mood": "calm"}
    assert call["metadata"] == {"mood": "calm", "tool": "cancel", "tool_call_id": "c1"}
    assert said["at"] == call["at"]


def test_an_error_is_marked_if_the_host_says_so() -> None:
    assert "error" not in events_of(ANSWER)[0]["metadata"]
    for said in ({"is_error": True}, {"status": "error"}):
        assert events_of(ANSWER | said)[0]["metadata"]["error"] is True


def test_what_a_tool_recalled_from_this_memory_is_left_out() -> None:
    recalled = fenced([Block("Memories", ["- Maya lives in Porto."])])
    assert turn_events([ANSWER | {"content": recalled}], "k") == ([], 1)
    result = {"type": "tool_result", "tool_use_id": "t1", "content": recalled}
    (event,) = events_of({"role": "user", "content": [result, {"type": "text", "text": "And?"}]})
    assert event["metadata"] == {"left_out": {"recalled": 1}}


def test_tools_that_are_off_are_counted() -> None:
    events, ignored = turn_events([USER, CALLED | {"content": "Wait."}, ANSWER], "k", Tools(record=False))
    assert [event["kind"] for event in events] == ["user", "assistant"]
    assert events[1]["metadata"] == {"left_out": {"tool_call": 1}}
    assert ignored == 1


def test_a_long_result_keeps_its_head_and_its_tail() -> None:
    (event,) = events_of({"role": "tool", "content": "a" * 150_000 + "z" * 200_000}, tools=Tools(max_characters=300))
    assert len(event["content"]) <= 300
    assert event["content"].startswith("aaa")
    assert event["content"].endswith("zzz")
    assert "characters left out …]" in event["content"]


def test_a_long_argument_is_cut_inside_of_its_string() -> None:
    text = call_text("write", {"path": "a.py", "content": "x" * 9000, "mode": "w"}, 2000)
    assert len(text) <= 2000
    assert text.startswith('write(path="a.py", content="xxx')
    assert text.endswith('xxx", mode="w")')


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ('{"note": "one\\ntwo", "gone": null}', "note: one\n  two\ngone: null"),
        ('[{"id": 1}, "two", 3]', '- {"id": 1}\n- two\n- 3'),
        ("{}", "{}"),
        ("{broken", "{broken"),
        ("12.5", "12.5"),
        ("Booked für Zoë", "Booked für Zoë"),
    ],
)
def test_a_result_is_told_in_lines(given: str, told: str) -> None:
    assert result_text(given, 2000) == told


def test_a_name_is_one_bounded_line() -> None:
    assert tool_name("a\nb\0c") == "a b c"
    assert tool_name("n" * 500) == "n" * 100
    assert tool_name(" \n") is None


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        (CALLED | {"tool_calls": "x"}, "tool_calls must be a list of mappings, got 'x'"),
        (CALLED | {"tool_calls": [3]}, "tool_calls: item 1 must be a mapping like"),
        (CALLED | {"tool_calls": [{"function": {}}]}, "tool_calls: item 1 must name its tool, got None"),
        (CALLED | {"tool_calls": [{"name": "x", "id": 3}]}, "id of a tool call must be text, got 3"),
        (CALLED | {"tool_calls": [CALL] * (MAX_TOOL_PARTS + 1)}, "has at most 200 tool calls and results"),
        (ANSWER | {"tool_call_id": 3}, "tool_call_id must be text, got 3"),
        ({"role": "user", "content": [3]}, "content: part 1 must be text or a mapping, got 3"),
    ],
)
def test_what_is_no_call_is_refused_with_a_sentence(message: Any, sentence: str) -> None:
    with pytest.raises(InvalidMessage, match=f"message 1: .*{sentence}"):
        turn_events([message], "k")


def test_parts_without_words_are_counted() -> None:
    parts = [
        {"type": "thinking", "thinking": "The user is hasty."},
        {"type": "text", "text": "Look."},
        {"type": "image_url", "image_url": {"url": "x"}},
        {"type": "image", "alt_text": "a red\nbike"},
        {"type": "file", "file": {"title": "Invoice 12"}},
    ]
    (event,) = events_of({"role": "user", "content": parts})
    assert event["content"] == "Look.\n[image: a red bike]\n[file: Invoice 12]"
    assert event["metadata"] == {"left_out": {"thinking": 1, "image_url": 1}}


@given(st.text(), st.integers(200, 400))
def test_a_text_within_the_limit_is_whole(text: str, limit: int) -> None:
    cut = bounded(text * 30, limit)
    assert len(cut) <= limit
    if len(text * 30) <= limit:
        assert cut == text * 30


_WORDS = st.text(alphabet="abcdefgh ", max_size=40)
_PARTS = st.one_of(
    _WORDS,
    st.fixed_dictionaries({"type": st.just("text"), "text": _WORDS}),
    st.fixed_dictionaries({"type": st.sampled_from(["thinking", "image", "audio", "new"]), "data": _WORDS}),
    st.fixed_dictionaries({"type": st.just("tool_use"), "id": _WORDS, "name": _WORDS, "input": st.just({"x": "y"})}),
    st.fixed_dictionaries({"type": st.just("tool_result"), "tool_use_id": _WORDS, "content": _WORDS | st.integers()}),
    st.integers(),
)
_MESSAGES = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["user", "assistant", "tool", "system", "function", "ai"]),
        "content": st.one_of(_WORDS, st.none(), st.lists(_PARTS, max_size=4)),
    },
    optional={
        "tool_calls": st.lists(st.fixed_dictionaries({"name": _WORDS, "args": st.dictionaries(_WORDS, _WORDS)})),
        "tool_call_id": _WORDS,
    },
)


def _texts(value: Any) -> list[str]:
    """All texts of a message that somebody or a tool said."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for part in value for text in _texts(part)]
    if isinstance(value, dict):
        return [text for key in ("text", "content", "name") for text in _texts(value.get(key))]
    return []


@given(st.lists(_MESSAGES, max_size=6), st.booleans())
def test_no_text_is_lost_without_a_count(messages: list[dict[str, Any]], record: bool) -> None:
    """Every text is recorded, or refused with an error, or counted as left out."""
    try:
        per_message = [turn_events([message], "k", Tools(record=record)) for message in messages]
        together, ignored = turn_events(messages, "k", Tools(record=record))
    except InvalidMessage:
        return
    assert ignored == sum(count for _, count in per_message)
    assert len({event["key"] for event in together}) == len(together)
    for message, (events, left_out) in zip(messages, per_message, strict=True):
        told = "\n".join(event["content"] for event in events)
        counted = left_out or any("left_out" in event.get("metadata", {}) for event in events)
        for text in _texts(message["content"]) + _texts(message.get("tool_calls", [])):
            assert " ".join(text.split()) in " ".join(told.split()) or counted


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(), lambda s: st.lists(s) | st.dictionaries(st.text(), s)
    )
)
def test_any_json_becomes_a_bounded_text(value: Any) -> None:
    assert len(result_text(json.dumps(value), 300)) <= 300
    assert len(call_text("f", json.dumps(value), 300)) <= 300
    assert len(call_text("f", value, 300)) <= 300


def test_a_result_over_the_limit_of_a_message_is_recorded() -> None:
    (event,) = events_of({"role": "tool", "content": "x" * (MAX_CONTENT_CHARACTERS + 1)})
    assert len(event["content"]) <= 2000
    with pytest.raises(TooLarge):
        events_of({"role": "user", "content": "x" * (MAX_CONTENT_CHARACTERS + 1)})
