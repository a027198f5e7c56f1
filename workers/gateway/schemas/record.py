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
ROOM = "`room:NAME` or `team:NAME`; the agent's own memory if left out."


class Message(BaseModel):
    """One message of a conversation, in the shape that chat APIs have; other fields are left out."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    role: str = Field(description="`user`, `assistant`, `tool`, `task` or `system` (left out).", examples=["user"])
    content: str | list[str | dict[str, Any]] | dict[str, Any] | None = Field(
        None, description="Text, or parts as chat APIs have them.", examples=["I moved to Lisbon in March."]
    )
    name: str | None = Field(None, description="Who speaks.")
    at: Moment | None = Field(None, description="When it was said, with a time zone; now if left out.")
    metadata: dict[str, Any] | None = None
    key: str | None = Field(None, description="Makes a repetition of this message harmless.")
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
    """What one turn added: usually a user's message and the reply."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_extra={"examples": [_TURN]})

    messages: Annotated[list[Message], Field(max_length=MAX_MESSAGES)]
    scope: str | None = Field(None, description=f"{ROOM} A session keeps the scope that it began with.")
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
    marked: bool = Field(False, description="The next cycle keeps it, however important it is.")
    scope: str | None = Field(None, description=ROOM)
    ttl_seconds: Annotated[float, Field(gt=0, le=31_536_000)] | None = None
    at: Moment | None = None


class Empty(Body):
    """No fields."""


class Receipt(Answer):
    """The result of recording."""

    added: int = Field(description="Events that are new.")
    repeated: int = Field(description="Events that were there already, by their keys.")
    ignored: int = Field(description="Messages that a memory leaves out.")
    last_seq: int | None = Field(description="The number of the session's last event; null while it waits.")
    due: bool = Field(description="Whether a flush was asked for.")
    reason: Literal["turns", "idle", "compaction", "reset"] | None
    stored: Literal["postgres", "spool"] = Field(description="`spool`: it waits on the gateway's disk for Postgres.")


class Noted(Answer):
    """The result of a note."""

    id: UUID
    added: bool = Field(description="False for a repetition of an earlier request.")
    expires_at: datetime


class Boosted(Answer):
    """The sessions that workers process first from now on."""

    boosted: list[str] = Field(description="Sessions of the agent that hold what was not processed yet.")


class UsedMemories(Body):
    """Memories that a reply was made with, or that a prompt showed."""

    memories: Annotated[list[UUID], Field(min_length=1, max_length=200)]
    session: str | None = None
    shown: bool = Field(False, description="A prompt of `session` showed them; whether a reply uses them is not known.")


class Marked(Answer):
    """The result of marking memories as used."""

    marked: int = Field(description="Memories of these that the key reaches.")
