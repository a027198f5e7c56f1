"""Changes of memories, in the form of the stream and of webhooks."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field

from slowwave.changes import ChangeType


class ChangedMemory(BaseModel):
    """The memory that changed, in its state when the change is read. A deleted memory has only its id and scope."""

    id: str
    scope: str = Field(examples=["agent:support-bot"])
    agent: str | None = Field(description="the agent that owns the scope; null for a room or a team")
    type: str | None
    status: Literal["inbox", "episode", "active", "archived", "review"] | None
    content: str | None = Field(examples=["Maya prefers to be called in the afternoon."])
    valid_from: datetime | None
    valid_to: datetime | None
    revision: int | None = Field(description="each change raises it; ignore a change with a lower one than you have")


class Change(BaseModel):
    """One change of one memory. A change that is delivered twice has the same id."""

    id: str = Field(examples=["1042-7"], description="the position in the feed")
    type: ChangeType
    memory: ChangedMemory
    reason: str
    run: int | None = Field(description="number of the maintenance run that made the change")
    at: datetime
