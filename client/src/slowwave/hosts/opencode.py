"""The messages of OpenCode, as its client gives them to the plugin: {info: {id, role, time}, parts: [...]}."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from slowwave.hosts.texts import cut, is_recalled


def messages_of(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the text of a message, and each tool call with its outcome; [] for a message in an unknown form."""
    info, parts = given.get("info"), given.get("parts")
    if not isinstance(info, Mapping) or not isinstance(parts, list) or info.get("role") not in {"user", "assistant"}:
        return []
    identity = info.get("id")
    if not isinstance(identity, str):
        return []
    whole = [part for part in parts if isinstance(part, Mapping)]
    texts = [part.get("text") for part in whole if part.get("type") == "text" and not _is_ours(part)]
    text = "\n".join(text for text in texts if isinstance(text, str) and not is_recalled(text))
    at = _moment(info.get("time"))
    made = []
    if text.strip():
        made.append({"role": info["role"], "content": cut(text), "key": f"opencode:{identity}"[:190]} | at)
    for part in whole:
        if part.get("type") == "tool":
            made += [message | at for message in _tool(part)]
    return made


def _is_ours(part: Mapping[str, Any]) -> bool:
    """Return True if a plugin (this one or another) added the part, so no person typed it."""
    return bool(part.get("synthetic") or part.get("ignored"))


def _tool(part: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a finished tool call and its outcome."""
    state, name, identity = part.get("state"), part.get("tool"), part.get("id")
    if not isinstance(state, Mapping) or not isinstance(name, str) or not isinstance(identity, str):
        return []
    if state.get("status") not in {"completed", "error"}:
        return []
    failed = state["status"] == "error"
    told = state.get("error") if failed else state.get("output")
    call, key = part.get("callID"), f"opencode:{identity}"[:180]
    call = call if isinstance(call, str) else identity
    asked = {"id": call, "function": {"name": name, "arguments": state.get("input")}}
    text = told if isinstance(told, str) else json.dumps(told)
    return [
        {"role": "assistant", "content": None, "tool_calls": [asked], "key": key},
        {"role": "tool", "tool_call_id": call, "name": name, "content": cut(text), "is_error": failed}
        | {"key": f"{key}:result"},
    ]


def _moment(time: Any) -> dict[str, str]:
    created = time.get("created") if isinstance(time, Mapping) else None
    if isinstance(created, bool) or not isinstance(created, (int, float)):
        return {}
    try:
        return {"at": datetime.fromtimestamp(created / 1000, UTC).isoformat()}
    except (ValueError, OverflowError, OSError):
        return {}
