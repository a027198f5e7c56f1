"""`slowwave serve`: the HTTP gateway, until a signal ends it."""

from typing import Annotated

import typer

from slowwave_server.workers.cli.options import BehindProxy, TlsCert, TlsKey
from slowwave_server.workers.cli.output import console as terminal
from slowwave_server.workers.cli.state import shell_of

ADDRESS = "127.0.0.1:8322"


def serve(
    context: typer.Context,
    *,
    listen: Annotated[str, typer.Option(help="The address to listen on.")] = ADDRESS,
    workers: Annotated[int, typer.Option(min=1, max=256, help="Processes that answer requests.")] = 1,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
    behind_proxy: BehindProxy = None,
) -> None:
    """Run the HTTP gateway for programs with an API key, until SIGTERM or Ctrl-C.

    SLOWWAVE_DATABASE_URL must name a login from `slowwave admin roles add NAME --role gateway`; `slowwave admin keys
    add` makes API keys.
    """
    from slowwave_server.workers.gateway.serving import serve as run
    from slowwave_server.workers.listening_sockets import Serving, address_of

    shell = shell_of(context)
    wanted = Serving(*address_of(listen), tls_cert, tls_key, behind_proxy, carries="keys").checked()
    out = terminal(stderr=True)
    run(shell.settings, wanted, workers, lambda url: out.print(f"The gateway is at {url}", soft_wrap=True))
