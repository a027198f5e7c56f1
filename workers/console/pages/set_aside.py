"""What was set aside: events that no flush could digest, payloads that no task could take, and trying them again.

Must not know: SQL, why an event or a payload is refused, how a message is built.
"""

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
from slowwave_server.services.reports.dead_letters import LetterState, count_open, list_letters, read_letter
from slowwave_server.services.reports.quarantine import QuarantinedEvent, count_quarantined, list_quarantined
from slowwave_server.workers.cli.dead_letters import sender
from slowwave_server.workers.console.beside import run_beside
from slowwave_server.workers.console.routing import Page, changes, reads
from slowwave_server.workers.console.visit import Trouble, Visit

log = logging.getLogger(__name__)

SHOWN = 25
TRIED_AT_ONCE = 1000
STATES: tuple[LetterState, ...] = get_args(LetterState)


def overview(visit: Visit) -> Response:
    """Both kinds, the newest of each."""
    with visit.reading() as connection:
        nobodys = sees_everything(connection, visit.user)
        values: dict[str, Any] = {
            "events": list_quarantined(connection, visit.tenant, limit=SHOWN),
            "events_in_all": count_quarantined(connection, visit.tenant),
            "letters": list_letters(connection, visit.tenant, nobodys=nobodys, limit=SHOWN),
            "letters_in_all": count_open(connection, visit.tenant, nobodys=nobodys),
        }
    return visit.page("set_aside.html", **values)


def events(visit: Visit) -> Response:
    """Events that were set aside, of all agents or one, the newest first."""
    agent, before = visit.word("agent"), visit.number("before", 0, most=2**63 - 1)
    with visit.reading() as connection:
        if agent is not None:
            find_agent(connection, visit.tenant, agent)
        found = list_quarantined(connection, visit.tenant, agent=agent, before=before or None, limit=SHOWN + 1)
    shown = found[:SHOWN]
    older = visit.link(before=shown[-1].window) if len(found) > SHOWN else None
    newer = visit.link(before=None) if before else None
    return visit.page("set_aside_events.html", events=shown, agent=agent, older=older, newer=newer)


def letters(visit: Visit) -> Response:
    """Dead letters in one state, or in any, the newest first."""
    state, before = visit.word("state") or "open", visit.number("before", 0, most=2**63 - 1)
    if state not in {*STATES, "any"}:
        raise UnknownName(f"a letter is {', '.join(STATES)}, or any; not {state!r:.40}")
    wanted = next((one for one in STATES if one == state), None)
    with visit.reading() as connection:
        nobodys = sees_everything(connection, visit.user)
        found = list_letters(
            connection, visit.tenant, state=wanted, before=before or None, nobodys=nobodys, limit=SHOWN + 1
        )
    shown = found[:SHOWN]
    older = visit.link(before=shown[-1].id) if len(found) > SHOWN else None
    newer = visit.link(before=None) if before else None
    states = [*((one, one) for one in STATES), ("any", "any")]
    return visit.page("set_aside_letters.html", letters=shown, state=state, states=states, older=older, newer=newer)


def letter(visit: Visit) -> Response:
    """One letter with its payload."""
    with visit.reading() as connection:
        nobodys = sees_everything(connection, visit.user)
        found = read_letter(connection, visit.tenant, visit.request.path_params["letter"], nobodys=nobodys)
    return visit.page("letter.html", letter=found, payload=json.dumps(found.payload, ensure_ascii=False, indent=2))


def retry(visit: Visit) -> Response:
    """Extract one event again: what comes of it is kept, what fails again stays set aside."""
    ref = SessionRef(visit.tenant, visit.field("agent"), visit.field("session"))
    seq = _number(visit.field("seq"))
    with visit.reading() as connection:
        find_session(connection, ref.tenant, ref.agent, ref.session)
    tried = run_beside("retry", lambda: _tried(visit, [(ref, seq)]))
    if tried is None:
        return visit.go("/set-aside/events", say="It is being tried again: look at this page in a moment.")
    told = {
        "stored": f"{pluralize(tried.value[0].stored, 'memory', 'memories')} stored.",
        "no_reply": "There was nothing in it to remember.",
        "failed": f"It failed again: {tried.value[0].error}",
        "gone": "It is not set aside any more.",
    }
    return visit.go("/set-aside/events", say=told[tried.value[0].outcome])


def retry_all(visit: Visit) -> Response:
    """Extract again all that is set aside."""
    with visit.reading() as connection:
        found = list_quarantined(connection, visit.tenant, limit=TRIED_AT_ONCE)
    chosen = [(_ref(visit, event), event.seq) for event in found]
    tried = run_beside("retry-all", lambda: _tried(visit, chosen))
    if tried is None:
        say = f"{pluralize(len(chosen), 'event')} are being tried again: look at this page in a moment."
    else:
        through = sum(result.outcome in {"stored", "no_reply"} for result in tried.value)
        say = f"{through:,} of {pluralize(len(chosen), 'event')} went through."
    return visit.go("/set-aside/events", say=say)


def redrive_letters(visit: Visit) -> Response:
    """Send chosen letters, or all open ones, to their task again."""
    send = sender(visit.shell)
    numbers, nobodys = _chosen(visit)
    with visit.engine.connect() as connection:
        done, refused = redrive(connection, visit.tenant, numbers, send=send, now=visit.now, nobodys=nobodys)
    return _told(visit, "redriven", done, refused)


def dismiss_letters(visit: Visit) -> Response:
    """Close chosen letters, or all open ones, without sending them; they stay readable."""
    numbers, nobodys = _chosen(visit)
    with visit.engine.connect() as connection:
        done, refused = dismiss(connection, visit.tenant, numbers, now=visit.now, nobodys=nobodys)
    return _told(visit, "dismissed", done, refused)


def _ref(visit: Visit, event: QuarantinedEvent) -> SessionRef:
    return SessionRef(visit.tenant, event.agent, event.session)


def _tried(visit: Visit, chosen: Sequence[tuple[SessionRef, int]]) -> list[RetryResult]:
    extractor = build_extractor(visit.settings, visit.engine, visit.desk.redis, visit.desk.clock)
    log.info("%d events that were set aside are tried again by %s", len(chosen), visit.user.name)
    return [retry_quarantined(visit.engine, extractor, ref, seq, visit.desk.clock()) for ref, seq in chosen]


def _chosen(visit: Visit) -> tuple[list[int] | None, bool]:
    """The numbers of letters (None: all that are open), and whether those of nobody count, too."""
    with visit.reading() as connection:
        nobodys = sees_everything(connection, visit.user)
    if visit.field("every") == "yes":
        return None, nobodys
    numbers = [_number(str(given)) for given in visit.form.getlist("letter")]
    if not numbers:
        raise Trouble(HTTPStatus.BAD_REQUEST, "No letter was chosen", "tick the letters that are meant")
    return numbers, nobodys


def _number(given: str) -> int:
    if not (given.isascii() and given.isdigit()) or int(given) >= 2**63:
        raise Trouble(HTTPStatus.BAD_REQUEST, f"{given!r:.40} is no number of an event or a letter")
    return int(given)


def _told(visit: Visit, what: str, done: list[int], refused: Mapping[int, str]) -> Response:
    # A letter keeps when it was decided on, and no name: the log has that.
    log.info("dead letters %s by %s: %s", what, visit.user.name, ", ".join(map(str, done)) or "none")
    say = f"{pluralize(len(done), 'letter')} {what}."
    for number, reason in refused.items():
        say += f" Letter {number}: {reason}."
    return visit.go("/set-aside/letters", say=say)


ROUTES: list[Page] = [
    reads("/set-aside", overview),
    reads("/set-aside/events", events),
    reads("/set-aside/letters", letters),
    reads("/set-aside/letters/{letter:int}", letter),
    changes("/set-aside/events/retry", retry, role="operator"),
    changes("/set-aside/events/retry-all", retry_all, role="operator"),
    changes("/set-aside/letters/redrive", redrive_letters, role="operator"),
    changes("/set-aside/letters/dismiss", dismiss_letters, role="operator"),
]
