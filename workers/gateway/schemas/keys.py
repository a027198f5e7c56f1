"""API keys, as JSON. Only the answer that creates a key contains its secret."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import AwareDatetime, Field, StringConstraints

from slowwave_server.services.access.api_keys import Right
from slowwave_server.workers.gateway.schemas.shapes import Answer, Body, Page

AgentPattern = Annotated[str, StringConstraints(min_length=1, max_length=200)]
ScopePattern = Annotated[str, StringConstraints(min_length=6, max_length=205, pattern=r"^(room|team):.+$")]


class Key(Answer):
    """One key of the tenant, without its secret."""

    id: UUID
    name: str
    prefix: str = Field(description="The beginning of the key.")
    agents: list[str] = Field(description="Names or patterns with `*`; empty: all agents.")
    scopes: list[str] = Field(description="`room:NAME`, `team:NAME` or patterns; empty: only the agents' own scopes.")
    rights: list[Right]
    created_at: datetime
    created_by: str | None
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None


class KeyPage(Page):
    """One page of keys."""

    items: list[Key]


class NewKey(Body):
    """A new key. It can't have more access, more rights or a later expiry than the key that creates it."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    rights: Annotated[list[Right], Field(min_length=1, max_length=5)]
    agents: Annotated[list[AgentPattern], Field(max_length=100)] | None = Field(
        default=None, description="Default: the agents of your own key. Empty: all agents."
    )
    scopes: Annotated[list[ScopePattern], Field(max_length=100)] | None = Field(
        default=None, description="Default: the same as your own key."
    )
    expires_at: AwareDatetime | None = Field(default=None, description="Default: the expiry of your own key.")


class MadeKey(Key):
    """A new key. Only this answer contains the key itself."""

    key: str = Field(description="Send it as `Authorization: Bearer …`.")
