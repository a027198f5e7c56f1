"""`slowwave doctor`: health checks, each with its fix."""

from typing import TYPE_CHECKING, Annotated

import typer

from slowwave_server.workers.cli.options import Json
from slowwave_server.workers.cli.output import console, print_json, print_rows, styled
from slowwave_server.workers.cli.state import shell_of
from slowwave_server.workers.shared.failures import FOUND

if TYPE_CHECKING:
    from slowwave_server.services.reports.check import Check

_STYLES = {"ok": "green", "problem": "bold red", "unknown": "yellow"}


def doctor(
    context: typer.Context,
    *,
    quick: Annotated[
        bool, typer.Option("--quick", help="Only check that the servers answer and that the schema fits.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Check servers, schema, workers, queues and jobs, and name the fix of each problem. Exit 1 if there is one."""
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
    rows: list[tuple[str, ...]] = []
    for check in checks:
        rows.append((styled(check.verdict, _STYLES[check.verdict]), check.name, check.title or check.finding))
        if check.title is not None:
            rows.append(("", "", check.finding))
        rows += [("", "", styled(f"→ {advice}", "cyan")) for advice in (check.cure, check.here) if advice is not None]
    out = console()
    print_rows(out, rows)
    out.print("\nNo problems found." if not problems else f"\n{problems} of {len(checks)} checks found a problem.")
