"""Shared parts of the curation routes: forms of parameters, and checks of agents, scopes and memories."""

import re
from collections.abc import Mapping
from datetime import date, datetime
from http import HTTPStatus
from typing import Annotated, Any
from uuid import UUID

from fastapi import Path, Query
from pydantic import BaseModel, BeforeValidator, WithJsonSchema
from sqlalchemy import Connection

from slowwave.messages import YEARS
from slowwave_server.services.lookup import UnknownName, find_agent
from slowwave_server.services.reports.records import Record, read_record
from slowwave_server.workers.gateway.caller import nothing
from slowwave_server.workers.gateway.visit import Visit

MOST_CHANGES = 10_000
"""A list as of another time takes off so many changes at most: somebody waits for it."""

Limit = Annotated[int, Query(ge=1, le=200, description="The maximum number of items on a page.")]
Cursor = Annotated[str | None, Query(max_length=2000, description="`next_cursor` of the previous page.")]


AgentName = Annotated[str, Path(min_length=1, max_length=200)]
SessionName = Annotated[str, Path(min_length=1, max_length=200)]
SharedScope = Annotated[
    str | None, Query(max_length=205, description="`room:NAME` or `team:NAME`; the agent's own scope if left out.")
]
AnyScope = Annotated[
    str | None,
    Query(max_length=206, description="`agent:NAME`, `room:NAME` or `team:NAME`; default: all."),
]


def responses(*statuses: int, accepted: type[BaseModel] | None = None) -> dict[int | str, dict[str, Any]]:
    """Return the answers of a route besides its result: these problems, and 202 if no worker has answered."""
    problem: Mapping[str, Any] = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    told: dict[int | str, dict[str, Any]] = {
        status: {"description": HTTPStatus(status).phrase, "content": problem} for status in statuses
    }
    if accepted is not None:
        told[202] = {
            "model": accepted,
            "description": "No worker has answered yet; Location names the request to poll.",
        }
    return told


def check_agent(visit: Visit, connection: Connection, agent: str) -> None:
    """Raise NotThere unless the agent exists and the key reaches it; also InvalidName."""
    visit.agent(agent)
    try:
        find_agent(connection, visit.tenant, agent)
    except UnknownName:
        # The original message names other agents.
        raise nothing("agent", agent) from None


def check_scope(visit: Visit, kind: str, name: str) -> None:
    """Raise NotThere unless the key reaches a scope."""
    visit.caller.require_place(kind, name, kind, name)


def memory_of(visit: Visit, connection: Connection, memory: UUID) -> Record:
    """Return a memory that the key reaches. Raises NotThere for all others."""
    try:
        return read_record(connection, visit.tenant, memory, visit.reach)
    except UnknownName:
        raise nothing("memory", memory) from None


_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?([Zz]|[+-]\d{2}:\d{2})?", re.ASCII)


def _day(given: str) -> date:
    try:
        day = date.fromisoformat(given) if _DAY.fullmatch(given) else None
    except ValueError:
        day = None
    if day is None or not YEARS[0] <= day.year <= YEARS[1]:
        raise ValueError(f"must be a day like 2026-03-05, in the years {YEARS[0]} to {YEARS[1]}")
    return day


def _moment(given: str) -> date | datetime:
    if _DAY.fullmatch(given):
        return _day(given)
    try:
        moment = datetime.fromisoformat(given) if _TIME.fullmatch(given) else None
    except ValueError:
        moment = None
    if moment is None or not YEARS[0] <= moment.year <= YEARS[1]:
        raise ValueError("must be a day like 2026-03-05 or a time like 2026-03-05T09:30:00Z")
    return moment


Day = Annotated[date, BeforeValidator(_day), WithJsonSchema({"type": "string", "format": "date"})]
Moment = Annotated[
    date | datetime,
    BeforeValidator(_moment),
    WithJsonSchema({"anyOf": [{"type": "string", "format": "date"}, {"type": "string", "format": "date-time"}]}),
]
"""A day (its end, in the agent's time zone) or a time."""
