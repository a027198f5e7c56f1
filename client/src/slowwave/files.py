"""Memory files as callers ask for them: the payload of the public task that brings a scope's files up to date.

Must not know: what stands in files, when they are behind.
"""

from pydantic import BaseModel, ConfigDict, model_validator

from slowwave.errors import InvalidMessage
from slowwave.identity import check_name
from slowwave.working import scope_of


class DeliverOutbox(BaseModel):
    """What `slowwave.deliver_outbox` takes: whose files are brought up to date, hand edits first."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    agent: str | None = None
    scope: str | None = None
    tenant: str | None = None
    ticket: str | None = None

    @model_validator(mode="after")
    def _names_a_scope(self) -> "DeliverOutbox":
        if self.agent is None and self.scope is None:
            raise InvalidMessage("name an agent or a scope (room:NAME, team:NAME)")
        if self.tenant is not None:
            check_name("tenant", self.tenant)
        scope_of(self.agent, self.scope)
        return self
