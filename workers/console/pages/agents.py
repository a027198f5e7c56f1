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
from slowwave_server.workers.console.routing import Page, changes, reads
from slowwave_server.workers.console.visit import Trouble, Visit

SHOWN = 50


def agents(visit: Visit) -> Response:
    """Agents by name."""
    after = visit.word("after")
    with visit.reading() as connection:
        found = list_agents(connection, visit.tenant, after=after, limit=SHOWN + 1)
    older = visit.link(after=found[SHOWN - 1].name) if len(found) > SHOWN else None
    return visit.page("agents.html", agents=found[:SHOWN], newer=visit.link(after=None) if after else None, older=older)


def sessions(visit: Visit) -> Response:
    """Conversations of one agent, the newest first."""
    agent, dirty, before = _agent(visit), visit.word("dirty") is not None, visit.number("before", 0, most=2**63 - 1)
    with visit.reading() as connection:
        found = list_sessions(connection, visit.tenant, agent, dirty=dirty, before=before or None, limit=SHOWN + 1)
    older = visit.link(before=found[SHOWN - 1].number) if len(found) > SHOWN else None
    newer = visit.link(before=None) if before else None
    return visit.page("sessions.html", agent=agent, dirty=dirty, sessions=found[:SHOWN], newer=newer, older=older)


def why(visit: Visit) -> Response:
    """What one conversation waits for."""
    ref = SessionRef(visit.tenant, _agent(visit), _session(visit)).checked()
    seen = visit.desk.watch.latest()
    listening = None if seen.workers is None else frozenset[str]().union(*seen.workers.values())
    with visit.reading() as connection:
        waiting = why_waiting(
            connection,
            visit.queue,
            ref,
            visit.settings.memory.auto_flush,
            now=visit.now,
            listening=listening,
            swept_ago=visit.shell.swept_ago(),
            session_ttl=timedelta(minutes=visit.settings.memory.sessions.session_ttl_minutes),
        )
    return visit.page("session.html", agent=ref.agent, session=ref.session, waiting=waiting)


def flush(visit: Visit) -> Response:
    """Ask for a flush of one conversation, or of all of an agent's that wait."""
    agent, name = visit.field("agent"), visit.field("session")
    priority: Priority = "high" if visit.field("high") else "normal"
    with visit.reading() as connection:
        if name:
            find_session(connection, visit.tenant, agent, name)
        names = [name] if name else dirty_sessions(connection, visit.tenant, agent)
    refs = [SessionRef(visit.tenant, agent, one).checked() for one in names]
    asked = ask_for_flush(visit.shell, refs, priority=priority)
    if name:
        say = "A flush was asked for." if asked else "Nothing to flush: everything in it is processed."
        return visit.go("/session", say=say, agent=agent, session=name)
    said = f"A flush was asked for, of {len(asked):,} of its conversations." if asked else "Nothing to flush."
    return visit.go("/sessions", say=said, agent=agent)


def _agent(visit: Visit) -> str:
    agent = visit.query.get("agent", "")
    if not agent:
        raise Trouble(HTTPStatus.BAD_REQUEST, "The address names no agent", "choose one at /agents")
    return agent


def _session(visit: Visit) -> str:
    session = visit.query.get("session", "")
    if not session:
        cure = "choose one at /sessions?" + urlencode({"agent": visit.query.get("agent", "")})
        raise Trouble(HTTPStatus.BAD_REQUEST, "The address names no conversation", cure)
    return session


ROUTES: list[Page] = [
    reads("/agents", agents),
    reads("/sessions", sessions),
    reads("/session", why),
    changes("/flush", flush, role="operator"),
]
