"""The conversation file of Claude Code: each line is a message or a part of one, with its own `uuid`."""

from collections.abc import Mapping
from typing import Any

from slowwave.hosts.texts import cut, is_recalled

_ROLES = ("user", "assistant")
# Nobody said these texts: a command's output, a note of the host, or a placeholder for a shortened conversation.
_FLAGS = ("isSidechain", "isMeta", "isCompactSummary", "isApiErrorMessage", "isVisibleInTranscriptOnly")
_NOTES = (
    "<command-name>",
    "<command-message>",
    "<local-command-",
    "<bash-input>",
    "<bash-stdout>",
    "<system-reminder>",
    "[Request interrupted by user",
)


def message_of(line: Mapping[str, Any], _begin: int, _session: str) -> dict[str, Any] | None:
    """Return the message of a line, or None if the line holds no message and no tool call."""
    role, identity, inner = line.get("type"), line.get("uuid"), line.get("message")
    if role not in _ROLES or not isinstance(identity, str) or not isinstance(inner, Mapping):
        return None
    if any(line.get(flag) for flag in _FLAGS):
        return None
    content = inner.get("content")
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
    kept = [part for raw in parts if isinstance(raw, Mapping) and (part := _part(raw, role))]
    if not kept:
        return None
    message = {"role": role, "content": kept, "key": f"claude-code:{identity}"[:190]}
    return message | ({"at": line["timestamp"]} if isinstance(line.get("timestamp"), str) else {})


def _part(part: Mapping[str, Any], role: str) -> dict[str, Any] | None:
    kind = part.get("type")
    if kind == "text":
        text = part.get("text")
        if not isinstance(text, str) or is_recalled(text) or (role == "user" and text.lstrip().startswith(_NOTES)):
            return None
        return {"type": "text", "text": cut(text)}
    if kind == "tool_result":
        content = part.get("content")
        return {**part, "content": cut(content) if isinstance(content, str) else content}
    return dict(part) if kind == "tool_use" else None
