"""`slowwave day finalize`: summarise past days now, in this process, and make them final."""

from datetime import date
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.workers.cli.options import SCOPE_HELP, Json, day_option, scope_parts
from slowwave_server.workers.cli.output import console, print_json, safe
from slowwave_server.workers.cli.progress import progress
from slowwave_server.workers.cli.state import shell_of
from slowwave_server.workers.shared.failures import FOUND
from slowwave_server.workers.shared.shell import Shell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from slowwave_server.services.days.book import DayRef
    from slowwave_server.services.days.model_summarizer import ChooseSummarizer
    from slowwave_server.services.days.summarize import DayReport

MOST_ENDED = 100_000
"""The largest number of days per call; the next call continues."""


def finalize(
    context: typer.Context,
    agent: Annotated[str | None, typer.Argument(help="The agent's name.", show_default=False)] = None,
    day: Annotated[
        str | None, typer.Argument(metavar="DAY", help="A local day, such as 2026-03-05.", show_default=False)
    ] = None,
    *,
    ended: Annotated[bool, typer.Option("--ended", help="Every past day of the tenant that is not final.")] = False,
    scope: Annotated[
        str | None, typer.Option(help=f"Only in {SCOPE_HELP} Default: all scopes in which the agent spoke.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Also summarise the current day; it stays open.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="With --ended: list these days; change nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Summarise a past day from all its messages, and make it final. Exit 1 if a day failed."""
    _check_call(agent, day, scope, ended=ended, force=force, dry_run=dry_run)
    shell = shell_of(context)
    with shell.connection() as connection:
        days = _ended(connection, shell, keep=not dry_run) if ended else []
    if dry_run:
        _tell_ended(days, as_json=as_json)
        return
    if agent is not None and day is not None:
        reports = _named(shell, agent, day_option("DAY", day), scope, force=force)
    else:
        done: list[DayReport] = []
        with progress("summarising days", lambda: f"{len(done):,} of {len(days):,}"):
            done.extend(_final(shell, one) for one in days)
        reports = done
    if as_json:
        print_json([_result(report) for report in reports])
    else:
        console().print("\n".join(map(_words, reports)) or "Every past day is final.", soft_wrap=True)
    if any(report.outcome in {"failed", "lost"} for report in reports):
        raise typer.Exit(FOUND)


def _check_call(
    agent: str | None, day: str | None, scope: str | None, *, ended: bool, force: bool, dry_run: bool
) -> None:
    if ended and (agent is not None or scope is not None or force):
        raise typer.BadParameter("--ended does not combine with an agent, --scope or --force")
    if not ended and (agent is None or day is None):
        raise typer.BadParameter("give AGENT and DAY, or --ended")
    if dry_run and not ended:
        raise typer.BadParameter("--dry-run needs --ended; `slowwave day show AGENT DAY` shows the state of one day")
    if scope is not None:
        scope_parts(scope)


def _ended(connection: "Connection", shell: Shell, *, keep: bool) -> "list[DayRef]":
    """Return the tenant's past days that are not final. keep: True to mark them as settling."""
    from slowwave_server.services.days.book import ended_days, mark_settling

    days = [day for day in ended_days(connection, now=shell.now(), limit=MOST_ENDED) if day.tenant == shell.tenant]
    if keep:
        mark_settling(connection, days)
        connection.commit()
    return days


def _tell_ended(days: "list[DayRef]", *, as_json: bool) -> None:
    if as_json:
        print_json([{"agent": day.agent, "scope": day.scope, "day": day.day} for day in days])
    else:
        would = [f"{day} would be made final." for day in days]
        console().print("\n".join(map(safe, would)) or "Every past day is final.", soft_wrap=True)


def _named(shell: Shell, agent: str, day: date, scope: str | None, *, force: bool) -> "Sequence[DayReport]":
    from slowwave.errors import SlowwaveError
    from slowwave_server.services.days.finalize import DayNotOver, finalize_day

    settings, choose = shell.settings.memory.days, _choose(shell)
    try:
        return finalize_day(
            shell.engine,
            shell.tenant,
            agent,
            day,
            settings=settings,
            now=shell.now(),
            scope=scope,
            force=force,
            choose=choose,
        ).days
    except DayNotOver as error:
        raise SlowwaveError(f"{error}; --force summarises it now") from None


def _final(shell: Shell, day: "DayRef") -> "DayReport":
    from slowwave_server.services.days.finalize import make_final

    return make_final(shell.engine, day, shell.settings.memory.days, shell.now(), _choose(shell))


def _choose(shell: Shell) -> "ChooseSummarizer":
    """Return the summarizer: a model if the settings want one for days, else the rules."""
    from slowwave_server.services.days.model_summarizer import choose_summarizer

    days = shell.settings.memory.days
    return choose_summarizer(days, shell.build_model(shell.settings) if days.daily_summary_use_model else None)


def _result(report: "DayReport") -> dict[str, Any]:
    from slowwave_server.workers.shared.json_document import document

    fields: dict[str, Any] = document(report)
    return fields | {"agent": report.day.agent, "scope": report.day.scope, "day": report.day.day}


def _words(report: "DayReport") -> str:
    made = f"version {report.version}, of {pluralize(report.messages, 'message')}"
    went = {
        "summarized": {
            "final": f"final, {made}",
            "settling": f"{made}; not final yet, because new messages arrived",
            "open": f"{made}; the day is not over",
        }.get(report.status or "open", made),
        "unchanged": f"nothing new since version {report.version}, {report.status}",
        "empty": "it has no messages",
        "lost": "another process is summarising it; `slowwave day list` shows the result",
        "forgotten": "forgotten in the meantime; nothing was written",
        "failed": f"failed with {report.error}; it will be retried",
    }
    return safe(f"{report.day}: {went[report.outcome]}.")
