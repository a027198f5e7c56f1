"""The shell: `slowwave …`, for the people who run it and for scripts.

A command parses its arguments, calls one service, and shows the answer.
"""

import sys

__all__ = ["main"]


def main() -> None:
    """The entry point of the script `slowwave`.

    `slowwave hook` runs at each event of a coding agent, so it is handled before the other commands are loaded.
    """
    if sys.argv[1:2] == ["hook"]:
        from slowwave.hosts.hook import main as answer

        answer(sys.argv[2:])
    from slowwave_server.workers.cli.main import main as run

    run()
