"""Servers for a single command: an embedded Postgres and Valkey in a temporary folder, deleted when the command ends.

The settings are those of the process, so that a measurement applies to them. Only the addresses, the spool and the
folder of files are separate, and Postgres is the backend: no data of a deployment is read or changed.
"""

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from slowwave.coordination.broker import connect_broker
from slowwave.coordination.flush_queue import FlushQueue
from slowwave.settings import PREFIX, Settings
from slowwave_server.models.engine import make_engine
from slowwave_server.services.extraction.judging import rules_extractor
from slowwave_server.services.flush.flusher import Flusher
from slowwave_server.workers.leases import LeaseThread
from slowwave_server.workers.stack.stack import Stack, StackOptions


@contextmanager
def scratch_servers(settings: Settings) -> Iterator[Settings]:
    """Return the same settings with separate servers. Raises StackError if the servers do not start."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    with tempfile.TemporaryDirectory(prefix="slowwave-scratch-") as name:
        folder = Path(name)
        with Stack(StackOptions(data=folder / "data", programs=False), lambda _part, _line: None, environment) as stack:
            memory = settings.memory.model_copy(update={"backend": "postgres", "files": stack.settings.memory.files})
            yield settings.model_copy(
                update={
                    "database_url": stack.settings.database_url,
                    "read_database_url": "",
                    "broker_url": stack.settings.broker_url,
                    "broker_ca": "",
                    "spool": folder / "spool",
                    "memory": memory,
                }
            )


@contextmanager
def rules_flusher(settings: Settings) -> Iterator[Flusher]:
    """Build the flusher of a worker, with the rules extractor, in this process."""
    rules = settings.memory.auto_flush
    redis = connect_broker(settings)
    engine = make_engine(settings.database_url)
    queue = FlushQueue(redis, lease_seconds=rules.lease_seconds)
    try:
        yield Flusher(
            engine=engine.execution_options(isolation_level="AUTOCOMMIT"),
            queue=queue,
            keeper=LeaseThread(queue, lease_seconds=rules.lease_seconds),
            extractor=rules_extractor(settings),
            settings=rules,
            clock=lambda: datetime.now(UTC),
            jitter=lambda: 0.5,
            pause=time.sleep,
        )
    finally:
        engine.dispose()
        redis.close()
