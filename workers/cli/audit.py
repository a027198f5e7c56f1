"""`slowwave admin audit`: the audit log."""

from typing import Annotated, Literal

import typer

from slowwave_server.workers.cli.options import Json, Limit
from slowwave_server.workers.cli.output import console, one_line, print_json, print_rows
from slowwave_server.workers.cli.state import shell_of


def audit(
    context: typer.Context,
    *,
    action: Annotated[
        Literal["login", "failed login", "export", "reveal", "role", "key"] | None,
        typer.Option(help="Only entries of this kind."),
    ] = None,
    limit: Limit = 20,
    as_json: Json = False,
) -> None:
    """List the audit log, the newest first: logins, exports, revealed secrets, and changes of roles and keys.

    It shows entries of this tenant, and entries without a tenant.
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
        console().print("No entry matches.", soft_wrap=True)
