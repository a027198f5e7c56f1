"""The shell: `slowwave …`. A command parses its arguments, calls one service, and shows the answer."""

import atexit
import gc
import sys

__all__ = ["main"]

COLLECT_AFTER = 100_000
"""New objects after which Python collects garbage. Imports make objects that stay; with Python's own 700, collections
take a sixth of a short command's processor time."""


def main() -> None:
    """The entry point of the script `slowwave`.

    `slowwave hook` runs at each event of a coding agent, so it is handled before the other commands are loaded.
    """
    if sys.argv[1:2] == ["hook"]:
        from slowwave.hosts.hook import main as answer

        answer(sys.argv[2:])
    gc.set_threshold(COLLECT_AFTER)
    atexit.register(gc.freeze)  # the end of the process needs no collection of all that was imported
    from slowwave_server.workers.cli.main import main as run

    run()
