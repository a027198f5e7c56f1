"""Options that several commands share, and functions that parse their values."""

import re
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Agent = Annotated[str, typer.Argument(help="The agent's name.", show_default=False)]
MemoryId = Annotated[
    str, typer.Argument(help="The memory's id, or its last 8 characters as contexts show them.", show_default=False)
]
Limit = Annotated[int, typer.Option(min=1, max=10_000, help="The largest number of rows to print.")]
Wait = Annotated[bool, typer.Option("--wait", help="Wait until everything is processed.")]
Timeout = Annotated[
    float,
    typer.Option(
        min=0.0, metavar="SECONDS", help="How long --wait waits; then exit 3 and print what the sessions wait for."
    ),
]
SCOPE_HELP = "room:NAME or team:NAME."
Scope = Annotated[str | None, typer.Option(help=f"Instead of the agent's own scope: {SCOPE_HELP}")]
OnlyAgent = Annotated[str | None, typer.Option("--agent", help="Only of this agent's own scope.")]
OnlyScope = Annotated[str | None, typer.Option("--scope", help=f"Only of {SCOPE_HELP}")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")]
By = Annotated[str | None, typer.Option("--by", help="The name to record; default: your login name.")]
TlsCert = Annotated[Path | None, typer.Option(help="The TLS certificate with its chain.")]
TlsKey = Annotated[Path | None, typer.Option(help="The key of the TLS certificate.")]
BehindProxy = Annotated[
    str | None, typer.Option(metavar="ADDRESSES", help="Trust a TLS proxy at these addresses or networks.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would change; change nothing.")]

_AGE = re.compile(r"(\d+(?:\.\d+)?)\s*(min|h|d|w)")
_UNIT = {"min": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


def parse_duration(text: str) -> timedelta:
    """Read `30min`, `12h`, `7d` or `2w`. Raises BadParameter."""
    found = _AGE.fullmatch(text.strip())
    if found is None:
        raise typer.BadParameter(f"a duration must look like 30min, 12h, 7d or 2w, got {text!r}")
    return float(found[1]) * _UNIT[found[2]]


def refuse_question(*, as_json: bool, yes: bool, dry_run: bool) -> None:
    """Refuse --json for a command that would ask for confirmation. Raises BadParameter."""
    if as_json and not (yes or dry_run):
        raise typer.BadParameter("--json cannot ask for confirmation: add --yes, or --dry-run")


def scope_parts(scope: str) -> tuple[str, str]:
    """Split `room:NAME` or `team:NAME`. Raises InvalidName."""
    from slowwave.identity import shared_scope

    return shared_scope(scope)


def scope_of(agent: str, scope: str | None) -> tuple[str, str]:
    """The kind and name of the given scope, or of the agent's own. Raises InvalidName."""
    return ("agent", agent) if scope is None else scope_parts(scope)


def moment_option(option: str, text: str | None) -> date | datetime | None:
    """Read a day (2026-03-05) or a time (2026-03-05T14:30, with a zone or without). Raises BadParameter."""
    if text is None:
        return None
    try:
        return date.fromisoformat(text) if len(text) <= len("2026-03-05") else datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(
            f"{option} must be a day (2026-03-05) or a time (2026-03-05T14:30, 2026-03-05T14:30+01:00), got {text!r}"
        ) from None


def day_option(option: str, text: str) -> date:
    """Read a day (2026-03-05). Raises BadParameter."""
    from slowwave.errors import InvalidMessage
    from slowwave_server.services.task_payloads import day_of

    try:
        return day_of(text)
    except InvalidMessage as error:
        raise typer.BadParameter(f"{option}: {error}") from None
