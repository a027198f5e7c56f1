"""What callers hand over: messages of a conversation, and the payloads of the public tasks, with their limits.

A message is a mapping of the shape that every chat API has, or a `Message`. Both pass the same checks, written by hand
since they run on the reply path; Pydantic reads only what comes in as JSON.

Must not know: where events go.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal, NotRequired, Self, TypedDict

from pydantic import BaseModel, ConfigDict, Field, model_validator

from slowwave.errors import InvalidMessage, InvalidName, TooLarge, shown
from slowwave.identity import check_name

RECORD_TURN = "slowwave.record_turn"
PROMPT_ARRIVED = "slowwave.prompt_arrived"
FLUSH_SESSION = "slowwave.flush_session"
SWEEP_SESSIONS = "slowwave.sweep_sessions"
WAKE_STALE = "slowwave.wake_stale"
REFRESH_SEARCH = "slowwave.refresh_search"
REMEMBER = "slowwave.remember"
CONSOLIDATE_SCOPE = "slowwave.consolidate_scope"
CONSOLIDATE_WORKING = "slowwave.consolidate_working"
MAINTENANCE_TICK = "slowwave.maintenance_tick"
RUN_MAINTENANCE = "slowwave.run_maintenance"
SUMMARIZE_DAY = "slowwave.summarize_day"
SUMMARIZE_DUE_DAYS = "slowwave.summarize_due_days"
FINALIZE_DAYS = "slowwave.finalize_days"
DELIVER_OUTBOX = "slowwave.deliver_outbox"
SYNC_FILES = "slowwave.sync_files"
CURATE_SCOPE = "slowwave.curate_scope"
LOG_EVENTS = "slowwave.log_events"
INDEX_VECTORS = "slowwave.index_vectors"

MAX_CONTENT_CHARACTERS = 100_000
MAX_MESSAGES = 100
MAX_METADATA_BYTES = 16_384
MAX_KEY_CHARACTERS = 200
YEARS = (1900, 2999)
"""Events are dated within these years: a time outside them is a mistake in units, never a memory."""

Kind = Literal["user", "assistant", "task"]
TaskEvent = Literal["run_queued", "run_finished", "run_failed", "run_blocked"]
PassMode = Literal["working", "light", "deep"]
TASK_EVENTS: tuple[TaskEvent, ...] = ("run_queued", "run_finished", "run_failed", "run_blocked")

KINDS: Mapping[str, Kind | None] = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "task": "task",
    # Instructions and tool telemetry are noise to a memory: counted in the receipt, kept nowhere.
    "system": None,
    "developer": None,
    "tool": None,
    "function": None,
}
"""What becomes of each role; None: the message is left out."""

_REPLACEMENT = "\ufffd"


class EventJson(TypedDict):
    """An event as the capture function of the database reads it. `step`: turns that began in its call so far.

    taken: when a hook took it, of those that were kept waiting.
    """

    key: str
    kind: Kind
    step: int
    content: str
    role: NotRequired[str]
    name: NotRequired[str]
    at: NotRequired[str]
    taken: NotRequired[str]
    metadata: NotRequired[dict[str, Any]]


def turn_events(messages: Sequence["Message | Mapping[str, Any]"], key: str) -> tuple[list[EventJson], int]:
    """Answer the events of one call and how many messages were left out (system, tool, empty).

    Message number i has the key `KEY:i` unless it brings its own. A user event begins a turn; a call without one
    begins one too. NUL and halves of surrogate pairs, which Postgres can't store, become U+FFFD.
    Raises `InvalidMessage`, `TooLarge` or `InvalidName`, which say which message it is.
    """
    if not isinstance(messages, Collection) or isinstance(messages, (str, bytes, Mapping)):
        raise InvalidMessage(f"messages must be a list of messages, not {shown(messages)}")
    if len(messages) > MAX_MESSAGES:
        raise TooLarge(f"a call has at most {MAX_MESSAGES} messages, this one has {len(messages)}")
    events: list[EventJson] = []
    step = 0
    for place, message in enumerate(messages):
        try:
            event = event_of(message, f"{key}:{place}")
        except (InvalidMessage, InvalidName) as error:
            raise type(error)(f"message {place + 1}: {error}") from None
        if event is None:
            continue
        if event["kind"] == "user":
            step += 1
        event["step"] = step
        events.append(event)
    if step == 0:
        for event in events:
            event["step"] = 1
    return events, len(messages) - len(events)


def event_of(message: "Message | Mapping[str, Any]", key: str) -> EventJson | None:
    """Answer the event of one message, its step still 0; None if it is to be left out."""
    fields: Mapping[str, Any] = message.__dict__ if isinstance(message, Message) else message
    try:
        role = fields["role"]
        kind = KINDS[role]
        content = fields["content"]
    except (KeyError, TypeError, IndexError):
        role, kind, content = _careful(fields)
    if kind is None:
        return None
    if type(content) is not str:
        content = _text_of(content)
    if not content or content.isspace():
        return None
    event: EventJson = {"key": key, "kind": kind, "step": 0, "content": clean_text(content)}
    if len(content) > MAX_CONTENT_CHARACTERS:
        raise TooLarge(f"content has at most {MAX_CONTENT_CHARACTERS:,} characters, this one has {len(content):,}")
    if role != kind:
        event["role"] = role
    if len(fields) > 2:  # noqa: PLR2004 (role and content)
        _add_rest(event, fields)
    return event


def clean_text(text: str) -> str:
    """Answer `text` with U+FFFD for what Postgres can't store: NUL, and halves of surrogate pairs."""
    if "\0" in text:
        text = text.replace("\0", _REPLACEMENT)
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join(_REPLACEMENT if "\ud800" <= character <= "\udfff" else character for character in text)
    return text


def moment_of(at: Any) -> str:
    """Answer an aware datetime, or ISO text of one, as ISO text in UTC. Raises InvalidMessage."""
    try:
        moment = at if isinstance(at, datetime) else datetime.fromisoformat(at)
    except (TypeError, ValueError):
        raise InvalidMessage(f"at must be a time like 2026-03-01T09:30:00+01:00, not {shown(at)}") from None
    if moment.tzinfo is None:
        raise InvalidMessage(f"at needs a time zone, as in 2026-03-01T09:30:00+01:00; {at!s:.60} has none")
    if not YEARS[0] <= moment.year <= YEARS[1]:
        raise InvalidMessage(f"at must lie in the years {YEARS[0]} to {YEARS[1]}, not {moment.year}")
    return moment.astimezone(UTC).isoformat()


def check_key(key: Any) -> str:
    """Answer an idempotency key unchanged: 1 to 200 characters. Raises InvalidMessage or TooLarge."""
    if not isinstance(key, str) or not key:
        raise InvalidMessage(f"a key must be text that is not empty, not {shown(key)}")
    if len(key) > MAX_KEY_CHARACTERS:
        raise TooLarge(f"a key has at most {MAX_KEY_CHARACTERS} characters, this one has {len(key)}")
    if clean_text(key) != key:
        raise InvalidMessage("a key can't hold NUL or half of a surrogate pair")
    return key


def check_metadata(metadata: Any) -> dict[str, Any]:
    """Answer metadata that Postgres can store: a JSON object of at most 16 KB. Raises InvalidMessage or TooLarge."""
    if not isinstance(metadata, Mapping):
        raise InvalidMessage(f"metadata must be a mapping, not {type(metadata).__name__}")
    try:
        text = json.dumps(dict(metadata), ensure_ascii=False, allow_nan=False)
        cleaned = _clean_json(json.loads(text))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidMessage(f"metadata can't be written as JSON: {error}") from None
    size = len(clean_text(text).encode())
    if size > MAX_METADATA_BYTES:
        raise TooLarge(f"metadata has at most {MAX_METADATA_BYTES:,} bytes as JSON, this one has {size:,}")
    return dict(cleaned)


def _careful(fields: Any) -> tuple[str, Kind | None, Any]:
    """What the quick way stumbled over: say what is wrong, or read on if only the content is missing."""
    if not isinstance(fields, Mapping):
        raise InvalidMessage(f'a message is a mapping like {{"role": …, "content": …}}, not {type(fields).__name__}')
    role = fields.get("role")
    if not isinstance(role, str) or role not in KINDS:
        raise InvalidMessage(f"role must be one of {', '.join(KINDS)}, not {shown(role)}")
    if KINDS[role] is not None and "content" not in fields:
        raise InvalidMessage("content is missing")
    return role, KINDS[role], fields.get("content")


def _text_of(content: Any) -> str:
    """The text of a content that isn't text: None (a reply that only calls tools), or a list of parts."""
    if content is None:
        return ""
    if isinstance(content, Sequence) and all(isinstance(part, Mapping) for part in content):
        texts = [part.get("text") for part in content]
        return "\n".join(text for text in texts if isinstance(text, str))
    raise InvalidMessage(f"content must be text or a list of parts, not {type(content).__name__}")


def _add_rest(event: EventJson, fields: Mapping[str, Any]) -> None:
    if (name := fields.get("name")) is not None:
        event["name"] = check_name("name", name)
    if (at := fields.get("at")) is not None:
        event["at"] = moment_of(at)
    if (metadata := fields.get("metadata")) is not None:
        event["metadata"] = check_metadata(metadata)
    if (key := fields.get("key")) is not None:
        event["key"] = check_key(key)


def _clean_json(value: Any) -> Any:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, dict):
        return {clean_text(key): _clean_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_clean_json(item) for item in value]
    return value


class _Payload(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Message(_Payload):
    """One message of a conversation. `name`: who speaks; `at`: when, an aware time; `key`: makes a repeat harmless."""

    # Whatever else a chat API puts beside the text (tool calls, ids) is not ours to refuse.
    model_config = ConfigDict(extra="ignore", frozen=True)

    role: str
    content: Any = None
    name: str | None = None
    at: datetime | str | None = None
    metadata: dict[str, Any] | None = None
    key: str | None = None

    @model_validator(mode="after")
    def _keeps_the_limits(self) -> "Message":
        event_of(self, "-")
        return self


class _Named(_Payload):
    @model_validator(mode="after")
    def _names_are_names(self) -> Self:
        for what in ("tenant", "agent", "session"):
            if (name := getattr(self, what, None)) is not None:
                check_name(what, name)
        return self


class _OfSession(_Named):
    agent: str
    session: str


class RecordTurn(_OfSession):
    """What `slowwave.record_turn` takes, by name or in this order; the arguments of `Memory.turn_completed`."""

    messages: list[Message] = Field(max_length=MAX_MESSAGES)
    room_id: str | None = None
    thread_id: str | None = None
    scope: str | None = None
    key: str | None = None
    tenant: str | None = None


class PromptArrived(_OfSession):
    """What `slowwave.prompt_arrived` takes: somebody wrote to `agent` in `session`."""

    tenant: str | None = None


class FlushSession(_Named):
    """What `slowwave.flush_session` takes. Without a ticket it asks for a flush; with one it is the flush's turn."""

    tenant: str | None = None
    agent: str
    session: str
    ticket: str | None = None
