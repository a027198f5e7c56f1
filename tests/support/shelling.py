"""The shell, called in this process as a program would be.

Typer's own runner makes the tree of all commands anew for each call, which takes longer than most commands do.
"""

import sys
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from typer import Typer
from typer.main import get_command
from typer.testing import CliRunner as Typers
from typer.testing import Result


@cache
def tree(app: Typer) -> Any:
    """The commands of an application, made once a process."""
    return get_command(app)


class CliRunner(Typers):
    """Typer's runner, with the tree of commands made once."""

    def invoke(
        self,
        app: Typer,
        args: Sequence[str] = (),
        input: bytes | str | None = None,  # noqa: A002 (its name in Typer)
        env: Mapping[str, str | None] | None = None,
        catch_exceptions: bool = True,
        color: bool = False,
        **extra: Any,
    ) -> Result:
        command = tree(app)
        answer: Any = None
        ended: BaseException | None = None
        code = 0
        with self.isolation(input=input, env=env, color=color) as (out, err, both):
            try:
                answer = command.main(args=list(args), prog_name=command.name or "root", **extra)
            except SystemExit as end:
                if isinstance(end.code, str):
                    sys.stdout.write(f"{end.code}\n")
                code = end.code if isinstance(end.code, int) else int(end.code is not None)
                ended = end if code else None
            except Exception as error:
                if not catch_exceptions:
                    raise
                ended, code = error, 1
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                shown = [stream.getvalue() for stream in (out, err, both)]
        about = None if ended is None else (type(ended), ended, ended.__traceback__)
        return Result(self, *shown, answer, code, ended, about)
