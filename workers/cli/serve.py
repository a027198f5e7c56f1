"""`slowwave serve`: the gateway, which answers over HTTP until a signal ends it.

Must not know: any route, how requests are served.
"""

from pathlib import Path
from typing import Annotated

import typer

from slowwave_server.workers.cli.options import RUN
from slowwave_server.workers.cli.output import console as terminal
from slowwave_server.workers.cli.state import shell_of

ADDRESS = "127.0.0.1:8322"


def register(app: typer.Typer) -> None:
    """Add this command."""
    app.command(rich_help_panel=RUN)(serve)


def serve(
    context: typer.Context,
    *,
    listen: Annotated[str, typer.Option(help="HOST:PORT to listen on.")] = ADDRESS,
    workers: Annotated[int, typer.Option(min=1, max=256, help="Processes that answer.")] = 1,
    tls_cert: Annotated[Path | None, typer.Option(help="The certificate and its chain, for https.")] = None,
    tls_key: Annotated[Path | None, typer.Option(help="The certificate's key.")] = None,
    behind_proxy: Annotated[
        str | None,
        typer.Option(metavar="ADDRESSES", help="A proxy at these addresses or networks speaks https to clients."),
    ] = None,
) -> None:
    """Serve memories over HTTP to programs with an API key, until SIGTERM or Ctrl-C.

    SLOWWAVE_DATABASE_URL names a login that `slowwave roles add NAME --role gateway` made; `slowwave keys add` makes
    keys.
    """
    from slowwave_server.workers.gateway.serving import serve as run
    from slowwave_server.workers.listening_sockets import Serving, address_of

    shell = shell_of(context)
    wanted = Serving(*address_of(listen), tls_cert, tls_key, behind_proxy, carries="keys").checked()
    out = terminal(stderr=True)
    run(shell.settings, wanted, workers, lambda url: out.print(f"The gateway is at {url}", soft_wrap=True))
