"""One agent: its memories, sessions, days, notes, runs, open items and settings, each on a tab."""

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from sqlalchemy import Connection
from starlette.responses import Response

from slowwave_server.domain.local_days import bounds_of, local_day
from slowwave_server.services.days.agents import InvalidDay, configure_agent
from slowwave_server.services.days.book import day_book
from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.reports.agents import MEMORIES_COUNTED, SESSIONS_COUNTED, list_sessions, read_agent
from slowwave_server.services.reports.aliases import list_aliases
from slowwave_server.services.reports.inbox import open_keys, read_items
from slowwave_server.services.reports.memories import list_memories
from slowwave_server.services.reports.run_list import list_runs
from slowwave_server.services.reports.working import list_notes
from slowwave_server.workers.console.request import PageError, PageRequest
from slowwave_server.workers.console.routing import Page, changes, reads

SHOWN = 25
SESSIONS_SHOWN = 50
MOST = {"memories": MEMORIES_COUNTED, "sessions": SESSIONS_COUNTED}
"""The counts of tabs at which counting stops."""
Values = dict[str, Any]
Tab = Callable[[PageRequest, Connection, str], Values]


def agent_of(given: str) -> str:
    """Return the agent in an address or a form. Raises PageError."""
    if not given:
        raise PageError(HTTPStatus.BAD_REQUEST, "The address names no agent", "choose one at /agents")
    return given


def show(req: PageRequest) -> Response:
    """Show one tab of one agent."""
    return _show(req, agent_of(req.query.get("agent", "")), _tab(req))


def set_clock(req: PageRequest) -> Response:
    """Change the start of the agent's local day, for events from now on."""
    agent = agent_of(req.field("agent"))
    try:
        hour = _hour(req.field("cutoff_hour"))
        with req.writing() as connection:
            configure_agent(connection, req.tenant, agent, timezone=req.field("timezone") or None, cutoff_hour=hour)
    except InvalidDay as refused:
        return _show(req, agent, "settings", problem=f"Nothing was changed: {refused}.")
    say = "The agent's day begins at another hour or in another zone, for events from now on."
    return req.go("/agent", say=say, agent=agent, tab="settings")


def _show(req: PageRequest, agent: str, tab: str, *, problem: str | None = None) -> Response:
    with req.reading() as connection:
        found = read_agent(connection, req.tenant, agent)
        values = TABS[tab][1](req, connection, agent)
    memories = sum(number for status, number in found.memories.items() if status != "archived")
    counts = {"memories": memories, "sessions": found.agent.sessions, "notes": found.notes, "inbox": found.questions}
    return req.page(
        "agent.html",
        status_code=HTTPStatus.OK if problem is None else HTTPStatus.CONFLICT,
        problem=problem,
        agent=found.agent,
        counts=counts,
        statuses=found.memories,
        more_memories=found.more_memories,
        tab=tab,
        tabs=[(key, _label(key, words, counts.get(key)), _link(agent, key)) for key, (words, _) in TABS.items()],
        **values,
    )


def _memories(req: PageRequest, connection: Connection, agent: str) -> Values:
    return {"memories": list_memories(connection, req.tenant, agent, limit=SHOWN)}


def _sessions(req: PageRequest, connection: Connection, agent: str) -> Values:
    dirty, before = req.word("dirty") is not None, req.number("before", 0, most=2**63 - 1)
    found = list_sessions(connection, req.tenant, agent, dirty=dirty, before=before or None, limit=SESSIONS_SHOWN + 1)
    return {
        "sessions": found[:SESSIONS_SHOWN],
        "dirty": dirty,
        "older": req.link(before=found[SESSIONS_SHOWN - 1].number) if len(found) > SESSIONS_SHOWN else None,
        "newer": req.link(before=None) if before else None,
    }


def _days(req: PageRequest, connection: Connection, agent: str) -> Values:
    return {"days": day_book(connection, req.tenant, agent, limit=SHOWN)}


def _notes(req: PageRequest, connection: Connection, agent: str) -> Values:
    rules = req.settings.memory.consolidation
    settled = req.word("settled") is not None
    notes = list_notes(connection, req.tenant, "agent", agent, rules, req.now, settled=settled, limit=SHOWN)
    return {"notes": notes, "settled": settled}


def _runs(req: PageRequest, connection: Connection, agent: str) -> Values:
    return {"runs": list_runs(connection, req.tenant, scope=("agent", agent), limit=SHOWN)}


def _inbox(req: PageRequest, connection: Connection, agent: str) -> Values:
    keys = open_keys(connection, req.tenant, scope=("agent", agent))
    return {"items": read_items(connection, req.tenant, keys[:SHOWN]), "open_items": len(keys)}


def _settings(req: PageRequest, connection: Connection, agent: str) -> Values:
    clock = configure_agent(connection, req.tenant, agent)
    today = local_day(req.now, clock.timezone, clock.cutoff_hour)
    since, until = bounds_of(today, clock.timezone, clock.cutoff_hour)
    try:
        aliases = list_aliases(connection, req.tenant, ("agent", agent), limit=SHOWN)
    except UnknownName:
        aliases = []
    return {"clock": clock, "today": today, "since": since, "until": until, "aliases": aliases}


TABS: Mapping[str, tuple[str, Tab]] = {
    "memories": ("Memories", _memories),
    "sessions": ("Sessions", _sessions),
    "days": ("Days", _days),
    "notes": ("Notes", _notes),
    "runs": ("Runs", _runs),
    "inbox": ("Inbox", _inbox),
    "settings": ("Settings", _settings),
}


def _tab(req: PageRequest) -> str:
    given = req.word("tab") or "memories"
    if given not in TABS:
        raise PageError(HTTPStatus.BAD_REQUEST, f"tab must be one of {', '.join(TABS)}, got {given!r:.40}")
    return given


def _label(tab: str, words: str, count: int | None) -> str:
    return words if count is None else f"{words} ({count:,}{'+' if count == MOST.get(tab) else ''})"


def _link(agent: str, tab: str) -> str:
    return f"/agent?{urlencode({'agent': agent, 'tab': tab})}"


def _hour(given: str) -> int:
    """Parse an hour. Raises InvalidDay."""
    if given.isascii() and given.isdigit() and len(given) < 3:  # noqa: PLR2004 (digits of an hour)
        return int(given)
    raise InvalidDay(f"the hour must be a number from 0 to 23, got {given!r:.20}")


ROUTES: list[Page] = [reads("/agent", show), changes("/agent/clock", set_clock, role="operator")]
