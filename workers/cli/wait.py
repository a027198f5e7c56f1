"""Wait until sessions are processed as they stood at the beginning, and explain the delay at a timeout."""

import time
from collections.abc import Sequence
from datetime import timedelta

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from slowwave.identity import SessionRef
from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.services.reports.dirty import Goal, goals_of, unmet
from slowwave_server.services.reports.why import why_waiting
from slowwave_server.workers.cli.output import rich_console
from slowwave_server.workers.cli.sentences import complain
from slowwave_server.workers.shared.failures import UNAVAILABLE
from slowwave_server.workers.shared.shell import Shell

POLL_SECONDS = 0.25
REASONS_SHOWN = 5


def wait_until_processed(shell: Shell, refs: Sequence[SessionRef], timeout_seconds: float) -> None:
    """Return when the events that these sessions had at the beginning are processed; show progress on stderr.

    After `timeout_seconds`, explain why the first unprocessed sessions wait, and raise typer.Exit(3).
    """
    deadline = time.monotonic() + timeout_seconds
    with shell.connection() as connection:
        left = goals_of(connection, refs)
    total = len(left)
    err = rich_console(stderr=True)
    with Progress(
        TextColumn("waiting for {task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=err,
        transient=True,
        disable=not err.is_terminal,
    ) as progress:
        bar = progress.add_task("sessions", total=total)
        while left:
            with shell.engine.connect() as connection:
                left = unmet(connection, left)
            first = f"{left[0].ref.agent}/{left[0].ref.session}" if left else "nothing"
            progress.update(bar, completed=total - len(left), description=first)
            if left and time.monotonic() > deadline:
                break
            if left:
                time.sleep(POLL_SECONDS)
    if left:
        _give_up(shell, left, timeout_seconds)


def _give_up(shell: Shell, left: Sequence[Goal], timeout_seconds: float) -> None:
    complain(f"after {timeout_seconds:g} s, {pluralize(len(left), 'session')} not processed yet, for these reasons:")
    listening, swept_ago = shell.queues_with_listener(), shell.swept_ago()
    with shell.connection() as connection:
        for goal in left[:REASONS_SHOWN]:
            waiting = why_waiting(
                connection,
                shell.queue,
                goal.ref,
                shell.settings.memory.auto_flush,
                now=shell.now(),
                listening=listening,
                swept_ago=swept_ago,
                session_ttl=timedelta(minutes=shell.settings.memory.sessions.session_ttl_minutes),
            )
            complain(f"{goal.ref.agent} {goal.ref.session}: {waiting.sentence}", waiting.cure)
    raise typer.Exit(UNAVAILABLE)
