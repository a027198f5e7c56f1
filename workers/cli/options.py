"""Options that several commands share, and the topics under which `--help` lists them.

Must not know: any single command.
"""

from datetime import date, datetime
from typing import Annotated

import typer

RUN = "Run"
REMEMBER = "Record and recall"
OPERATE = "Operate"
MEND = "Mend"

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Agent = Annotated[str, typer.Argument(help="The agent's name.", show_default=False)]
MemoryId = Annotated[
    str, typer.Argument(help="The memory's id, or its last group as contexts show it.", show_default=False)
]
Limit = Annotated[int, typer.Option(min=1, max=10_000, help="At most so many.")]
Wait = Annotated[bool, typer.Option("--wait", help="Wait until all of it is processed.")]
Timeout = Annotated[float, typer.Option(min=0.0, help="Seconds to wait; then exit 3 and say what is waited for.")]
SCOPE_HELP = "room:NAME or team:NAME."
Scope = Annotated[str | None, typer.Option(help=f"Instead of the agent's own: {SCOPE_HELP}")]


def scope_parts(scope: str) -> tuple[str, str]:
    """Split `room:NAME` or `team:NAME`. Raises InvalidName."""
    from slowwave.errors import InvalidName
    from slowwave.identity import check_name

    kind, _, name = scope.partition(":")
    if kind not in {"room", "team"} or not name:
        raise InvalidName(f"scope: {scope!r} is neither room:NAME nor team:NAME")
    return kind, check_name("scope", name)


def scope_of(agent: str, scope: str | None) -> tuple[str, str]:
    """The scope that is named, else the agent's own. Raises InvalidName."""
    return ("agent", agent) if scope is None else scope_parts(scope)


def moment_option(option: str, text: str | None) -> date | datetime | None:
    """Read a day (2026-03-05) or a time (2026-03-05T14:30, with a zone or without). Raises BadParameter."""
    if text is None:
        return None
    try:
        return date.fromisoformat(text) if len(text) <= len("2026-03-05") else datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(
            f"{option} {text!r} is neither a day (2026-03-05) nor a time (2026-03-05T14:30, 2026-03-05T14:30+01:00)"
        ) from None


def day_option(option: str, text: str) -> date:
    """Read a day (2026-03-05). Raises BadParameter."""
    from slowwave.days import day_of
    from slowwave.errors import InvalidMessage

    try:
        return day_of(text)
    except InvalidMessage as error:
        raise typer.BadParameter(f"{option}: {error}") from None
