"""`slowwave audit`: who logged in, failed to, exported, revealed secrets, gave a role or a key.

Must not know: SQL, what is noted when.
"""

from typing import Annotated, Literal

import typer

from slowwave_server.workers.cli.options import OPERATE, Json, Limit
from slowwave_server.workers.cli.output import console, one_line, print_json, print_rows
from slowwave_server.workers.cli.state import shell_of


def register(app: typer.Typer) -> None:
    """Add this command."""
    app.command(rich_help_panel=OPERATE)(audit)


def audit(
    context: typer.Context,
    *,
    action: Annotated[
        Literal["login", "failed login", "export", "reveal", "role", "key"] | None,
        typer.Option(help="Only acts of this kind."),
    ] = None,
    limit: Limit = 20,
    as_json: Json = False,
) -> None:
    """Show logins, exports, revealed secrets, roles and keys that were given: of this tenant and of none.

    The newest come first.
    """
    from slowwave_server.services.access.audit_log import list_acts

    shell = shell_of(context)
    with shell.connection() as connection:
        acts = list_acts(connection, shell.tenant, nobodys=True, action=action, limit=limit)
    if as_json:
        print_json(acts)
    elif acts:
        rows = [
            (
                f"{act.done_at:%Y-%m-%d %H:%M}",
                one_line(act.actor or "(unknown name)"),
                act.action,
                one_line(act.what),
                act.via,
            )
            for act in acts
        ]
        print_rows(console(), [("when", "who", "action", "what", "by"), *rows])
    else:
        console().print("The audit log has no such acts.", soft_wrap=True)
