"""The events that each host sends to a hook, and the answers that the host understands.

    host          begins          a prompt             records
    claude-code   SessionStart    UserPromptSubmit     Stop, PreCompact, SessionEnd, PostToolUse, PostToolUseFailure
    codex         SessionStart    UserPromptSubmit     Stop, PreCompact, SessionEnd, PostToolUse
    cursor        sessionStart    (takes no context)   beforeSubmitPrompt, afterAgentResponse, postToolUse,
                                                       postToolUseFailure, preCompact, sessionEnd
    opencode      (with prompt)   prompt               messages

Claude Code and Codex name the file of the conversation, and the helper reads its new lines. Cursor and OpenCode send
the messages themselves. Other events are ignored.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypedDict

from slowwave.hosts.repository import repository_of

Payload = Mapping[str, Any]
Trigger = Literal["compaction", "reset"]

HOSTS = ("claude-code", "codex", "opencode", "cursor")
MAX_PROMPT_CHARACTERS = 2000
MAX_TEXT_CHARACTERS = 100_000
MAX_ID_CHARACTERS = 120


class Request(TypedDict, total=False):
    """A request of the hook to the helper.

    kind: "start" and "prompt" are answered with a context; "record" is not answered. again: True if the host has just
    compacted its conversation. transcript: the path of the conversation file. messages: the messages, if the host sends
    them.
    boost: True if a person wrote. taken: the time at which the hook received the event.
    """

    kind: Literal["start", "prompt", "record"]
    host: str
    agent: str
    branch: str | None
    session: str
    again: bool
    query: str
    transcript: str
    messages: list[dict[str, Any]]
    trigger: Trigger | None
    boost: bool
    taken: str


def read_event(host: str, event: str, payload: Payload, *, agent: str | None, apart: bool, cwd: str) -> Request | None:
    """Convert a host's event to a request; None for an event that needs no work. cwd: the hook's working directory."""
    make = _EVENTS.get(host, {}).get(event)
    session = _text(payload.get("session_id") or payload.get("conversation_id") or payload.get("sessionID"))
    if make is None or not session or len(session) > MAX_ID_CHARACTERS or not session.isprintable():
        return None
    if host == "claude-code" and "cursor_version" in payload:
        # If a person allows it, Cursor also runs Claude Code's hooks; its own hooks already record these events.
        return None
    request = make(payload, session)
    if request is None:
        return None
    repository = repository_of(_folder(payload) or cwd)
    request["host"], request["session"] = host, session
    request["agent"], request["branch"] = agent or repository.agent(apart=apart), repository.branch
    return request


def answer(host: str, event: str, text: str) -> str:
    """Return the line that the host reads. It is valid for any text, and "" for no answer."""
    if host in {"claude-code", "codex"}:
        if not text:
            return ""
        return json.dumps({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}})
    if host == "cursor":
        if event == "beforeSubmitPrompt":
            return json.dumps({"continue": True})
        return json.dumps({"additional_context": text} if text and event == "sessionStart" else {})
    return json.dumps({"context": text}) if host == "opencode" else ""


def _folder(payload: Payload) -> str:
    roots = payload.get("workspace_roots")
    first = roots[0] if isinstance(roots, list) and roots else ""
    return _text(payload.get("cwd") or payload.get("directory") or first)


def _begins(payload: Payload, _session: str) -> Request:
    return {"kind": "start", "again": payload.get("source") in {"compact", "clear"}}


def _asks(payload: Payload, _session: str) -> Request | None:
    prompt = _text(payload.get("prompt"))
    return {"kind": "prompt", "query": prompt[:MAX_PROMPT_CHARACTERS]} if prompt.strip() else None


def _reads(trigger: Trigger | None) -> Callable[[Payload, str], Request | None]:
    def make(payload: Payload, _session: str) -> Request | None:
        file = _text(payload.get("transcript_path"))
        return {"kind": "record", "transcript": file, "trigger": trigger} if file or trigger else None

    return make


def _ends(trigger: Trigger) -> Callable[[Payload, str], Request]:
    return lambda _payload, _session: {"kind": "record", "trigger": trigger}


def _cursor_prompt(payload: Payload, session: str) -> Request | None:
    prompt = _text(payload.get("prompt"))
    if not prompt.strip():
        return None
    message = {"role": "user", "content": prompt[:MAX_TEXT_CHARACTERS], "key": _key(payload, session, "prompt")}
    return {"kind": "record", "boost": True, "messages": [message]}


def _cursor_reply(payload: Payload, session: str) -> Request | None:
    text = _text(payload.get("text"))
    if not text.strip():
        return None
    # One generation has several replies around its tool calls, and the replies have no ids.
    from hashlib import blake2b  # noqa: PLC0415 (few events need it)

    digest = blake2b(text.encode(errors="replace"), digest_size=8).hexdigest()
    key = _key(payload, session, f"reply:{digest}")
    return {
        "kind": "record",
        "messages": [{"role": "assistant", "content": text[:MAX_TEXT_CHARACTERS], "key": key}],
    }


def _cursor_tool(payload: Payload, session: str) -> Request | None:
    """Convert a tool call and its outcome: `tool_output`, or `error_message` of a failed call."""
    name, call = _text(payload.get("tool_name")), _text(payload.get("tool_use_id"))
    if not name or not call:
        return None
    failed = "error_message" in payload
    told = payload.get("error_message") if failed else payload.get("tool_output")
    text = told if isinstance(told, str) else json.dumps(told)
    key = _key(payload, session, f"tool:{call[:MAX_ID_CHARACTERS]}")
    asked = {"id": call, "function": {"name": name, "arguments": payload.get("tool_input")}}
    result = {"role": "tool", "tool_call_id": call, "name": name, "content": text[:MAX_TEXT_CHARACTERS]}
    return {
        "kind": "record",
        "messages": [
            {"role": "assistant", "content": None, "tool_calls": [asked], "key": key},
            result | {"is_error": failed, "key": f"{key}:result"},
        ],
    }


def _opencode_messages(payload: Payload, _session: str) -> Request:
    messages = payload.get("messages")
    trigger = payload.get("trigger")
    return {
        "kind": "record",
        "messages": [one for one in messages if isinstance(one, dict)] if isinstance(messages, list) else [],
        "trigger": trigger if trigger in {"compaction", "reset"} else None,
    }


def _key(payload: Payload, session: str, what: str) -> str:
    generation = _text(payload.get("generation_id"))[:MAX_ID_CHARACTERS] or session
    return f"cursor:{generation}:{what}"[:190]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


_EVENTS: Mapping[str, Mapping[str, Callable[[Payload, str], Request | None]]] = {
    "claude-code": {
        "SessionStart": _begins,
        "UserPromptSubmit": _asks,
        "Stop": _reads(None),
        "PostToolUse": _reads(None),
        "PostToolUseFailure": _reads(None),
        "PreCompact": _reads("compaction"),
        "SessionEnd": _reads("reset"),
    },
    "codex": {
        "SessionStart": _begins,
        "UserPromptSubmit": _asks,
        "Stop": _reads(None),
        "PostToolUse": _reads(None),
        "PreCompact": _reads("compaction"),
        "SessionEnd": _reads("reset"),
    },
    "opencode": {"prompt": _asks, "messages": _opencode_messages},
    "cursor": {
        "sessionStart": _begins,
        "beforeSubmitPrompt": _cursor_prompt,
        "afterAgentResponse": _cursor_reply,
        "postToolUse": _cursor_tool,
        "postToolUseFailure": _cursor_tool,
        "preCompact": _ends("compaction"),
        "sessionEnd": _ends("reset"),
    },
}
