"""Read the messages of a run of Agno, without history, examples and instructions, and without importing Agno."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any

from slowwave.errors import InvalidMessage, InvalidName
from slowwave.identity import check_name
from slowwave.integrations.media import Described, described, part_of
from slowwave.integrations.safe import digest, is_context, with_left_out
from slowwave.messages import MAX_CONTENT_CHARACTERS, MAX_KEY_CHARACTERS, moment_of
from slowwave.postgres_text import clean_text

PRIVATE = "private"
"""The flag in a session's or a run's `metadata` or `session_state`: such a one is neither read nor recorded."""

_OPEN = (None, False, 0, "", "0", "false", "no")
# Agno appends to a prompt the documents that it found and the dependencies of the run.
_ADDED = re.compile(
    r"\n\n(?:Use the following references from the knowledge base if it helps:\n<references>\n.*</references>"
    r"|<additional context>\n.*</additional context>)\Z",
    re.DOTALL,
)

_MEDIA = {
    "image": ("images", "image_output"),
    "audio": ("audio", "audio_output"),
    "video": ("videos", "video_output"),
    "file": ("files", "file_output"),
}
"""Kinds of parts, and the fields of Agno's messages that hold them."""

SaidMessage = dict[str, Any]
"""{"role", "content", "at" (aware), "key"} and optionally "name" and the fields of tools: what `Memory.turn_completed`
takes."""


def is_private(*holders: object) -> bool:
    """Return True if a session, a run, a run's context or a mapping is marked private."""
    return any(_flagged(part) for holder in holders for part in _parts_of(holder))


def said_in(run: Any) -> list[SaidMessage]:
    """Return what user, agent and tools said in a run, in order; [] for a run of a team member, to whom no user speaks.

    Keys are Agno's own ids of messages, so the copied messages of a fork are repetitions. The result excludes history,
    system messages, examples of `additional_input`, the part of the input that repeats the caller's history, and
    Slowwave's own contexts.
    """
    if getattr(run, "parent_run_id", None) is not None:
        return []
    messages = [message for message in run.messages or () if _is_new(message, _examples(run))]
    prompts = _input_of(run)
    said: list[SaidMessage] = []
    for message, prompt in _spoken(messages, prompts):
        text = _text_of(message.content) if prompt is None else prompt
        if prompt is None and message.role == "user":
            text = _without_additions(text)
        if message.role == "tool":
            text = text or _json(message.content)
        media = _media(message)
        text = media.after(text)
        if (text.strip() or (message.role == "assistant" and message.tool_calls)) and not is_context(text):
            said.append(_said(message, text, media.left_out))
    return said


def key_of(message: Any) -> str:
    """Return the idempotency key for a message of Agno: the message's id."""
    key = f"agno:{message.id}"
    return key if len(key) <= MAX_KEY_CHARACTERS and clean_text(key) == key else f"agno:{digest(key)}"


def prompt_of(run: Any) -> str:
    """Return the last user message in the input of a run, or ""."""
    texts = [text for role, text in _input_of(run) if role == "user"]
    return texts[-1] if texts else ""


def _parts_of(holder: object) -> Iterator[object]:
    if isinstance(holder, Mapping):
        yield holder
        return
    yield getattr(holder, "metadata", None)
    yield getattr(holder, "session_state", None)
    data = getattr(holder, "session_data", None)
    if isinstance(data, Mapping):
        yield data.get("session_state")


def _flagged(part: object) -> bool:
    """Return True if a run is private. Any flag that is not clearly "no" counts: a recording can't be reversed."""
    if not isinstance(part, Mapping):
        return False
    value = part.get(PRIVATE)
    return (value.strip().lower() if isinstance(value, str) else value) not in _OPEN


def _examples(run: Any) -> frozenset[str]:
    return frozenset(message.id for message in getattr(run, "additional_input", None) or ())


def _is_new(message: Any, examples: frozenset[str]) -> bool:
    return (
        message.role in ("user", "assistant", "tool")
        and not message.from_history
        and message.add_to_agent_memory
        and not message.temporary
        and message.id not in examples
    )


def _input_of(run: Any) -> list[tuple[str, str]]:
    """Return the caller's input as (role, text): one prompt, or a conversation that ends with the prompt."""
    content = getattr(getattr(run, "input", run), "input_content", None)
    if isinstance(content, str):
        return [("user", content)]
    given = [content] if _role_of(content) else content if isinstance(content, Sequence) else []
    return [
        (role, _text_of(_field(one, "content"))) for one in given if (role := _role_of(one)) in ("user", "assistant")
    ]


def _spoken(messages: Sequence[Any], given: Sequence[tuple[str, str]]) -> Iterator[tuple[Any, str | None]]:
    """Return the messages from the prompt on, in the caller's words if Agno made the messages from the caller's input.

    Instructions and the caller's history (up to the last reply in its input) come before the prompt and are excluded.
    """
    fresh = max((place + 1 for place, (role, _) in enumerate(given) if role == "assistant"), default=0)
    made: dict[int, int] = {}
    place = 0
    for number, message in enumerate(messages):
        if place < len(given) and _made_from(message, given[place]):
            made[number] = place
            place += 1
    wanted = [number for number, at in made.items() if at >= fresh]
    # If the prompt can't be found, Agno has changed its words: then all new messages of the run belong to the run.
    start = min(wanted) if wanted else max(made, default=-1) + 1
    for number in range(start, len(messages)):
        yield messages[number], given[made[number]][1] if number in made else None


def _made_from(message: Any, given: tuple[str, str]) -> bool:
    role, text = given
    return bool(text.strip()) and message.role == role and _text_of(message.content).startswith(text)


def _without_additions(text: str) -> str:
    for _ in range(2):
        text = _ADDED.sub("", text)
    return text


def _media(message: Any) -> Described:
    """Describe the pictures, recordings and files of a message."""
    found = (
        part_of(kind, one, getattr(one, "metadata", None), {"filename": _file_name(one)})
        for kind, names in _MEDIA.items()
        for name in names
        for one in _listed(getattr(message, name, None))
    )
    return described(found)


def _file_name(media: Any) -> str | None:
    path = getattr(media, "filepath", None)
    return None if path is None else PurePath(path).name


def _listed(media: Any) -> Sequence[Any]:
    if media is None:
        return ()
    return media if isinstance(media, Sequence) and not isinstance(media, (str, bytes)) else (media,)


def _said(message: Any, text: str, left_out: Sequence[str]) -> SaidMessage:
    said: SaidMessage = {
        "role": message.role,
        "content": with_left_out(clean_text(text)[:MAX_CONTENT_CHARACTERS], left_out),
        "key": key_of(message),
        "at": _moment(message.created_at),
    }
    if message.role == "tool":
        # Recording itself keeps only the beginning and the end of a tool result.
        told = {"name": message.tool_name, "tool_call_id": message.tool_call_id, "is_error": message.tool_call_error}
        return said | {"content": with_left_out(text, left_out)} | told
    if message.tool_calls:
        said["tool_calls"] = [_call(call) for call in message.tool_calls]
    try:
        if message.name is not None:
            said["name"] = check_name("name", message.name)
    except InvalidName:
        pass  # it was said nevertheless, so it is recorded
    return said


def _call(call: object) -> dict[str, Any]:
    """Return a tool call in the form that `slowwave.message_parts` reads, whatever the provider's form is."""
    function = _field(call, "function") or call
    name, call_id = _field(function, "name"), _field(call, "id")
    return {
        "name": name if isinstance(name, str) and name.strip() else "tool",
        "args": _field(function, "arguments"),
        "id": call_id if isinstance(call_id, str) else None,
    }


def _moment(seconds: float) -> datetime:
    """Convert seconds since 1970 to a time. An invalid value becomes the earliest possible time."""
    try:
        moment = datetime.fromtimestamp(seconds, UTC)
        moment_of(moment)
    except (InvalidMessage, OverflowError, OSError, TypeError, ValueError):
        return datetime.fromtimestamp(0, UTC)
    return moment


def _text_of(content: object) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, Sequence):
        return ""
    texts = [part.get("text") for part in content if isinstance(part, Mapping)]
    return "\n".join(text for text in texts if isinstance(text, str))


def _json(content: object) -> str:
    return "" if content is None else json.dumps(content, ensure_ascii=False, default=str)


def _role_of(message: object) -> str | None:
    role = _field(message, "role")
    return role if isinstance(role, str) else None


def _field(message: object, name: str) -> object:
    return message.get(name) if isinstance(message, Mapping) else getattr(message, name, None)
