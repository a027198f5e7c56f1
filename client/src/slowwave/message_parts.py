"""Parse the parts of a chat message: its text, its tool calls, tool results, and parts without text.

The parser reads two forms: OpenAI's (`tool_calls` beside the content, results as messages of the role `tool`) and
Anthropic's (`tool_use` and `tool_result` among the parts of the content). It also reads LangChain's short form of a
call, {"name", "args", "id"}.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from slowwave.errors import InvalidMessage, TooLarge, shown

MAX_TOOL_PARTS = 200
"""The most calls and results of one message. Models call a handful at once."""

_INTERNAL = frozenset(("thinking", "redacted_thinking", "reasoning", "reasoning_content"))
_TEXT_KEYS = ("text", "refusal", "transcript")
_CAPTION_KEYS = ("alt_text", "alt", "caption", "description", "title", "transcript", "filename", "file_name")
_MEDIA = ("image", "audio", "video", "file")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call. arguments: a mapping, or JSON as text; call_id: the host's id of the call, or None."""

    name: str
    call_id: str | None
    arguments: Any


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a tool call. error: True if the host says that the call failed."""

    name: str | None
    call_id: str | None
    text: str
    error: bool = False


@dataclass(slots=True)
class Parts:
    """The parts of one message. left_out: the number of parts without recordable text, by type."""

    texts: list[str] = field(default_factory=list)
    results: list[ToolResult] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)

    @property
    def text(self) -> str:
        return "\n".join(self.texts)


def parts_of(content: Any, fields: Mapping[str, Any], *, by_tool: bool) -> Parts:
    """Parse a message's content, and the calls beside it. by_tool: True if the message is a tool's answer.

    Raises InvalidMessage and TooLarge, which name the field.
    """
    parts = _content(content)
    if by_tool:
        name, failed = fields.get("name"), fields.get("is_error") or fields.get("status") == "error"
        call_id = _text("tool_call_id", fields.get("tool_call_id"))
        result = ToolResult(_text("name", name), call_id, parts.text, bool(failed))
        parts.texts, parts.results = [], [result, *parts.results]
    parts.calls += _calls(fields)
    if len(parts.calls) + len(parts.results) > MAX_TOOL_PARTS:
        number = len(parts.calls) + len(parts.results)
        raise TooLarge(f"a message has at most {MAX_TOOL_PARTS} tool calls and results, this one has {number}")
    return parts


def _content(content: Any) -> Parts:
    parts = Parts()
    if content is None:
        return parts
    if isinstance(content, str):
        parts.texts.append(content)
        return parts
    if not isinstance(content, Sequence) or isinstance(content, (bytes, bytearray)):
        raise InvalidMessage(f"content must be text, null or a list of parts, got {shown(content)}")
    for place, part in enumerate(content, start=1):
        if isinstance(part, str):
            parts.texts.append(part)
        elif isinstance(part, Mapping):
            _add(parts, part)
        else:
            raise InvalidMessage(f"content: part {place} must be text or a mapping, got {shown(part)}")
    return parts


def _add(parts: Parts, part: Mapping[str, Any]) -> None:
    kind = kind_of(part)
    if kind.endswith("tool_use"):
        parts.calls.append(_call(part, "content: a tool_use part"))
    elif kind.endswith("tool_result"):
        inside = _content(part.get("content"))
        parts.left_out.update(inside.left_out)
        name, call_id = _text("name", part.get("name")), _text("tool_use_id", part.get("tool_use_id"))
        parts.results.append(ToolResult(name, call_id, inside.text, bool(part.get("is_error"))))
    elif kind not in _INTERNAL and (text := _text_in(part)) is not None:
        parts.texts.append(text)
    elif mark := mark_of(part):
        parts.texts.append(mark)
    else:
        parts.left_out[kind] += 1


def kind_of(part: Mapping[str, Any]) -> str:
    """Return the type of a part."""
    kind = part.get("type")
    return kind[:40] if isinstance(kind, str) and kind else "unknown"


def mark_of(part: Mapping[str, Any]) -> str:
    """Return the text of a part that is not text, such as "[image: a red bike]", or "" without a description."""
    kind = kind_of(part)
    caption = "" if kind in _INTERNAL else _caption(part)
    return f"[{next((medium for medium in _MEDIA if medium in kind), kind)}: {caption}]" if caption else ""


def _text_in(part: Mapping[str, Any]) -> str | None:
    for key in _TEXT_KEYS:
        text = part.get(key)
        if isinstance(text, Mapping):
            text = text.get("value")
        if isinstance(text, str):
            return text
    return None


def _caption(part: Mapping[str, Any]) -> str:
    """Return the description of an image or a file, from the part itself or one level below."""
    for holder in (part, *(value for value in part.values() if isinstance(value, Mapping))):
        for key in _CAPTION_KEYS:
            if isinstance(text := holder.get(key), str) and text.strip():
                return " ".join(text.split())
    return ""


def _calls(fields: Mapping[str, Any]) -> list[ToolCall]:
    given = fields.get("tool_calls") or ()
    if isinstance(given, (str, Mapping)) or not isinstance(given, Sequence):
        raise InvalidMessage(f"tool_calls must be a list of mappings, got {shown(given)}")
    calls = [_call(one, f"tool_calls: item {place}") for place, one in enumerate(given, start=1)]
    if old := fields.get("function_call"):
        calls.append(_call(old, "function_call"))
    return calls


def _call(given: Any, where: str) -> ToolCall:
    if not isinstance(given, Mapping):
        raise InvalidMessage(f'{where} must be a mapping like {{"name": …, "arguments": …}}, got {shown(given)}')
    inner = next((given[key] for key in ("function", "custom") if isinstance(given.get(key), Mapping)), given)
    name = inner.get("name")
    if not isinstance(name, str) or not name.strip():
        raise InvalidMessage(f"{where} must name its tool, got {shown(name)}")
    arguments = next((inner[key] for key in ("arguments", "args", "input") if inner.get(key) is not None), None)
    return ToolCall(name, _text("id of a tool call", given.get("id")), arguments)


def _text(what: str, value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise InvalidMessage(f"{what} must be text, got {shown(value)}")
    return value or None
