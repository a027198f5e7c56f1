"""The shell of an invocation, and who sits at it."""

import typer

from slowwave_server.workers.shared.shell import Shell


def shell_of(context: typer.Context) -> Shell:
    """The shell of this invocation."""
    shell = context.find_object(Shell)
    if shell is None:
        raise RuntimeError("a command was called outside of the shell")
    return shell


def operator() -> str:
    """Who sits at this shell."""
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user that the system has no name for, as in many containers
        return "operator"
