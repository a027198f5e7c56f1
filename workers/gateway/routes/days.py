"""Agents, their days, and why a session waits, over HTTP."""

from dataclasses import asdict
from datetime import date, timedelta
from typing import Annotated

from fastapi import APIRouter, Query

from slowwave.identity import SessionRef, shared_scope
from slowwave_server.services.days.book import DayEntry, day_book
from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.reports.agents import list_agents
from slowwave_server.services.reports.days import read_day
from slowwave_server.services.reports.why import why_waiting
from slowwave_server.workers.gateway.caller import nothing
from slowwave_server.workers.gateway.curating import (
    AgentName,
    Cursor,
    Day,
    Limit,
    SessionName,
    SharedScope,
    check_agent,
    check_scope,
    responses,
)
from slowwave_server.workers.gateway.cursors import page_of, read_cursor, text_part
from slowwave_server.workers.gateway.routing import GatewayRoute
from slowwave_server.workers.gateway.schemas import curation as shapes
from slowwave_server.workers.gateway.visit import Visit, reads

router = APIRouter(route_class=GatewayRoute, tags=["agents"])


@router.get("/v1/agents")
def list_agents_of_key(visit: Annotated[Visit, reads], limit: Limit = 50, cursor: Cursor = None) -> shapes.AgentPage:
    """List the agents that the key may access, by name."""
    after = read_cursor(cursor, text_part)
    with visit.reading() as connection:
        found = list_agents(connection, visit.tenant, reach=visit.reach, after=after, limit=limit + 1)
    agents, more = page_of(found, limit, lambda one: (one.name,))
    return shapes.AgentPage(items=[shapes.Agent.model_validate(one) for one in agents], next_cursor=more)


@router.get("/v1/agents/{agent}/days", responses=responses(404))
def list_days(
    agent: AgentName,
    visit: Annotated[Visit, reads],
    since: Annotated[Day | None, Query(description="Only this day and later days.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> shapes.DayPage:
    """List the days of an agent in all scopes that the key may access, the newest first."""
    after = read_cursor(cursor, _place)
    with visit.reading() as connection:
        check_agent(visit, connection, agent)
        found = day_book(connection, visit.tenant, agent, since=since, after=after, limit=limit + 1)
    entries, more = page_of(found, limit, lambda one: (one.ref.day, one.ref.agent, one.ref.scope))
    return shapes.DayPage(items=[_day(one) for one in entries if _reached(visit, one)], next_cursor=more)


@router.get("/v1/agents/{agent}/days/{day}", responses=responses(404))
def get_day(
    agent: AgentName,
    day: Day,
    visit: Annotated[Visit, reads],
    scope: SharedScope = None,
    version: Annotated[int | None, Query(ge=1, lt=2**31, description="Default: the newest.")] = None,
) -> shapes.DayStory:
    """Read one day of an agent, with one version of its summary."""
    place = ("agent", agent) if scope is None else shared_scope(scope)
    with visit.reading() as connection:
        check_agent(visit, connection, agent)
        check_scope(visit, *place)
        try:
            story = read_day(connection, visit.tenant, agent, day, scope=scope, version=version)
        except UnknownName:
            # The original message names other scopes.
            raise nothing("day" if version is None else f"version {version} of day", day) from None
    return shapes.DayStory.model_validate(story)


@router.get("/v1/agents/{agent}/sessions/{session}/why", responses=responses(404))
def why(agent: AgentName, session: SessionName, visit: Annotated[Visit, reads]) -> shapes.Why:
    """Explain in one sentence why a session is not processed yet."""
    ref = SessionRef(visit.tenant, agent, session).checked()
    with visit.reading() as connection:
        check_agent(visit, connection, agent)
        try:
            waiting = why_waiting(
                connection,
                visit.shell.queue,
                ref,
                visit.settings.memory.auto_flush,
                now=visit.now,
                swept_ago=visit.shell.swept_ago(),
                session_ttl=timedelta(minutes=visit.settings.memory.sessions.session_ttl_minutes),
            )
        except UnknownName:
            raise nothing("session", session) from None
    return shapes.Why(
        reason=waiting.reason.value,
        sentence=waiting.sentence,
        until=waiting.until,
        also=list(waiting.also),
        cure=waiting.cure,
    )


def _place(day: str, agent: str, scope: str | None) -> tuple[date, str, str | None]:
    return date.fromisoformat(day), text_part(agent), None if scope is None else text_part(scope)


def _reached(visit: Visit, entry: DayEntry) -> bool:
    scope = entry.ref.scope
    return scope is None or visit.reach.admits(*shared_scope(scope))


def _day(entry: DayEntry) -> shapes.Day:
    return shapes.Day.model_validate(asdict(entry) | asdict(entry.ref))
