"""Tool calls and tool results as events: one event for each, beside the event of the message's text.

    role         name                  content                                         metadata
    tool_call    tool cancel_booking   cancel_booking(booking_id="ZX4", refund=true)   {"tool", "tool_call_id"}
    tool         tool cancel_booking   status: cancelled                               {"tool", "tool_call_id", "error"}

Both have the kind `tool`. `error` is true if the host says that the call failed; a result whose text only looks like an
error is not marked. If a result's call is unknown, `tool` is missing; if the host gives no id, `tool_call_id` is
missing.
"""

from collections.abc import Mapping

from slowwave.event_json import EventJson
from slowwave.message_parts import Parts, ToolCall, ToolResult
from slowwave.postgres_text import clean_text
from slowwave.prompt_notice import NOTICE
from slowwave.settings import Tools
from slowwave.tool_text import call_text, result_text, tool_name

TOOL_CALL = "tool_call"
"""The role of a call; the role of a result is `tool`."""

MAX_ID_CHARACTERS = 200
UNKNOWN = "tool"


def with_tools(
    spoken: EventJson, said: list[EventJson], parts: Parts, tools: Tools, names: dict[str, str]
) -> list[EventJson]:
    """Return the events of a message: results, the text, calls.

    spoken: the event of the text, whose key, time and metadata all events share; said: a list with this event, or an
    empty list if the message has no text. The first event's metadata counts the parts that are not recorded.
    """
    left_out = dict(parts.left_out)
    results = [result for result in parts.results if result.text.strip() and NOTICE not in result.text]
    if recalled := sum(NOTICE in result.text for result in parts.results):
        # The agent searched its own memory: a recalled memory must not become evidence for itself.
        left_out["recalled"] = recalled
    if tools.record:
        made = [_result_event(spoken, result, names, tools) for result in results]
        calls = [_call_event(spoken, call, names, tools) for call in parts.calls]
        events = [*made, *said, *calls]
    else:
        left_out |= {name: len(of) for name, of in (("tool_result", results), (TOOL_CALL, parts.calls)) if of}
        events = said
    first = said or events[:1]
    for event in first:
        if left_out:
            event["metadata"] = {**event.get("metadata", {}), "left_out": left_out}
    others = [event for event in events if event is not first[0]]
    for number, event in enumerate(others, start=1):
        event["key"] = f"{spoken['key']}:tool{number}"
    return events


def _call_event(spoken: EventJson, call: ToolCall, names: dict[str, str], tools: Tools) -> EventJson:
    name = tool_name(call.name) or UNKNOWN
    if call.call_id is not None:
        names[call.call_id] = name
    return _tool_event(spoken, TOOL_CALL, call_text(name, call.arguments, tools.max_characters), name, call.call_id)


def _result_event(spoken: EventJson, result: ToolResult, names: Mapping[str, str], tools: Tools) -> EventJson:
    name = tool_name(result.name) or names.get(result.call_id or "")
    event = _tool_event(spoken, "tool", result_text(result.text, tools.max_characters), name, result.call_id)
    if result.error:
        event["metadata"]["error"] = True
    return event


def _tool_event(spoken: EventJson, role: str, text: str, name: str | None, call_id: str | None) -> EventJson:
    metadata = dict(spoken.get("metadata", {}))
    if name is not None:
        metadata["tool"] = clean_text(name)
    if call_id is not None:
        metadata["tool_call_id"] = clean_text(call_id)[:MAX_ID_CHARACTERS]
    event: EventJson = {
        "key": spoken["key"],
        "kind": "tool",
        "step": 0,
        "content": clean_text(text),
        "role": role,
        "name": UNKNOWN if name is None else f"tool {clean_text(name)}",
        "metadata": metadata,
    }
    if "at" in spoken:
        event["at"] = spoken["at"]
    return event
