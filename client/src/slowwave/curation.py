"""Curation as callers ask for it: the payload of the public task that curates a scope.

Must not know: which notes are worth a line.
"""

from pydantic import BaseModel, ConfigDict, model_validator

from slowwave.errors import InvalidMessage
from slowwave.identity import check_name
from slowwave.working import scope_of


class CurateScope(BaseModel):
    """What `slowwave.curate_scope` takes: whose notes of days become long-term memory."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    agent: str | None = None
    scope: str | None = None
    tenant: str | None = None

    @model_validator(mode="after")
    def _names_a_scope(self) -> "CurateScope":
        if self.agent is None and self.scope is None:
            raise InvalidMessage("name an agent or a scope (room:NAME, team:NAME)")
        if self.tenant is not None:
            check_name("tenant", self.tenant)
        scope_of(self.agent, self.scope)
        return self
