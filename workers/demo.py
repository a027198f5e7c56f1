"""`slowwave demo`: two weeks of an agent's memory in fast motion, on its own servers, which it removes again.

Everything in it is real: an embedded Postgres and Valkey in a temporary folder, two worker processes and beat.
"""

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from slowwave.settings import PREFIX
from slowwave_server.workers.demo_replay import DemoFailed, Replay
from slowwave_server.workers.stack.errors import StackError, StartInterrupted
from slowwave_server.workers.stack.stack import Stack, StackOptions
from slowwave_server.workers.stack.up import INTERRUPTED, say_on, stop_on_signals


def run_demo(console: Console, *, now: datetime, verbose: bool = False) -> int:
    """Replay the two weeks that end at `now`. Return the exit code: 0 if the agent has the expected memories at the
    end.

    verbose: True to show the output of the servers and programs of the stack. Call this from the main thread, because
    it handles signals.
    """
    began = time.monotonic()
    # Use separate servers: those in the shell's variables contain somebody's data.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    with tempfile.TemporaryDirectory(prefix="slowwave-demo-") as folder:
        options = StackOptions(data=Path(folder) / "data", flower=False)
        stack = Stack(options, say_on(console) if verbose else _quiet, environment)
        interrupt = _Interrupt(stack.request_stop)
        try:
            with stop_on_signals(interrupt):
                _run(stack, console, interrupt, now)
        except (KeyboardInterrupt, StartInterrupted):
            console.print("\nStopped; nothing is left running.")
            return INTERRUPTED
        except (DemoFailed, StackError) as error:
            console.print(f"[bold red]The demo failed:[/] {escape(str(error))}")
            return 1
    console.print(f"[dim]Everything is stopped and removed again, after {time.monotonic() - began:.0f} s in all.[/]")
    return 0


def _run(stack: Stack, console: Console, interrupt: "_Interrupt", now: datetime) -> None:
    console.print("[bold]Two weeks of an agent's memory, in fast motion[/]")
    console.print(
        "[dim]Real Postgres, real Redis (Valkey), real workers in a temporary folder. No model, no network.[/]"
    )
    began = time.monotonic()
    with ExitStack() as started:
        with console.status("they start …"):
            started.enter_context(stack)
        console.print(f"[dim]They started in {time.monotonic() - began:.0f} s.[/]")
        settings = stack.settings.model_copy(update={"spool": stack.folder.root / "spool"})
        with interrupt.raised():
            Replay(settings, console, now).run()


class _Interrupt:
    """The effect of a signal: it ends the replay, or the start of the stack; a second one ends it at once."""

    def __init__(self, request_stop: Callable[[], None]) -> None:
        self._request_stop = request_stop
        self._raises = False

    @contextmanager
    def raised(self) -> Iterator[None]:
        """Raise KeyboardInterrupt in this block. Outside it, the stack must keep control, to stop its programs."""
        self._raises = True
        try:
            yield
        finally:
            self._raises = False

    def __call__(self) -> None:
        self._request_stop()
        if self._raises:
            self._raises = False
            raise KeyboardInterrupt


def _quiet(part: str, line: str) -> None:
    """Silence the servers' logs, because an error ends the demo with its own sentence."""
