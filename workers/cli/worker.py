"""`slowwave worker`: a Celery worker, optionally with beat, as which this process continues (exec)."""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

import typer

from slowwave_server.workers.celery_process import SERVER_APP, SOFT_STOP, celery_command
from slowwave_server.workers.cli.state import shell_of

Pool = Literal["prefork", "threads"]
LogLevel = Literal["debug", "info", "warning", "error", "critical"]


def worker(
    context: typer.Context,
    *,
    queues: Annotated[
        str | None,
        typer.Option(metavar="QUEUE,…", help="The queues to take from, the most urgent first; default: all queues."),
    ] = None,
    concurrency: Annotated[
        int | None, typer.Option(min=1, help="Concurrent tasks: processes or threads; default: one per core.")
    ] = None,
    pool: Annotated[
        Pool, typer.Option(help="prefork: processes; threads: for tasks that wait for a model.")
    ] = "prefork",
    name: Annotated[
        str | None,
        typer.Option(help="The worker's name, unique in this installation; default: made from its process id."),
    ] = None,
    beat: Annotated[bool, typer.Option("--beat", help="Run beat, the scheduler, as a child of this worker.")] = False,
    events: Annotated[bool, typer.Option("--events", help="Send the events that Flower shows.")] = False,
    log_level: Annotated[LogLevel, typer.Option(help="The least severe messages to log.")] = "info",
) -> None:
    """Run a worker on the servers of the settings until SIGTERM or Ctrl-C."""
    _ = shell_of(context).settings  # invalid settings end here with a sentence, not in Celery with a traceback
    words = [
        *("-Q", ",".join(chosen_queues(queues)), "-n", node_name(name, os.getpid()), "--pool", pool),
        *(() if concurrency is None else ("--concurrency", str(concurrency))),
        *("--loglevel", log_level, "--without-gossip", "--without-mingle"),
        *(("-E",) if events else ()),
        # This scheduler keeps no file. Ticks are idempotent: after a restart each interval begins again.
        *(("-B", "--scheduler", "celery.beat:Scheduler") if beat else ()),
    ]
    sys.stdout.flush()
    command = celery_command(SERVER_APP, "worker", *words)
    os.execve(command[0], command, worker_environment(os.environ, pool))  # noqa: S606 - our own interpreter, no shell


def chosen_queues(text: str | None) -> Sequence[str]:
    """Return the queues in a text, in its order; all queues for None. Raises BadParameter."""
    from slowwave.coordination.keys import QUEUES

    if text is None:
        return QUEUES
    chosen = list(dict.fromkeys(name.strip() for name in text.split(",")))
    for queue in chosen:
        if queue not in QUEUES:
            raise typer.BadParameter(f"--queues: unknown queue {queue!r}; the queues are {', '.join(QUEUES)}")
    return chosen


def node_name(name: str | None, process: int) -> str:
    """Return Celery's name of the worker: NAME@HOST. Celery replaces %h by the name of the host."""
    name = name or f"worker-{process}"
    return name if "@" in name else f"{name}@%h"


def worker_environment(given: Mapping[str, str], pool: Pool) -> dict[str, str]:
    """Add the variable of the soft shutdown, unless it is set. The thread pool has no soft shutdown."""
    return {**(SOFT_STOP if pool == "prefork" else {}), **given}
