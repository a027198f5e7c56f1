"""Check the input of callers: messages of a conversation, and the payloads of the public tasks, with their limits.

A message is a mapping in the shape of chat APIs, or a `Message`. Both pass the same hand-written checks, because the
checks run on the reply path; Pydantic validates only JSON payloads.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from slowwave.errors import InvalidMessage, InvalidName, TooLarge, shown
from slowwave.event_json import EventJson, Kind
from slowwave.identity import check_name
from slowwave.message_parts import parts_of
from slowwave.postgres_text import check_metadata, clean_text
from slowwave.settings import Tools
from slowwave.tool_events import with_tools

RECORD_TURN = "slowwave.record_turn"
PROMPT_ARRIVED = "slowwave.prompt_arrived"
FLUSH_SESSION = "slowwave.flush_session"
SWEEP_SESSIONS = "slowwave.sweep_sessions"
REMEMBER = "slowwave.remember"
CONSOLIDATE_SCOPE = "slowwave.consolidate_scope"
MAINTENANCE_TICK = "slowwave.maintenance_tick"
RUN_MAINTENANCE = "slowwave.run_maintenance"
SUMMARIZE_DAY = "slowwave.summarize_day"
FINALIZE_DAYS = "slowwave.finalize_days"
DELIVER_OUTBOX = "slowwave.deliver_outbox"
CURATE_SCOPE = "slowwave.curate_scope"
ANSWER_REQUEST = "slowwave.answer_request"

MAX_CONTENT_CHARACTERS = 100_000
MAX_MESSAGES = 100
MAX_KEY_CHARACTERS = 200
YEARS = (1900, 2999)
"""Events are dated within these years: a time outside them is a mistake in units, never a memory."""

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
    "tool": "tool",
    "function": "tool",
    # System messages are not useful as memories, so they are counted in the receipt but not recorded.
    "system": None,
    "developer": None,
}
"""The kind of each role's event; None: the message is left out."""

_TOOLS = Tools()


def turn_events(
    messages: Sequence["Message | Mapping[str, Any]"], key: str, tools: Tools = _TOOLS
) -> tuple[list[EventJson], int]:
    """Return the events of one call, and the number of messages that are not recorded (system, empty, and tools if
    disabled).

    A message without a key of its own gets the key `KEY:i`, where i is its index; its tool calls get the keys
    `KEY:i:tool1` and so on. A user event begins a turn. A call without a user event also begins a turn, unless it has
    only tool events, which belong to the previous turn. NUL and halves of surrogate pairs, which Postgres can't store,
    become U+FFFD.
    """
    # Most hosts pass a list: the abstract class is asked about other types only.
    if not isinstance(messages, (list, tuple)) and (
        not isinstance(messages, Collection) or isinstance(messages, (str, bytes, Mapping))
    ):
        raise InvalidMessage(f"messages must be a list of messages, got {shown(messages)}")
    if len(messages) > MAX_MESSAGES:
        raise TooLarge(f"a call has at most {MAX_MESSAGES} messages, this one has {len(messages)}")
    events: list[EventJson] = []
    names: dict[str, str] = {}
    step = ignored = 0
    for place, message in enumerate(messages):
        try:
            added = message_events(message, f"{key}:{place}", tools, names)
        except (InvalidMessage, InvalidName) as error:
            raise type(error)(f"message {place + 1}: {error}") from None
        ignored += not added
        for event in added:
            step += event["kind"] == "user"
            event["step"] = step
        events += added
    if step == 0 and any(event["kind"] != "tool" for event in events):
        for event in events:
            event["step"] = 1
    return events, ignored


def message_events(
    message: "Message | Mapping[str, Any]", key: str, tools: Tools = _TOOLS, names: dict[str, str] | None = None
) -> list[EventJson]:
    """Return the events of one message, with step 0; [] if the message is not recorded.

    Tool results come first, then the text, then tool calls. The text gets the message's key; without a text, the first
    event gets the key. names: tool names of earlier calls by call id, for results without a tool's name.
    """
    fields: Mapping[str, Any] = message.__dict__ if isinstance(message, Message) else message
    try:
        role = fields["role"]
        kind = KINDS[role]
        content = fields["content"]
    except (KeyError, TypeError, IndexError):
        role, kind, content = _careful(fields)
    if kind is None:
        return []
    parts = None
    further = len(fields) > 2  # noqa: PLR2004 (role and content)
    called = further and (fields.get("tool_calls") or fields.get("function_call"))
    if called or kind == "tool" or type(content) is not str:
        parts = parts_of(content, fields, by_tool=kind == "tool")
        content = parts.text
    spoken: EventJson = {"key": key, "kind": kind, "step": 0, "content": clean_text(content)}
    if len(content) > MAX_CONTENT_CHARACTERS:
        raise TooLarge(f"content has at most {MAX_CONTENT_CHARACTERS:,} characters, this one has {len(content):,}")
    if role != kind:
        spoken["role"] = role
    if further:
        _add_rest(spoken, fields)
    said = [] if not content or content.isspace() else [spoken]
    return said if parts is None else with_tools(spoken, said, parts, tools, {} if names is None else names)


def moment_of(at: Any) -> str:
    """Convert an aware datetime, or its ISO text, to ISO text in UTC. Raises InvalidMessage."""
    try:
        moment = at if isinstance(at, datetime) else datetime.fromisoformat(at)
    except (TypeError, ValueError):
        raise InvalidMessage(f"at must be a time like 2026-03-01T09:30:00+01:00, got {shown(at)}") from None
    if moment.tzinfo is None:
        raise InvalidMessage(f"at must have a time zone, as in 2026-03-01T09:30:00+01:00, got {at!s:.60}")
    if not YEARS[0] <= moment.year <= YEARS[1]:
        raise InvalidMessage(f"at must lie in the years {YEARS[0]} to {YEARS[1]}, not {moment.year}")
    return moment.astimezone(UTC).isoformat()


def check_key(key: Any) -> str:
    """Return the idempotency key if it has 1 to 200 characters. Raises InvalidMessage or TooLarge."""
    if not isinstance(key, str) or not key:
        raise InvalidMessage(f"key must be text that is not empty, got {shown(key)}")
    if len(key) > MAX_KEY_CHARACTERS:
        raise TooLarge(f"a key has at most {MAX_KEY_CHARACTERS} characters, this one has {len(key)}")
    if clean_text(key) != key:
        raise InvalidMessage("a key can't hold NUL or half of a surrogate pair")
    return key


def check_run(run: Any) -> str:
    """Return the id of a task's run if it has 1 to 200 characters. Raises InvalidMessage."""
    if not isinstance(run, str) or not 0 < len(run) <= MAX_KEY_CHARACTERS:
        raise InvalidMessage(
            f"run must be the id of a run, text of 1 to {MAX_KEY_CHARACTERS} characters, got {shown(run)}"
        )
    if clean_text(run) != run:
        raise InvalidMessage("run can't hold NUL or half of a surrogate pair")
    return run


def _careful(fields: Any) -> tuple[str, Kind | None, Any]:
    """Check a message that failed the fast check: raise with the reason, or continue if only the content is missing."""
    if not isinstance(fields, Mapping):
        raise InvalidMessage(f'a message is a mapping like {{"role": …, "content": …}}, not {type(fields).__name__}')
    role = fields.get("role")
    if not isinstance(role, str) or role not in KINDS:
        raise InvalidMessage(f"role must be one of {', '.join(KINDS)}, got {shown(role)}")
    # OpenAI's messages may omit the content of a call.
    if KINDS[role] is not None and "content" not in fields and not fields.get("tool_calls"):
        raise InvalidMessage("content is missing")
    return role, KINDS[role], fields.get("content")


def _add_rest(event: EventJson, fields: Mapping[str, Any]) -> None:
    if (name := fields.get("name")) is not None and event["kind"] != "tool":
        event["name"] = check_name("name", name)
    if (at := fields.get("at")) is not None:
        event["at"] = moment_of(at)
    if (metadata := fields.get("metadata")) is not None:
        event["metadata"] = check_metadata(metadata)
    if (key := fields.get("key")) is not None:
        event["key"] = check_key(key)


class _Payload(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Message(_Payload):
    """One message of a conversation.

    Attributes:
        role: user, assistant, tool or system.
        content: text, or a list of parts as chat APIs have them.
        name: the speaker's name.
        at: the time (aware) at which it was said; by default now.
        metadata: a JSON object of at most 16 KB, stored with the event.
        key: an idempotency key.
        tool_calls: an assistant's tool calls, in OpenAI's form.
        tool_call_id: the id of the call that a message with the role `tool` answers.
        is_error: True if the tool call failed.
    """

    # Ignore other fields that a chat API puts beside the text.
    model_config = ConfigDict(extra="ignore", frozen=True)

    role: str
    content: Any = None
    name: str | None = None
    at: datetime | str | None = None
    metadata: dict[str, Any] | None = None
    key: str | None = None
    tool_calls: list[dict[str, Any]] | None = None
    tool_call_id: str | None = None
    is_error: bool | None = None

    @model_validator(mode="after")
    def _keeps_the_limits(self) -> "Message":
        message_events(self, "-")
        return self


class NamedPayload(_Payload):
    """A payload of a task. Its tenant, agent and session, if it has them, must be names."""

    @model_validator(mode="after")
    def _names_are_names(self) -> Self:
        for what in ("tenant", "agent", "session"):
            if (name := getattr(self, what, None)) is not None:
                check_name(what, name)
        return self


class _OfSession(NamedPayload):
    agent: str
    session: str


class RecordTurn(_OfSession):
    """The payload of `slowwave.record_turn`, by name or in this order; the arguments of `Memory.turn_completed`."""

    messages: list[Message] = Field(max_length=MAX_MESSAGES)
    room_id: str | None = None
    thread_id: str | None = None
    scope: str | None = None
    key: str | None = None
    tenant: str | None = None


class PromptArrived(_OfSession):
    """The payload of `slowwave.prompt_arrived`: a prompt for `agent` arrived in `session`."""

    tenant: str | None = None


class FlushSession(NamedPayload):
    """The payload of `slowwave.flush_session`.

    A payload without a ticket requests a flush; a payload with a ticket is the flush itself.
    """

    tenant: str | None = None
    agent: str
    session: str
    ticket: str | None = None
