"""Expected failures end in one sentence on stderr and a documented exit code, never in a traceback.

0    done
1    problems found, or no object has this name
2    invalid arguments or settings
3    a server does not answer, refuses the login, or has another version; or the time is up
130  interrupted
"""

import sys
from typing import Any

import typer
from typer.core import TyperGroup

from slowwave_server.workers.cli.help_types import name_types
from slowwave_server.workers.cli.output import one_line, safe
from slowwave_server.workers.shared.failures import explain_failure
from slowwave_server.workers.shared.shell import Shell

INTERRUPTED = 130
EXIT_CODES = (
    "Exit codes: 0 done · 1 problems found, or no object has this name · 2 invalid arguments or settings"
    " · 3 a server does not answer, or the time is up · 130 interrupted"
)
LONGEST_SENTENCE = 1000


class SentenceGroup(TyperGroup):
    """A group of commands that turns expected failures into a sentence and an exit code."""

    def get_params(self, ctx: Any) -> Any:
        """Name the types of the program's own options in plain words."""
        name_types(self)
        return super().get_params(ctx)

    def make_context(self, *args: Any, **more: Any) -> Any:
        try:
            return super().make_context(*args, **more)
        except typer.TyperException as error:
            raise _readable(error) from None

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except typer.TyperException as error:
            raise _readable(error) from None
        except (typer.Exit, typer.Abort):
            raise
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None
        except Exception as error:
            expected = explain_failure(error, ctx.find_object(Shell))
            if expected is None:
                raise
            code, sentence, cure = expected
            more = getattr(error, "problems", ())[1:]  # one sentence for each invalid setting
            complain(sentence, cure, *more)
            raise typer.Exit(code) from None


def _readable(error: typer.TyperException) -> typer.TyperException:
    """Make the control characters of a quoted argument visible in the message."""
    error.message = safe(error.message)
    return error


def complain(sentence: str, cure: str | None = None, *more: str) -> None:
    """Print sentences about a failure to stderr, one per line, and the fix."""
    for one in (sentence, *more):
        sys.stderr.write(f"slowwave: {one_line(one, LONGEST_SENTENCE)}\n")
    if cure:
        sys.stderr.write(f"  → {cure}\n")
