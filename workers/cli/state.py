"""The shell of an invocation, and the name of its user."""

import typer

from slowwave_server.workers.shared.shell import Shell


def shell_of(context: typer.Context) -> Shell:
    """Return the shell of this invocation."""
    shell = context.find_object(Shell)
    if shell is None:
        raise RuntimeError("a command was called outside of the shell")
    return shell


def operator() -> str:
    """Return the name of the user of this shell."""
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):  # the system has no name for this user, as in many containers
        return "operator"
