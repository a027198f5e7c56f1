"""`slowwave session list | why | flush`: conversations, their state, and a flush now."""

from datetime import timedelta
from typing import Annotated

import typer

from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.workers.cli.options import Agent, Json, Limit, Timeout, Wait
from slowwave_server.workers.cli.output import console, print_json, print_rows, safe, styled
from slowwave_server.workers.cli.state import shell_of


def list_sessions(
    context: typer.Context,
    agent: Agent,
    *,
    dirty: Annotated[bool, typer.Option("--dirty", help="Only sessions with unprocessed events.")] = False,
    before: Annotated[int | None, typer.Option(help="Begin before the session of this number.")] = None,
    limit: Limit = 50,
    as_json: Json = False,
) -> None:
    """List an agent's sessions, the newest first, and how many of their events are processed."""
    from slowwave_server.services.reports.agents import list_sessions as read_sessions

    shell = shell_of(context)
    with shell.driver() as connection:
        found = read_sessions(connection, shell.tenant, agent, dirty=dirty, before=before, limit=limit)
    if as_json:
        print_json(found)
    elif found:
        rows = [
            (str(one.number), styled(one.name), f"{one.processed:,} of {one.events:,}", styled(one.scope))
            for one in found
        ]
        print_rows(console(), [("", "session", "processed", "scope"), *rows])
    else:
        console().print("Every session is processed." if dirty else "There are no sessions.")


def why(
    context: typer.Context,
    agent: Agent,
    session: Annotated[str, typer.Argument(help="The session's id.", show_default=False)],
    *,
    as_json: Json = False,
) -> None:
    """Explain why a session is not processed yet, and how to continue it if it is stuck."""
    from slowwave.identity import SessionRef
    from slowwave_server.services.reports.why import why_waiting

    shell = shell_of(context)
    ref = SessionRef(shell.tenant, agent, session).checked()
    listening = shell.queues_with_listener()
    with shell.connection() as connection:
        waiting = why_waiting(
            connection,
            shell.queue,
            ref,
            shell.settings.memory.auto_flush,
            now=shell.now(),
            listening=listening,
            swept_ago=shell.swept_ago(),
            session_ttl=timedelta(minutes=shell.settings.memory.sessions.session_ttl_minutes),
        )
    if as_json:
        print_json(waiting)
        return
    out = console()
    out.print(styled(waiting.sentence, "bold"), soft_wrap=True)
    for sentence in waiting.also:
        out.print(f"  {safe(sentence)}", soft_wrap=True)
    if waiting.cure is not None:
        out.print(styled(f"  → {waiting.cure}", "cyan"), soft_wrap=True)


def flush(
    context: typer.Context,
    agent: Agent,
    sessions: Annotated[
        list[str] | None, typer.Argument(help="Sessions; default: all with unprocessed events.", show_default=False)
    ] = None,
    *,
    high: Annotated[bool, typer.Option("--high", help="Use the queue of high priority.")] = False,
    wait: Wait = False,
    timeout: Timeout = 60.0,
    as_json: Json = False,
) -> None:
    """Request a flush now. This also ends the back-off of a session that failed."""
    from slowwave.identity import SessionRef
    from slowwave_server.services.lookup import find_session
    from slowwave_server.services.reports.dirty import dirty_sessions
    from slowwave_server.workers.cli.wait import wait_until_processed
    from slowwave_server.workers.shared.flush_requests import ask_for_flush

    shell = shell_of(context)
    with shell.connection() as connection:
        for name in sessions or ():
            find_session(connection, shell.tenant, agent, name)
        names = sessions or dirty_sessions(connection, shell.tenant, agent)
    refs = [SessionRef(shell.tenant, agent, name).checked() for name in names]
    asked = ask_for_flush(shell, refs, priority="high" if high else "normal")
    if wait:
        wait_until_processed(shell, asked, timeout)
    if as_json:
        print_json({"asked": [ref.session for ref in asked], "processed": wait})
    elif not asked:
        subject = "these sessions are" if sessions else "every session is"
        console().print(f"Nothing to flush: {subject} processed.")
    else:
        done = "processed" if wait else "queued for a flush"
        console().print(f"{pluralize(len(asked), 'session')} {done}.")
