"""`slowwave migrate | doctor | version`: whether it is installed well, and runs well.

Must not know: how commands of other topics work.
"""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from slowwave_server.workers.cli.options import OPERATE, RUN, Json
from slowwave_server.workers.cli.output import console, print_json, print_rows, styled
from slowwave_server.workers.cli.sentences import FOUND
from slowwave_server.workers.cli.state import shell_of

if TYPE_CHECKING:
    from slowwave_server.services.reports.check import Check

_STYLES = {"ok": "green", "problem": "bold red", "unknown": "yellow"}


def register(app: typer.Typer) -> None:
    """Add these commands."""
    app.command(rich_help_panel=RUN)(migrate)
    app.command(rich_help_panel=RUN)(version)
    app.command(rich_help_panel=OPERATE)(doctor)


def migrate(
    context: typer.Context,
    *,
    check: Annotated[bool, typer.Option("--check", help="Change nothing; exit 3 if a migration is needed.")] = False,
    as_json: Json = False,
) -> None:
    """Bring the database to the revision that this version needs."""
    from slowwave_server.models.schema import current_revision, head_revision
    from slowwave_server.models.schema import migrate as bring_to_head
    from slowwave_server.workers.cli.roles import reapply

    shell = shell_of(context)
    if check:
        with shell.connection() as connection:
            before = after = current_revision(connection)
    else:
        before, after = bring_to_head(shell.engine)
        if after == head_revision():  # of a newer schema this version does not know who may what
            reapply(shell)
    if as_json:
        print_json({"before": before, "after": after, "needed": head_revision()})
    elif before == after != head_revision():
        console().print(f"The database is at revision {after} of a newer version, on which this one works.")
    elif before == after:
        console().print(f"The database is at revision {after}, which this version needs.")
    else:
        console().print(f"The database was {'empty' if before is None else f'at {before}'} and is at {after} now.")


def version(*, as_json: Json = False) -> None:
    """Print the version."""
    from importlib.metadata import version as installed

    number = installed("slowwave-server")
    if as_json:
        print_json({"version": number})
    else:
        console().print(f"slowwave {number}")


def doctor(
    context: typer.Context,
    *,
    quick: Annotated[bool, typer.Option("--quick", help="Only: do the servers answer, is the schema right?")] = False,
    as_json: Json = False,
) -> None:
    """Look for what is wrong, and say the cure. Exit 1 if there is a problem."""
    from slowwave_server.services.reports.doctor import HealthProbe, examine

    shell = shell_of(context)
    patient = HealthProbe(shell.settings, shell.engine, shell.redis, shell.listening, shell.now)
    checks = list(examine(patient, quick=quick))
    problems = sum(check.verdict == "problem" for check in checks)
    if as_json:
        print_json({"healthy": not problems, "checks": checks})
    else:
        _show(checks, problems)
    if problems:
        raise typer.Exit(FOUND)


def _show(checks: "list[Check]", problems: int) -> None:
    rows: list[tuple[str | Text, ...]] = []
    for check in checks:
        rows.append((styled(check.verdict, _STYLES[check.verdict]), check.name, check.title or check.finding))
        if check.title is not None:
            rows.append(("", "", check.finding))
        rows += [("", "", styled(f"→ {advice}", "cyan")) for advice in (check.cure, check.here) if advice is not None]
    out = console()
    print_rows(out, rows)
    out.print("\nAll is well." if not problems else f"\n{problems} of {len(checks)} checks found a problem.")
