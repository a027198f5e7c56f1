"""The rollout file of Codex, which only appends: each line is an item, identified by the offset of its line."""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from slowwave.hosts.texts import cut, is_recalled

# Texts that Codex itself adds to the user's messages.
_NOTES = (
    "<environment_context>",
    "<user_instructions>",
    "<permissions instructions>",
    "<turn_aborted>",
    "<subagent_notification>",
    "<skill>",
    "<INSTRUCTIONS>",
    "# AGENTS.md instructions",
)
# The prefix that Codex adds to a command's output; the rest of the prefix does not tell the outcome.
_ENDED = re.compile(r"(?:[^\n]+\n){0,4}?(Process exited with code (-?\d+))\n(?:[^\n]+\n){0,4}?Output:\n")
_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
_RESULTS = ("function_call_output", "custom_tool_call_output")


def message_of(line: Mapping[str, Any], begin: int, session: str) -> dict[str, Any] | None:
    """Return the message of a line, or None if the line holds no message and no tool call."""
    item = line.get("payload")
    if line.get("type") != "response_item" or not isinstance(item, Mapping):
        return None
    kind = item.get("type")
    if kind == "message":
        made = _spoken(item)
    elif kind in _CALLS:
        made = _call(item)
    else:
        made = _result(item) if kind in _RESULTS else None
    if made is None:
        return None
    made["key"] = f"codex:{session}:{begin}"
    return made | ({"at": line["timestamp"]} if isinstance(line.get("timestamp"), str) else {})


def _spoken(item: Mapping[str, Any]) -> dict[str, Any] | None:
    role, parts = item.get("role"), item.get("content")
    if role not in {"user", "assistant"} or not isinstance(parts, list):
        return None
    texts = [part.get("text") for part in parts if isinstance(part, Mapping)]
    said = [text for text in texts if isinstance(text, str) and not is_recalled(text)]
    if role == "user":
        said = [text for text in said if not text.lstrip().startswith(_NOTES)]
    text = "\n".join(said)
    return {"role": role, "content": cut(text)} if text.strip() else None


def _call(item: Mapping[str, Any]) -> dict[str, Any] | None:
    asked = next((item[name] for name in ("arguments", "input", "action") if item.get(name) is not None), None)
    name = item.get("name") or "shell"
    call = {"id": _text(item.get("call_id")), "function": {"name": name, "arguments": asked}}
    return {"role": "assistant", "content": None, "tool_calls": [call]} if isinstance(name, str) else None


def _result(item: Mapping[str, Any]) -> dict[str, Any]:
    output, failed = item.get("output"), False
    if isinstance(output, str) and output.startswith("{"):
        with suppress(ValueError, RecursionError):
            output = json.loads(output)
    if isinstance(output, Mapping):
        details = output.get("metadata")
        code = details.get("exit_code") if isinstance(details, Mapping) else None
        failed = output.get("success") is False or (isinstance(code, int) and code != 0)
        output = next((output[name] for name in ("output", "content") if output.get(name) is not None), "")
    if isinstance(output, list):
        output = "\n".join(_text(part.get("text")) for part in output if isinstance(part, Mapping))
    text = output if isinstance(output, str) else json.dumps(output)
    if ended := _ENDED.match(text):
        failed, text = int(ended[2]) != 0, f"{ended[1]}\n{text[ended.end() :]}"
    return {"role": "tool", "content": cut(text), "tool_call_id": _text(item.get("call_id")), "is_error": failed}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
