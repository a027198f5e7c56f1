"""Working memory, as JSON."""

from typing import Annotated

from pydantic import Field, StringConstraints

from slowwave_server.workers.gateway.schemas.shapes import Answer, Body


class Consolidation(Body):
    """The notes to process: the agent's own, or those of a room or a team."""

    scope: Annotated[str, StringConstraints(max_length=205)] | None = Field(
        default=None, description="`room:NAME` or `team:NAME`."
    )


class ConsolidationAsked(Answer):
    """True if a cycle was requested; false if one is already queued."""

    asked: bool
