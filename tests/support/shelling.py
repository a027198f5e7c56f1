"""The shell, called in this process as a program would be.

Typer's own runner makes the tree of all commands anew for each call, which takes longer than most commands do.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from typer import Typer
from typer.main import get_command
from typer.testing import CliRunner as Typers
from typer.testing import Result

from slowwave_server.workers.cli.main import app as commands

NO_BROKER = "redis://127.0.0.1:1/0"
"""An address at which nothing listens."""


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


class Shell:
    """Runs commands on the servers of one test. folder: where spool and memory files are; more: further variables."""

    def __init__(self, database_url: str, broker_url: str = NO_BROKER, folder: Path | None = None, **more: str) -> None:
        self.variables = {"SLOWWAVE_DATABASE_URL": database_url, "SLOWWAVE_BROKER_URL": broker_url, "COLUMNS": "200"}
        if folder is not None:
            self.variables["SLOWWAVE_SPOOL"] = str(folder / "spool")
            self.variables["SLOWWAVE_MEMORY__FILES__ROOT"] = str(folder / "memory")
        self.variables |= more

    def __call__(self, *arguments: object, stdin: str | None = None, **more: str) -> Result:
        """Run a command. A traceback is a failure, whatever the command does."""
        result = CliRunner().invoke(commands, list(map(str, arguments)), env=self.variables | more, input=stdin)
        assert "Traceback" not in result.output
        return result

    def text(self, *arguments: object, exit_code: int = 0, **options: Any) -> str:
        """The output of a command that ends with this code."""
        result = self(*arguments, **options)
        assert result.exit_code == exit_code, result.output
        return result.stdout

    def json(self, *arguments: object, exit_code: int = 0, **options: Any) -> Any:
        """The document of a command with --json."""
        return json.loads(self.text(*arguments, "--json", exit_code=exit_code, **options))
