"""`slowwave finalize`: summarise days that are over here and now, and make them final.

Must not know: SQL, how summaries are made.
"""

from datetime import date
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.workers.cli.options import OPERATE, SCOPE_HELP, Json, day_option, scope_parts
from slowwave_server.workers.cli.output import console, print_json, safe
from slowwave_server.workers.cli.sentences import FOUND
from slowwave_server.workers.cli.state import Shell, shell_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from slowwave_server.services.days.book import DayRef
    from slowwave_server.services.days.model_summarizer import ChooseSummarizer
    from slowwave_server.services.days.summarize import DayReport

MOST_ENDED = 100_000
"""Days that one call makes final at most; the next one goes on."""


def register(app: typer.Typer) -> None:
    """Add this command."""
    app.command(rich_help_panel=OPERATE)(finalize)


def finalize(
    context: typer.Context,
    agent: Annotated[str | None, typer.Argument(help="Whose day.", show_default=False)] = None,
    day: Annotated[str | None, typer.Argument(metavar="DAY", help="As 2026-03-05.", show_default=False)] = None,
    *,
    ended: Annotated[bool, typer.Option("--ended", help="Every day of the tenant that is over and not final.")] = False,
    scope: Annotated[str | None, typer.Option(help=f"Only in {SCOPE_HELP} Default: wherever the agent spoke.")] = None,
    force: Annotated[
        bool, typer.Option("--force", help="A day that goes on: summarise it all the same; it stays open.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="With --ended: only tell which days these are.")] = False,
    as_json: Json = False,
) -> None:
    """Summarise a day here and now from all that was said, and make it final. Exit 1 if a day failed."""
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
        reports = [_final(shell, one) for one in days]
    if as_json:
        print_json([_result(report) for report in reports])
    else:
        console().print("\n".join(map(_words, reports)) or "Every day that is over is final.", soft_wrap=True)
    if any(report.outcome in {"failed", "lost"} for report in reports):
        raise typer.Exit(FOUND)


def _check_call(
    agent: str | None, day: str | None, scope: str | None, *, ended: bool, force: bool, dry_run: bool
) -> None:
    if ended and (agent is not None or scope is not None or force):
        raise typer.BadParameter("--ended takes no agent, no --scope and no --force")
    if not ended and (agent is None or day is None):
        raise typer.BadParameter("give an agent and a day, or --ended")
    if dry_run and not ended:
        raise typer.BadParameter("--dry-run goes with --ended; `slowwave day AGENT DAY` shows how a day stands")
    if scope is not None:
        scope_parts(scope)


def _ended(connection: "Connection", shell: Shell, *, keep: bool) -> "list[DayRef]":
    """The tenant's days that are over and not final. keep: note of them that their final summary is on its way."""
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
        console().print("\n".join(map(safe, would)) or "Every day that is over is final.", soft_wrap=True)


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
    """A model, where the settings want one for days."""
    from slowwave_server.services.days.model_summarizer import choose_summarizer

    days = shell.settings.memory.days
    return choose_summarizer(days, shell.build_model(shell.settings) if days.daily_summary_use_model else None)


def _result(report: "DayReport") -> dict[str, Any]:
    from slowwave_server.workers.cli.output import document

    fields: dict[str, Any] = document(report)
    return fields | {"agent": report.day.agent, "scope": report.day.scope, "day": report.day.day}


def _words(report: "DayReport") -> str:
    made = f"version {report.version}, of {pluralize(report.messages, 'message')}"
    went = {
        "summarized": {
            "final": f"final, {made}",
            "settling": f"{made}; more came meanwhile, so it is not final yet",
            "open": f"{made}; the day goes on",
        }.get(report.status or "open", made),
        "unchanged": f"nothing new since version {report.version}, {report.status}",
        "empty": "nothing of it is left",
        "lost": "others summarise it at this moment; look again with `slowwave days`",
        "forgotten": "forgotten meanwhile, and nothing was written",
        "failed": f"failed with {report.error}, and is tried again",
    }
    return safe(f"{report.day}: {went[report.outcome]}.")
