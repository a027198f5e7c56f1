"""`slowwave migrate | doctor | version`: whether it is installed well, and runs well.

Must not know: how commands of other topics work.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from workers.shell.options import OPERATE, RUN, Json
from workers.shell.output import console, print_json, print_rows, styled
from workers.shell.sentences import FOUND
from workers.shell.state import Shell, shell_of

if TYPE_CHECKING:
    from services.reports.doctor import Check

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
    from models.schema import current_revision, head_revision
    from models.schema import migrate as bring_to_head
    from workers.shell.roles import reapply

    shell = shell_of(context)
    if check:
        with shell.connection() as connection:
            before = after = current_revision(connection)
    else:
        before, after = bring_to_head(shell.engine)
        reapply(shell)
    if as_json:
        print_json({"before": before, "after": after, "needed": head_revision()})
    elif before == after:
        console().print(f"The database is at revision {after}, which this version needs.")
    else:
        console().print(f"The database was {'empty' if before is None else f'at {before}'} and is at {after} now.")


def version(*, as_json: Json = False) -> None:
    """Print the version."""
    from importlib.metadata import version as installed

    number = installed("slowwave-service")
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
    shell = shell_of(context)
    checks = list(_examine(shell, quick=quick))
    problems = sum(check.verdict == "problem" for check in checks)
    if as_json:
        print_json({"healthy": not problems, "checks": checks})
    else:
        _show(checks, problems)
    if problems:
        raise typer.Exit(FOUND)


def _examine(shell: Shell, *, quick: bool) -> "Iterator[Check]":
    from services.reports import doctor as checks
    from services.reports.copies import check_copies
    from services.reports.files import check_files
    from services.reports.model_check import check_model
    from services.reports.roles import check_roles
    from services.reports.source import check_source

    memory = shell.settings.memory
    postgres = list(checks.check_postgres(shell.engine))
    yield from postgres
    broker = list(checks.check_broker(shell.redis))
    yield from broker
    if quick:
        return
    rules = memory.auto_flush
    if broker[0].verdict == "ok":
        yield checks.check_workers(shell.listening())
        yield checks.check_sweeps(shell.redis, rules)
        yield checks.check_clocks(shell.engine, shell.redis, shell.now)
    if all(check.verdict == "ok" for check in postgres):
        with shell.connection() as connection:
            yield check_roles(connection)
            yield checks.check_stranded(connection, rules, now=shell.now())
            yield checks.check_maintenance(connection, shell.settings.memory.maintenance, now=shell.now())
            yield check_files(connection, memory.backend, memory.files.sync_seconds, now=shell.now())
            yield check_copies(connection, memory.backend, memory.files.sync_seconds, now=shell.now())
            yield check_source(connection, memory.source, now=shell.now())
            yield checks.check_quarantine(connection)
            yield checks.check_letters(connection)
    yield check_model(memory.llm, shell.redis, shell.now)
    yield checks.check_spool(shell.spooled(), str(shell.settings.spool.expanduser()))


def _show(checks: "list[Check]", problems: int) -> None:
    rows: list[tuple[str | Text, ...]] = []
    for check in checks:
        rows.append((styled(check.verdict, _STYLES[check.verdict]), check.name, check.finding))
        if check.cure is not None:
            rows.append(("", "", styled(f"→ {check.cure}", "cyan")))
    out = console()
    print_rows(out, rows)
    out.print("\nAll is well." if not problems else f"\n{problems} of {len(checks)} checks found a problem.")
