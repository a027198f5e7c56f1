"""Start programs of Celery, without an import of Celery, so that the shell starts quickly."""

import sys
from collections.abc import Mapping

SERVER_APP = "slowwave_server"
"""The value of `celery -A` for the app of this server."""
SOFT_STOP: Mapping[str, str] = {"REMAP_SIGTERM": "SIGQUIT"}
"""With this variable SIGTERM starts Celery's soft shutdown, which takes a bounded time. Without it SIGTERM waits for
running tasks without a limit. Celery reads the variable when it is imported, so only a new process can get it."""


def celery_command(app: str, *words: str) -> tuple[str, ...]:
    """Return the command of a Celery program: `celery -A app words`, run by this interpreter.

    `-P` keeps the current folder out of the import path: a user's own celery.py, redis.py or models/ stays unused.
    """
    return (sys.executable, "-P", "-m", "celery", "-A", app, *words)
