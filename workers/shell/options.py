"""Options that several commands share, and the topics under which `--help` lists them.

Must not know: any single command.
"""

from typing import Annotated

import typer

RUN = "Run"
REMEMBER = "Record and recall"
OPERATE = "Operate"
MEND = "Mend"

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Agent = Annotated[str, typer.Argument(help="The agent's name.", show_default=False)]
Limit = Annotated[int, typer.Option(min=1, max=10_000, help="At most so many.")]
Wait = Annotated[bool, typer.Option("--wait", help="Wait until all of it is processed.")]
Timeout = Annotated[float, typer.Option(min=0.0, help="Seconds to wait; then exit 3 and say what is waited for.")]
SCOPE_HELP = "room:NAME or team:NAME."


def scope_parts(scope: str) -> tuple[str, str]:
    """Split `room:NAME` or `team:NAME`. Raises InvalidName."""
    from slowwave.errors import InvalidName
    from slowwave.identity import check_name

    kind, _, name = scope.partition(":")
    if kind not in {"room", "team"} or not name:
        raise InvalidName(f"scope: {scope!r} is neither room:NAME nor team:NAME")
    return kind, check_name("scope", name)
