"""`slowwave console`: pages for people, served from here until a signal ends it.

Must not know: any page, how pages are served.
"""

from pathlib import Path
from typing import Annotated

import typer

from slowwave_server.workers.cli.options import OPERATE
from slowwave_server.workers.cli.output import console as terminal
from slowwave_server.workers.cli.state import shell_of

ADDRESS = "127.0.0.1:8321"


def register(app: typer.Typer) -> None:
    """Add this command."""
    app.command(rich_help_panel=OPERATE)(console)


def console(
    context: typer.Context,
    *,
    listen: Annotated[str, typer.Option(help="HOST:PORT to listen on.")] = ADDRESS,
    tls_cert: Annotated[Path | None, typer.Option(help="The certificate and its chain, for https.")] = None,
    tls_key: Annotated[Path | None, typer.Option(help="The certificate's key.")] = None,
    behind_proxy: Annotated[
        str | None,
        typer.Option(metavar="ADDRESSES", help="A proxy at these addresses or networks speaks https to browsers."),
    ] = None,
) -> None:
    """Serve the console until SIGTERM or Ctrl-C: what agents know, what waits for people, what is wrong."""
    from slowwave_server.services.access.console_users import anybody
    from slowwave_server.workers.console.audit_log import write_log
    from slowwave_server.workers.console.serving import serve
    from slowwave_server.workers.listening_sockets import Serving, address_of

    shell = shell_of(context)
    write_log(shell.settings)
    wanted = Serving(*address_of(listen), tls_cert, tls_key, behind_proxy).checked()
    with shell.connection() as connection:
        nobody = not anybody(connection)
    out = terminal(stderr=True)
    if nobody:
        out.print("Nobody may log in yet: `slowwave console-users add NAME --role operator`", soft_wrap=True)
    serve(
        shell.settings,
        wanted,
        shell.redis,
        shell.now,
        lambda url: out.print(f"The console is at {url}", soft_wrap=True),
    )
