"""Quarantined events and dead letters, with retry and dismiss."""

import json
import logging
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, get_args

from starlette.responses import Response

from slowwave.identity import SessionRef
from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.services.access.whole_installation import sees_everything
from slowwave_server.services.dead_letters.quarantine import RetryResult, retry_quarantined
from slowwave_server.services.dead_letters.redrive import dismiss, redrive
from slowwave_server.services.extraction.build import build_extractor
from slowwave_server.services.lookup import UnknownName, find_agent, find_session
from slowwave_server.services.reports.dead_letters import LetterState, count_open, list_dead_letters, read_dead_letter
from slowwave_server.services.reports.quarantine import QuarantinedEvent, count_quarantined, list_quarantined
from slowwave_server.workers.console.app_state import Link
from slowwave_server.workers.console.background import run_in_background
from slowwave_server.workers.console.request import PageError, PageRequest
from slowwave_server.workers.console.routing import Page, changes, reads
from slowwave_server.workers.shared.task_sender import sender

log = logging.getLogger(__name__)

SHOWN = 25
TRIED_AT_ONCE = 1000
STATES: tuple[LetterState, ...] = get_args(LetterState)


def overview(req: PageRequest) -> Response:
    """Show both kinds, the newest of each."""
    with req.reading() as connection:
        nobodys = sees_everything(connection, req.user)
        values: dict[str, Any] = {
            "events": list_quarantined(connection, req.tenant, limit=SHOWN),
            "events_in_all": count_quarantined(connection, req.tenant),
            "letters": list_dead_letters(connection, req.tenant, nobodys=nobodys, limit=SHOWN),
            "letters_in_all": count_open(connection, req.tenant, nobodys=nobodys),
        }
    return req.page("quarantine.html", **values)


def events(req: PageRequest) -> Response:
    """List quarantined events of all agents or one, newest first."""
    agent, before = req.word("agent"), req.number("before", 0, most=2**63 - 1)
    with req.reading() as connection:
        if agent is not None:
            find_agent(connection, req.tenant, agent)
        found = list_quarantined(connection, req.tenant, agent=agent, before=before or None, limit=SHOWN + 1)
    shown = found[:SHOWN]
    older = req.link(before=shown[-1].window) if len(found) > SHOWN else None
    newer = req.link(before=None) if before else None
    return req.page("quarantine_events.html", events=shown, agent=agent, older=older, newer=newer)


def letters(req: PageRequest) -> Response:
    """List dead letters in one state, or in any, newest first."""
    state, before = req.word("state") or "open", req.number("before", 0, most=2**63 - 1)
    if state not in {*STATES, "any"}:
        raise UnknownName(f"state must be one of {', '.join(STATES)} or any, got {state!r:.40}")
    wanted = next((one for one in STATES if one == state), None)
    with req.reading() as connection:
        nobodys = sees_everything(connection, req.user)
        found = list_dead_letters(
            connection, req.tenant, state=wanted, before=before or None, nobodys=nobodys, limit=SHOWN + 1
        )
    shown = found[:SHOWN]
    older = req.link(before=shown[-1].id) if len(found) > SHOWN else None
    newer = req.link(before=None) if before else None
    states = [*((one, one) for one in STATES), ("any", "any")]
    return req.page("quarantine_letters.html", letters=shown, state=state, states=states, older=older, newer=newer)


def letter(req: PageRequest) -> Response:
    """Show one letter with its payload."""
    with req.reading() as connection:
        nobodys = sees_everything(connection, req.user)
        found = read_dead_letter(connection, req.tenant, req.request.path_params["letter"], nobodys=nobodys)
    return req.page("dead_letter.html", letter=found, payload=json.dumps(found.payload, ensure_ascii=False, indent=2))


def retry(req: PageRequest) -> Response:
    """Extract one event again: its memories are stored; if it fails again, it stays in quarantine."""
    ref = SessionRef(req.tenant, req.field("agent"), req.field("session"))
    seq = _number(req.field("seq"))
    with req.reading() as connection:
        find_session(connection, ref.tenant, ref.agent, ref.session)
    tried = run_in_background("retry", lambda: _tried(req, [(ref, seq)]))
    if tried is None:
        return _back(req, "events", say="The retry goes on in the background: reload this page in a moment.")
    told = {
        "stored": f"{pluralize(tried.value[0].stored, 'memory', 'memories')} stored.",
        "no_reply": "The event holds nothing to remember.",
        "failed": f"It failed again: {tried.value[0].error}",
        "gone": "It is no longer in quarantine.",
    }
    return _back(req, "events", say=told[tried.value[0].outcome])


def retry_all(req: PageRequest) -> Response:
    """Extract all quarantined events again."""
    with req.reading() as connection:
        found = list_quarantined(connection, req.tenant, limit=TRIED_AT_ONCE)
    chosen = [(_ref(req, event), event.seq) for event in found]
    tried = run_in_background("retry-all", lambda: _tried(req, chosen))
    if tried is None:
        say = f"{pluralize(len(chosen), 'event')} are retried in the background: reload this page in a moment."
    else:
        through = sum(result.outcome in {"stored", "no_reply"} for result in tried.value)
        say = f"{through:,} of {pluralize(len(chosen), 'event')} were processed."
    return _back(req, "events", say=say)


def redrive_letters(req: PageRequest) -> Response:
    """Send selected letters, or all open ones, to their task again."""
    send = sender(req.shell)
    numbers, nobodys = _chosen(req)
    with req.engine.connect() as connection:
        done, refused = redrive(connection, req.tenant, numbers, send=send, now=req.now, nobodys=nobodys)
    return _told(req, "retried", done, refused)


def dismiss_letters(req: PageRequest) -> Response:
    """Close selected letters, or all open ones, without sending them; they stay readable."""
    numbers, nobodys = _chosen(req)
    with req.engine.connect() as connection:
        done, refused = dismiss(connection, req.tenant, numbers, now=req.now, nobodys=nobodys)
    return _told(req, "dismissed", done, refused)


def _ref(req: PageRequest, event: QuarantinedEvent) -> SessionRef:
    return SessionRef(req.tenant, event.agent, event.session)


def _tried(req: PageRequest, chosen: Sequence[tuple[SessionRef, int]]) -> list[RetryResult]:
    extractor = build_extractor(req.settings, req.engine, req.state.redis, req.state.clock)
    log.info("%d quarantined events are retried by %s", len(chosen), req.user.name)
    return [retry_quarantined(req.engine, extractor, ref, seq, req.state.clock()) for ref, seq in chosen]


def _chosen(req: PageRequest) -> tuple[list[int] | None, bool]:
    """Return the numbers of letters (None: all open ones), and True if letters without a tenant count, too."""
    with req.reading() as connection:
        nobodys = sees_everything(connection, req.user)
    if req.field("every") == "yes":
        return None, nobodys
    numbers = [_number(str(given)) for given in req.form.getlist("letter")]
    if not numbers:
        raise PageError(HTTPStatus.BAD_REQUEST, "No dead letter was selected", "select at least one")
    return numbers, nobodys


def _number(given: str) -> int:
    if not (given.isascii() and given.isdigit()) or int(given) >= 2**63:
        raise PageError(
            HTTPStatus.BAD_REQUEST, f"the number of an event or a dead letter must be a whole number, got {given!r:.40}"
        )
    return int(given)


def _told(req: PageRequest, what: str, done: list[int], refused: Mapping[int, str]) -> Response:
    # A letter stores the time of its decision but no name; the audit log has the name.
    log.info("dead letters %s by %s: %s", what, req.user.name, ", ".join(map(str, done)) or "none")
    say = f"{pluralize(len(done), 'dead letter')} {what}."
    for number, reason in refused.items():
        say += f" Dead letter {number}: {reason}."
    return _back(req, "dead-letters", say=say)


def _back(req: PageRequest, part: str, *, say: str) -> Response:
    """Return to the page with both lists if the form was on it, else to the page of one list."""
    return req.go("/quarantine" if req.field("from") == "overview" else f"/quarantine/{part}", say=say)


LINK = Link(
    title="Quarantine",
    group="Work",
    place=3,
    icon="M12 3l9 16H3zM12 9v5M12 16.5v.5",
    shows="events in quarantine and dead letters, with retry and dismiss",
    key="q",
    badge="quarantine",
)
ROUTES: list[Page] = [
    reads("/quarantine", overview, link=LINK),
    reads("/quarantine/events", events),
    reads("/quarantine/dead-letters", letters),
    reads("/quarantine/dead-letters/{letter:int}", letter),
    changes("/quarantine/events/retry", retry, role="operator"),
    changes("/quarantine/events/retry-all", retry_all, role="operator"),
    changes("/quarantine/dead-letters/redrive", redrive_letters, role="operator"),
    changes("/quarantine/dead-letters/dismiss", dismiss_letters, role="operator"),
]
