"""Run `slowwave up`: the stack in the foreground, with lines for a person, until Ctrl-C or SIGTERM."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from rich.console import Console
from rich.markup import escape

from slowwave_server.workers.stack.errors import StartInterrupted
from slowwave_server.workers.stack.stack import Stack, StackOptions

INTERRUPTED = 130


def run_stack(options: StackOptions, console: Console) -> int:
    """Run the stack until a stop signal. Return the exit code: 0, or 130 if it was stopped before it was ready.

    Call this from the main thread, because it handles SIGINT, SIGTERM and SIGHUP. A second signal kills all programs.
    Raises a StackError with one sentence if it can't start, and InvalidSettings.
    """
    stack = Stack(options, say_on(console))
    began = time.monotonic()
    with stop_on_signals(stack.request_stop):
        try:
            with stack:
                _tell_ready(stack, console, time.monotonic() - began)
                stack.wait()
                console.print("[bold]stopping[/] …")
                began = time.monotonic()
        except StartInterrupted:
            console.print("stopped before everything was up; nothing is left running")
            return INTERRUPTED
    where = escape(str(stack.folder.root))
    console.print(f"stopped after {time.monotonic() - began:.1f} s; the data stays in {where}", soft_wrap=True)
    return 0


def say_on(console: Console) -> Callable[[str, str], None]:
    """Return a function that prints (part, line) as the lines of `slowwave up`."""

    def say(name: str, text: str) -> None:
        console.print(f"[cyan]{escape(name):>12}[/]  {escape(text)}", highlight=False, soft_wrap=True)

    return say


def _tell_ready(stack: Stack, console: Console, seconds: float) -> None:
    data = escape(str(stack.folder.root))
    console.print(f"[bold green]ready[/] after {seconds:.1f} s", highlight=False)
    lines = {
        "connect": f'eval "$(slowwave config env --export --data {data})"',
        "logs": escape(str(stack.folder.logs)),
        "stop": "Ctrl-C",
    }
    if stack.flower_url is not None:
        lines = {
            "Flower": f"{stack.flower_url} (user and password: FLOWER_BASIC_AUTH in `slowwave config env`)"
        } | lines
    if stack.gateway_url is not None:
        lines = {"HTTP": f"{stack.gateway_url} (`slowwave admin keys add NAME` makes a key)"} | lines
    for name, text in lines.items():
        console.print(f"[dim]{name:>12}[/]  {text}", highlight=False, soft_wrap=True)


@contextmanager
def stop_on_signals(request_stop: Callable[[], None]) -> Iterator[None]:
    """Call `request_stop` at each SIGINT, SIGTERM and SIGHUP while the block runs."""

    def handle(_number: int, _frame: FrameType | None) -> None:
        request_stop()

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
