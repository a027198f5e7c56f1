"""`slowwave exporter`: metrics for Prometheus, until a signal ends it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from slowwave_server.workers.cli.output import console
from slowwave_server.workers.cli.state import shell_of
from slowwave_server.workers.shared.shell import Shell

if TYPE_CHECKING:
    from slowwave_server.workers.exporter.collector import FiguresCollector

ADDRESS = "127.0.0.1:9187"
STATEMENT_MS = 3000
"""The scrape omits the metrics of a query that takes longer."""


def exporter(
    context: typer.Context,
    *,
    listen: Annotated[str, typer.Option(help="The address to listen on.")] = ADDRESS,
    tenants: Annotated[
        list[str] | None,
        typer.Option("--name-tenant", help="Export the budget of this tenant by name; may be repeated."),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Print all metrics once, and exit.")] = False,
) -> None:
    """Serve metrics for Prometheus at /metrics until SIGTERM or Ctrl-C: queues, latency, budgets, backlogs."""
    from slowwave.identity import check_name
    from slowwave_server.workers.exporter.server import metrics_text, registry_of, serve

    for tenant in tenants or ():
        check_name("tenant", tenant)
    with _collector(shell_of(context), tenants or []) as collector:
        registry = registry_of(collector)
        if once:
            typer.echo(metrics_text(registry), nl=False)
        else:
            serve(registry, listen, ready=lambda url: console(stderr=True).print(f"Metrics are at {url}"))


@contextmanager
def _collector(shell: Shell, tenants: list[str]) -> "Iterator[FiguresCollector]":
    import platform
    from importlib.metadata import version

    from slowwave_server.models.engine import make_engine
    from slowwave_server.services.reports.metrics.reading import Sources, from_broker, from_postgres
    from slowwave_server.services.reports.spool_check import measure_spool
    from slowwave_server.workers.exporter.collector import FiguresCollector

    engine = make_engine(shell.settings.database_url, pool_size=1, statement_timeout_ms=STATEMENT_MS)
    sources = Sources(shell.settings, engine, shell.redis, shell.listening, shell.now, tenants)
    collector = FiguresCollector(
        {"postgres": lambda: from_postgres(sources), "broker": lambda: from_broker(sources)},
        lambda: [measure_spool(shell.spooled(), shell.settings.spool)],
        about=(version("slowwave-server"), platform.python_version()),
    )
    try:
        yield collector
    finally:
        collector.close()
        engine.dispose()
