"""Working memory, as JSON.

Must not know: what a cycle does.
"""

from datetime import datetime
from typing import Annotated

from pydantic import Field, StringConstraints

from slowwave_server.workers.gateway.schemas.shapes import Answer, Body


class Consolidation(Body):
    """Whose notes are meant: the agent's own, or those of a room or a team."""

    scope: Annotated[str, StringConstraints(max_length=205)] | None = Field(
        default=None, description="`room:NAME` or `team:NAME`."
    )


class ConsolidationAsked(Answer):
    """Whether a cycle was asked for; false if one is on its way already."""

    asked: bool


class WorkingStats(Answer):
    """What became of all that was noted. noted = open + consolidated + duplicates + expired + failed."""

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
