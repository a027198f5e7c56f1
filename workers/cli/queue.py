"""`slowwave queue list | show | retry | dismiss`: quarantined events and dead letters."""

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from slowwave_server.domain.spoken_time import duration_words, pluralize
from slowwave_server.workers.cli.options import Json, Limit
from slowwave_server.workers.cli.output import console, one_line, print_json, print_rows, safe, styled
from slowwave_server.workers.cli.progress import progress
from slowwave_server.workers.cli.sentences import complain
from slowwave_server.workers.cli.state import shell_of
from slowwave_server.workers.shared.failures import FOUND
from slowwave_server.workers.shared.json_document import document
from slowwave_server.workers.shared.shell import Shell

if TYPE_CHECKING:
    from datetime import datetime

    from slowwave_server.models.driver import Reads
    from slowwave_server.services.dead_letters.quarantine import RetryResult
    from slowwave_server.services.reports.dead_letters import ListedDeadLetter
    from slowwave_server.services.reports.quarantine import QuarantinedEvent

EVENTS_AT_ONCE = 1000


class Entries(NamedTuple):
    """Dead letters by number, and quarantined events."""

    letters: list[int]
    events: "list[QuarantinedEvent]"


def event_id(event: "QuarantinedEvent") -> str:
    """The id of a quarantined event."""
    return f"{event.agent}/{event.session}#{event.seq}"


def find_entries(connection: "Reads", tenant: str, ids: Sequence[str]) -> Entries:
    """Parse ids: 12 is a dead letter, AGENT/SESSION#SEQ a quarantined event. Raises BadParameter, UnknownName."""
    letters = [int(text) for text in ids if text.isascii() and text.isdecimal()]
    events = [_event(connection, tenant, text) for text in ids if not (text.isascii() and text.isdecimal())]
    return Entries(letters, events)


def _event(connection: "Reads", tenant: str, text: str) -> "QuarantinedEvent":
    from slowwave_server.services.lookup import UnknownName
    from slowwave_server.services.reports.quarantine import list_quarantined

    place, _, seq = text.rpartition("#")
    if "/" not in place or not (seq.isascii() and seq.isdecimal()):
        raise typer.BadParameter(f"ID must be 12 for a dead letter or AGENT/SESSION#SEQ for an event, got {text!r}")
    for agent, session in _splits(place):
        events = list_quarantined(connection, tenant, agent=agent, session=session, limit=EVENTS_AT_ONCE)
        for event in events:
            if event.seq == int(seq):
                return event
    raise UnknownName(f"no quarantined event {text} in tenant {tenant!r}; `slowwave queue list` lists them")


def _splits(place: str) -> Iterator[tuple[str, str]]:
    """Return every way to split a place into agent and session, because names may contain slashes."""
    parts = place.split("/")
    for at in range(1, len(parts)):
        yield "/".join(parts[:at]), "/".join(parts[at:])


def retry_events(shell: Shell, events: "Sequence[QuarantinedEvent]") -> "Iterator[tuple[str, RetryResult]]":
    """Extract each event again; yield its id and the result."""
    from slowwave.identity import SessionRef
    from slowwave_server.services.dead_letters.quarantine import retry_quarantined
    from slowwave_server.services.extraction.build import build_extractor

    extractor = build_extractor(shell.settings, shell.engine, shell.redis, shell.now)
    for event in events:
        ref = SessionRef(shell.tenant, event.agent, event.session)
        yield event_id(event), retry_quarantined(shell.engine, extractor, ref, event.seq, shell.now())


Ids = Annotated[
    list[str] | None,
    typer.Argument(metavar="ID", help="Ids: 12 for a dead letter, AGENT/SESSION#SEQ for an event."),
]
Every = Annotated[bool, typer.Option("--all", help="All open entries.")]


def list_(
    context: typer.Context,
    *,
    agent: Annotated[str | None, typer.Option(help="Only this agent's quarantined events, no dead letters.")] = None,
    session: Annotated[str | None, typer.Option(help="Only this session's quarantined events, with --agent.")] = None,
    decided: Annotated[
        bool, typer.Option("--decided", help="Also dead letters that were retried or dismissed.")
    ] = False,
    limit: Limit = 50,
    as_json: Json = False,
) -> None:
    """List quarantined events and open dead letters, the newest first, with their errors."""
    from slowwave_server.services.lookup import find_agent, find_session
    from slowwave_server.services.reports.dead_letters import list_dead_letters
    from slowwave_server.services.reports.quarantine import list_quarantined

    if session is not None and agent is None:
        raise typer.BadParameter("--session needs --agent")
    shell = shell_of(context)
    with shell.driver() as connection:
        if agent is not None and session is not None:
            find_session(connection, shell.tenant, agent, session)
        elif agent is not None:
            find_agent(connection, shell.tenant, agent)
        events = list_quarantined(connection, shell.tenant, agent=agent, session=session, limit=limit)
        letters = (
            []
            if agent is not None
            else list_dead_letters(connection, shell.tenant, state=None if decided else "open", limit=limit)
        )
    if as_json:
        print_json([*map(_event_document, events), *map(_letter_document, letters)])
        return
    for event in events:
        _print_event(event)
    for letter in letters:
        _print_listed(letter, shell.now())
    if not events and not letters:
        console().print("The queue is empty.")


def _event_document(event: "QuarantinedEvent") -> dict[str, Any]:
    return {"id": event_id(event), "kind": "event", **document(event)}


def _letter_document(letter: "ListedDeadLetter") -> dict[str, Any]:
    fields: dict[str, Any] = document(letter)
    return {"id": str(fields.pop("id")), "kind": "dead letter", **fields}


def _print_event(event: "QuarantinedEvent") -> None:
    since = event.quarantined_at.isoformat(timespec="seconds")
    said = one_line(f"{event.name or event.role}: {event.content}", 200)
    error = one_line(event.error or "no error was recorded", 300)
    print_rows(console(), [(styled(event_id(event), "bold"), "quarantined event", f"since {since}")])
    print_rows(console(), [("event", said), ("error", error)], indent=4)


def _print_listed(letter: "ListedDeadLetter", now: "datetime") -> None:
    age = duration_words((now - letter.created_at).total_seconds())
    print_rows(console(), [(styled(f"{letter.id}", "bold"), "dead letter", letter.state, letter.task, f"{age} ago")])
    print_rows(console(), [(one_line(letter.error, 300),)], indent=4)


def show(
    context: typer.Context,
    entry: Annotated[
        str,
        typer.Argument(metavar="ID", help="12 for a dead letter, AGENT/SESSION#SEQ for an event.", show_default=False),
    ],
    *,
    as_json: Json = False,
) -> None:
    """Show one entry: a dead letter with its payload, or a quarantined event with its error."""
    from slowwave_server.services.reports.dead_letters import read_dead_letter

    shell = shell_of(context)
    with shell.driver() as connection:
        found = find_entries(connection, shell.tenant, [entry])
        letters = [read_dead_letter(connection, shell.tenant, number) for number in found.letters]
    if as_json:
        (fields,) = [*map(_letter_document, letters), *map(_event_document, found.events)]
        print_json(fields)
        return
    for event in found.events:
        _print_event(event)
    for letter in letters:
        _print_letter(letter)


def _print_letter(letter: "ListedDeadLetter") -> None:
    out = console()
    decided = "" if letter.decided_at is None else f" at {letter.decided_at.isoformat(timespec='seconds')}"
    rows = [
        ("dead letter", str(letter.id)),
        ("task", letter.task),
        ("tenant", letter.tenant or "(unreadable)"),
        ("received", letter.created_at.isoformat(timespec="seconds")),
        ("state", letter.state + decided),
        ("error", letter.error),
    ]
    print_rows(out, rows)
    out.print(safe(json.dumps(letter.payload, ensure_ascii=False, indent=2)), soft_wrap=True)


def retry(context: typer.Context, ids: Ids = None, *, every: Every = False, as_json: Json = False) -> None:
    """Process entries again: extract quarantined events, and send dead letters to their tasks.

    An event that fails again stays in quarantine. Exit 1 if an entry failed.
    """
    from slowwave_server.services.dead_letters.redrive import redrive
    from slowwave_server.workers.shared.task_sender import sender

    shell = shell_of(context)
    entries = _chosen(shell, ids, every=every)
    with progress("retrying"):
        results = list(retry_events(shell, entries.events)) if entries.events else []
        sent: list[int] = []
        refused: dict[int, str] = {}
        if entries.letters or every:
            send = sender(shell)
            with shell.connection() as connection:
                wanted = None if every else entries.letters
                sent, refused = redrive(connection, shell.tenant, wanted, send=send, now=shell.now())
    if as_json:
        events = [{"id": name, "result": result} for name, result in results]
        print_json({"events": events, "sent": sent, "refused": refused})
    else:
        _print_retried(results, sent, refused)
    _tell_refused(refused)
    if refused or any(result.outcome in {"failed", "gone"} for _, result in results):
        raise typer.Exit(FOUND)


def _print_retried(results: "list[tuple[str, RetryResult]]", sent: list[int], refused: dict[int, str]) -> None:
    out = console()
    for name, result in results:
        told = {
            "stored": f"{pluralize(result.stored, 'memory', 'memories')} stored",
            "no_reply": "processed; it contains nothing to remember",
            "failed": f"failed again: {result.error}",
            "gone": "no longer in quarantine",
        }
        out.print(one_line(f"{name}: {told[result.outcome]}", 500), soft_wrap=True)
    if sent:
        out.print(f"{pluralize(len(sent), 'dead letter')} sent again.")
    if not (results or sent or refused):
        out.print("The queue is empty.")


def dismiss(context: typer.Context, ids: Ids = None, *, every: Every = False, as_json: Json = False) -> None:
    """Close dead letters without sending them; `queue list --decided` still shows them. Exit 1 if one is not open."""
    from slowwave_server.services.dead_letters.redrive import dismiss as close

    shell = shell_of(context)
    if bool(ids) == every:
        raise typer.BadParameter("give IDs, or --all")
    entries = Entries([], []) if every else _chosen(shell, ids, every=every)
    if entries.events:
        raise typer.BadParameter(
            "only dead letters can be dismissed; `slowwave queue retry ID` processes an event again"
        )
    with shell.connection() as connection:
        wanted = None if every else entries.letters
        dismissed, refused = close(connection, shell.tenant, wanted, now=shell.now())
    if as_json:
        print_json({"dismissed": dismissed, "refused": refused})
    else:
        console().print(f"{pluralize(len(dismissed), 'dead letter')} dismissed.")
    _tell_refused(refused)
    if refused:
        raise typer.Exit(FOUND)


def _chosen(shell: Shell, ids: list[str] | None, *, every: bool) -> Entries:
    from slowwave_server.services.reports.quarantine import list_quarantined

    if bool(ids) == every:
        raise typer.BadParameter("give IDs, or --all")
    with shell.connection() as connection:
        if ids:
            return find_entries(connection, shell.tenant, ids)
        return Entries([], list_quarantined(connection, shell.tenant, limit=EVENTS_AT_ONCE))


def _tell_refused(refused: dict[int, str]) -> None:
    for number, reason in refused.items():
        complain(f"dead letter {number}: {reason}")
