"""Requests that record over HTTP, and their answers."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from slowwave.memory_types import MemoryType
from slowwave.messages import MAX_MESSAGES, TaskEvent
from slowwave_server.workers.gateway.schemas.shapes import Answer, Body

Moment = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]
"""An aware time in ISO 8601. The client says what is wrong with one."""
ROOM = "`room:NAME` or `team:NAME`; default: the agent's own scope."


class Message(BaseModel):
    """One message of a conversation, as in chat APIs. Other fields are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    role: str = Field(description="`user`, `assistant`, `tool`, `task` or `system` (not recorded).", examples=["user"])
    content: str | list[str | dict[str, Any]] | dict[str, Any] | None = Field(
        None, description="Text, or a list of parts as in chat APIs.", examples=["I moved to Lisbon in March."]
    )
    name: str | None = Field(None, description="The name of the speaker.")
    at: Moment | None = Field(None, description="The time of the message, with a time zone; default: now.")
    metadata: dict[str, Any] | None = None
    key: str | None = Field(None, description="An idempotency key: a second message with the same key is not recorded.")
    tool_calls: list[dict[str, Any]] | None = None
    tool_call_id: str | None = None
    is_error: bool | None = None


_TURN: Any = {
    "messages": [
        {"role": "user", "content": "I moved to Lisbon in March."},
        {"role": "assistant", "content": "Noted: Lisbon."},
    ]
}


class Turn(Body):
    """The messages of one turn: usually a user's message and the reply."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_extra={"examples": [_TURN]})

    messages: Annotated[list[Message], Field(max_length=MAX_MESSAGES)]
    scope: str | None = Field(None, description=f"{ROOM} A session keeps its first scope.")
    room_id: str | None = None
    thread_id: str | None = None


class TaskMilestone(Body):
    """A milestone of a task."""

    event: TaskEvent
    text: str = Field(examples=["Exported 1,200 invoices."])
    at: Moment | None = None
    run: str | None = Field(None, description="The id of the run: a later milestone of it replaces an earlier one.")


class Note(Body):
    """One statement for the agent's working memory."""

    content: str = Field(examples=["The customer wants invoices as PDF."])
    importance: Annotated[float, Field(ge=0, le=1)] = 0.5
    session: str | None = None
    type: MemoryType = "fact"
    marked: bool = Field(False, description="True: the next cycle keeps it whatever its importance.")
    scope: str | None = Field(None, description=ROOM)
    ttl_seconds: Annotated[float, Field(gt=0, le=31_536_000)] | None = None
    at: Moment | None = None


class Empty(Body):
    """No fields."""


class Receipt(Answer):
    """The result of recording."""

    added: int = Field(description="The number of new events.")
    repeated: int = Field(description="The number of events whose keys the session already had.")
    ignored: int = Field(description="The number of messages that are not recorded (system and empty messages).")
    last_seq: int | None = Field(description="The number of the session's last event; null if the turn is spooled.")
    due: bool = Field(description="True if a flush of the session is due.")
    reason: Literal["turns", "idle", "compaction", "reset"] | None
    stored: Literal["postgres", "spool"] = Field(description="`spool`: waits on the gateway's disk for Postgres.")


class Noted(Answer):
    """The result of a note."""

    id: UUID
    added: bool = Field(description="False for a repetition of an earlier request.")
    expires_at: datetime


class Boosted(Answer):
    """The sessions for which the call requested a flush."""

    boosted: list[str] = Field(description="The agent's other sessions with unprocessed events.")


class UsedMemories(Body):
    """Memories that a reply used, or that a prompt contained."""

    memories: Annotated[list[UUID], Field(min_length=1, max_length=200)]
    session: str | None = None
    shown: bool = Field(False, description="A prompt of `session` showed them; whether a reply uses them is not known.")


class Marked(Answer):
    """The result of marking memories as used."""

    marked: int = Field(description="The number of these memories that the key may access.")
