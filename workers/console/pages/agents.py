"""Agents, their conversations, and what a conversation waits for; asking for a flush.

Must not know: SQL, the rules behind an answer.
"""

from datetime import timedelta
from http import HTTPStatus
from urllib.parse import urlencode

from starlette.responses import Response

from slowwave.coordination.answers import Priority
from slowwave.identity import SessionRef
from slowwave_server.services.lookup import find_session
from slowwave_server.services.reports.agents import list_agents, list_sessions
from slowwave_server.services.reports.dirty import dirty_sessions
from slowwave_server.services.reports.why import why_waiting
from slowwave_server.workers.cli.wait import ask_for_flush
from slowwave_server.workers.console.request import PageError, PageRequest
from slowwave_server.workers.console.routing import Page, changes, reads

SHOWN = 50


def agents(req: PageRequest) -> Response:
    """Agents by name."""
    after = req.word("after")
    with req.reading() as connection:
        found = list_agents(connection, req.tenant, after=after, limit=SHOWN + 1)
    older = req.link(after=found[SHOWN - 1].name) if len(found) > SHOWN else None
    return req.page("agents.html", agents=found[:SHOWN], newer=req.link(after=None) if after else None, older=older)


def sessions(req: PageRequest) -> Response:
    """Conversations of one agent, the newest first."""
    agent, dirty, before = _agent(req), req.word("dirty") is not None, req.number("before", 0, most=2**63 - 1)
    with req.reading() as connection:
        found = list_sessions(connection, req.tenant, agent, dirty=dirty, before=before or None, limit=SHOWN + 1)
    older = req.link(before=found[SHOWN - 1].number) if len(found) > SHOWN else None
    newer = req.link(before=None) if before else None
    return req.page("sessions.html", agent=agent, dirty=dirty, sessions=found[:SHOWN], newer=newer, older=older)


def why(req: PageRequest) -> Response:
    """What one conversation waits for."""
    ref = SessionRef(req.tenant, _agent(req), _session(req)).checked()
    seen = req.state.watch.latest()
    listening = None if seen.workers is None else frozenset[str]().union(*seen.workers.values())
    with req.reading() as connection:
        waiting = why_waiting(
            connection,
            req.queue,
            ref,
            req.settings.memory.auto_flush,
            now=req.now,
            listening=listening,
            swept_ago=req.shell.swept_ago(),
            session_ttl=timedelta(minutes=req.settings.memory.sessions.session_ttl_minutes),
        )
    return req.page("session.html", agent=ref.agent, session=ref.session, waiting=waiting)


def flush(req: PageRequest) -> Response:
    """Ask for a flush of one conversation, or of all of an agent's that wait."""
    agent, name = req.field("agent"), req.field("session")
    priority: Priority = "high" if req.field("high") else "normal"
    with req.reading() as connection:
        if name:
            find_session(connection, req.tenant, agent, name)
        names = [name] if name else dirty_sessions(connection, req.tenant, agent)
    refs = [SessionRef(req.tenant, agent, one).checked() for one in names]
    asked = ask_for_flush(req.shell, refs, priority=priority)
    if name:
        say = "A flush was asked for." if asked else "Nothing to flush: everything in it is processed."
        return req.go("/session", say=say, agent=agent, session=name)
    said = f"A flush was asked for, of {len(asked):,} of its conversations." if asked else "Nothing to flush."
    return req.go("/sessions", say=said, agent=agent)


def _agent(req: PageRequest) -> str:
    agent = req.query.get("agent", "")
    if not agent:
        raise PageError(HTTPStatus.BAD_REQUEST, "The address names no agent", "choose one at /agents")
    return agent


def _session(req: PageRequest) -> str:
    session = req.query.get("session", "")
    if not session:
        cure = "choose one at /sessions?" + urlencode({"agent": req.query.get("agent", "")})
        raise PageError(HTTPStatus.BAD_REQUEST, "The address names no conversation", cure)
    return session


ROUTES: list[Page] = [
    reads("/agents", agents),
    reads("/sessions", sessions),
    reads("/session", why),
    changes("/flush", flush, role="operator"),
]
