"""`slowwave admin migrate`: the schema of the database."""

from typing import Annotated

import typer

from slowwave_server.workers.cli.options import Json
from slowwave_server.workers.cli.output import console, print_json
from slowwave_server.workers.cli.progress import progress
from slowwave_server.workers.cli.state import shell_of


def migrate(
    context: typer.Context,
    *,
    check: Annotated[bool, typer.Option("--check", help="Change nothing; exit 3 if a migration is needed.")] = False,
    as_json: Json = False,
) -> None:
    """Migrate the database to the revision that this version needs."""
    from slowwave_server.models.driver import head_revision
    from slowwave_server.models.schema import current_revision
    from slowwave_server.models.schema import migrate as bring_to_head
    from slowwave_server.workers.cli.roles import reapply

    shell = shell_of(context)
    if check:
        with shell.connection() as connection:
            before = after = current_revision(connection)
    else:
        with progress("migrating"):
            before, after = bring_to_head(shell.engine)
        if after == head_revision():  # this version does not know the grants of a newer schema
            reapply(shell)
    if as_json:
        print_json({"before": before, "after": after, "needed": head_revision()})
    elif before == after != head_revision():
        console().print(f"The database is at revision {after} of a newer version; this version works with it.")
    elif before == after:
        console().print(f"The database is at revision {after}, which this version needs.")
    else:
        console().print(f"The database was {'empty' if before is None else f'at {before}'} and is at {after} now.")
