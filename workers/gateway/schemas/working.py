"""Working memory, as JSON."""

from datetime import datetime
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


class WorkingStats(Answer):
    """The numbers of notes by outcome. noted = open + consolidated + duplicates + expired + failed."""

    noted: int
    open: int
    marked: int
    consolidated: int
    duplicates: int
    expired: int
    failed: int
    running: bool
    runs: int
    failed_runs: int
    last_run_at: datetime | None
    last_error: str | None
    persisted: int
    links: int
    triples: int
    duration_ms: int
    last_duration_ms: int | None
