"""One session as a transcript with the memories of each turn; and a request for a flush."""

from collections.abc import Sequence
from datetime import timedelta
from http import HTTPStatus
from itertools import groupby
from urllib.parse import urlencode

from starlette.responses import Response

from slowwave.coordination.outcomes import Priority
from slowwave.identity import SessionRef
from slowwave_server.services.lookup import find_session
from slowwave_server.services.reports.dirty import dirty_sessions
from slowwave_server.services.reports.transcript import ProducedMemory, Utterance, read_transcript
from slowwave_server.services.reports.why import why_waiting
from slowwave_server.workers.console.pages.agent import agent_of
from slowwave_server.workers.console.request import PageError, PageRequest
from slowwave_server.workers.console.routing import Page, changes, reads
from slowwave_server.workers.shared.flush_requests import ask_for_flush

SEQ_MOST = 2**62


def show(req: PageRequest) -> Response:
    """Show one page of the transcript, and the reason why the session waits."""
    agent = agent_of(req.query.get("agent", ""))
    ref = SessionRef(req.tenant, agent, _session(req)).checked()
    seen = req.state.watch.latest()
    listening = None if seen.workers is None else frozenset[str]().union(*seen.workers.values())
    before, after, at = (req.number(name, 0, most=SEQ_MOST) or None for name in ("before", "after", "at"))
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
        transcript = read_transcript(connection, req.tenant, ref.agent, ref.session, before=before, after=after, at=at)
    return req.page(
        "session.html",
        agent=ref.agent,
        session=ref.session,
        waiting=waiting,
        transcript=transcript,
        turns=_turns(transcript.utterances),
        at=at,
        earlier=req.link(before=transcript.earlier, after=None, at=None) if transcript.earlier else None,
        later=req.link(after=transcript.later, before=None, at=None) if transcript.later else None,
    )


def flush(req: PageRequest) -> Response:
    """Request a flush of one session, or of all sessions of an agent that have unprocessed events."""
    agent, name = req.field("agent"), req.field("session")
    priority: Priority = "high" if req.field("high") else "normal"
    with req.reading() as connection:
        if name:
            find_session(connection, req.tenant, agent, name)
        names = [name] if name else dirty_sessions(connection, req.tenant, agent)
    refs = [SessionRef(req.tenant, agent, one).checked() for one in names]
    asked = ask_for_flush(req.shell, refs, priority=priority)
    if name:
        say = "A flush was asked for." if asked else "Nothing to flush: every event of this session is processed."
        return req.go("/session", say=say, agent=agent, session=name)
    say = f"A flush was asked for, of {len(asked):,} sessions." if asked else "Nothing to flush."
    return req.go("/agent", say=say, agent=agent, tab="sessions")


def _turns(said: Sequence[Utterance]) -> list[tuple[int, list[Utterance], list[ProducedMemory]]]:
    """Group events by turn, and add the memories that each turn produced, each memory once."""
    turns = []
    for turn, group in groupby(said, lambda one: one.turn):
        events = list(group)
        memories = {memory.id: memory for event in events for memory in event.memories}
        turns.append((turn, events, list(memories.values())))
    return turns


def _session(req: PageRequest) -> str:
    session = req.query.get("session", "")
    if not session:
        cure = "choose one at /agent?" + urlencode({"agent": req.query.get("agent", ""), "tab": "sessions"})
        raise PageError(HTTPStatus.BAD_REQUEST, "The address names no session", cure)
    return session


ROUTES: list[Page] = [reads("/session", show), changes("/flush", flush, role="operator")]
