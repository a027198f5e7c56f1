"""What every example shares: servers and workers of its own for as long as it runs, and a way to wait for memories.

Example:
    with own_stack() as settings:
        with Memory(settings) as memory:
            …
            wait_for_memories(memory)
"""

import os
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from slowwave import Memory
from slowwave.settings import PREFIX, Settings
from slowwave_server.models.engine import make_engine
from slowwave_server.services.access.api_keys import NewKey, make_key
from slowwave_server.workers.stack.stack import Stack, StackOptions

DEADLINE_SECONDS = 60.0

# Some frameworks report runs elsewhere, by default or where the environment says so. An example talks to nobody.
_NO_REPORTS = {
    "AGNO_TELEMETRY": "false",
    "LANGCHAIN_TRACING_V2": "false",
    "LANGSMITH_TRACING": "false",
    "LANGSMITH_TRACING_V2": "false",
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
}


@contextmanager
def own_stack(variables: Mapping[str, str] | None = None) -> Iterator[Settings]:
    """Start Postgres, Valkey, workers and beat in a temporary folder, and stop and delete all of it afterwards.

    Answers the settings that connect to them. Servers that SLOWWAVE_… variables name are somebody's: they aren't used.
    variables: SLOWWAVE_… variables of this example's own. From here on no framework of this process reports to anybody.
    """
    with _started(variables or {}, gateway=False) as (stack, folder):
        yield stack.settings.model_copy(update={"spool": folder / "spool"})


@contextmanager
def own_gateway() -> Iterator[Mapping[str, str]]:
    """The same with `slowwave serve`; answers variables with its address and a key."""
    with _started({}, gateway=True) as (stack, _folder):
        engine = make_engine(stack.settings.database_url)
        wanted = NewKey("example", ["record", "read"])
        with engine.begin() as connection:
            _, key = make_key(connection, stack.settings.tenant, wanted, by="example", now=datetime.now(UTC))
        engine.dispose()
        yield {"SLOWWAVE_URL": str(stack.gateway_url), "SLOWWAVE_KEY": key}


@contextmanager
def _started(variables: Mapping[str, str], *, gateway: bool) -> Iterator[tuple[Stack, Path]]:
    os.environ.update(_NO_REPORTS)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    environment |= variables
    with tempfile.TemporaryDirectory(prefix="slowwave-example-") as folder:
        options = StackOptions(data=Path(folder) / "data", concurrency=1, flower=False, gateway=gateway)
        print("Starting Postgres, Valkey and workers of this example's own …")
        with Stack(options, lambda _part, _line: None, environment) as stack:
            yield stack, Path(folder)
    print("Everything is stopped again, and nothing was left behind.")


def wait_for_memories(memory: Memory) -> None:
    """Wait until the workers have read every turn. Raises TimeoutError after a minute."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    pause = threading.Event()
    while memory.status().dirty_sessions:
        if time.monotonic() > deadline:
            raise TimeoutError(f"the workers have not read every turn within {DEADLINE_SECONDS:.0f} s")
        pause.wait(0.05)
