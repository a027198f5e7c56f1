"""`slowwave console`: the web console, until a signal ends it."""

from typing import Annotated

import typer

from slowwave_server.workers.cli.options import BehindProxy, TlsCert, TlsKey
from slowwave_server.workers.cli.output import console as terminal
from slowwave_server.workers.cli.state import shell_of

ADDRESS = "127.0.0.1:8321"


def console(
    context: typer.Context,
    *,
    listen: Annotated[str, typer.Option(help="The address to listen on.")] = ADDRESS,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
    behind_proxy: BehindProxy = None,
) -> None:
    """Run the web console until SIGTERM or Ctrl-C: memories, the inbox, runs, and the health of the system."""
    from slowwave_server.services.access.console_users import anybody
    from slowwave_server.workers.console.serving import serve
    from slowwave_server.workers.listening_sockets import Serving, address_of
    from slowwave_server.workers.shared.audit_log import write_log

    shell = shell_of(context)
    write_log(shell.settings)
    wanted = Serving(*address_of(listen), tls_cert, tls_key, behind_proxy).checked()
    with shell.connection() as connection:
        nobody = not anybody(connection)
    out = terminal(stderr=True)
    if nobody:
        out.print(
            "Nobody can log in yet: `slowwave admin users add NAME --role operator` adds a person", soft_wrap=True
        )
    serve(
        shell.settings,
        wanted,
        shell.redis,
        shell.now,
        lambda url: out.print(f"The console is at {url}", soft_wrap=True),
    )
