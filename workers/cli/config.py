"""`slowwave config show`: every setting of this process, its value, and where that stands. Secrets are masked.

Must not know: what a setting is for.
"""

import os
import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slowwave_server.workers.cli.options import OPERATE, Json
from slowwave_server.workers.cli.output import console, print_json, print_rows, styled
from slowwave_server.workers.cli.state import Shell, shell_of

if TYPE_CHECKING:
    from slowwave.settings import Settings

MASK = "***"
# The password of a URL: what stands between the first colon behind :// and the last @ before its path.
_PASSWORD = re.compile(r"(://[^/:@\s]*:)[^/\s]+(?=@)")
# A query may carry one, too, as ?password=….
_IN_QUERY = re.compile(r"([?&;](?:password|sslpassword|token|api_?key|secret)=)[^&;\s]*", re.IGNORECASE)

app = typer.Typer(no_args_is_help=True, help="The settings of this process: show.")


def register(parent: typer.Typer) -> None:
    """Add these commands."""
    parent.add_typer(app, name="config", rich_help_panel=OPERATE)


@app.callback()
def config() -> None:
    """The settings of this process: show."""


@app.command()
def show(
    context: typer.Context,
    *,
    changed: Annotated[bool, typer.Option("--changed", help="Only those that are not at their default.")] = False,
    as_json: Json = False,
) -> None:
    """Show every setting, its value without secrets, and whether a variable, the file or the default gives it."""
    shell = shell_of(context)
    found = [one for one in _settings(shell) if not changed or one["from"] != "default"]
    if as_json:
        print_json(found)
    elif found:
        print_rows(console(), [(str(one["key"]), _shown(one["value"]), styled(one["from"], "dim")) for one in found])
    else:
        console().print("Every setting is at its default.")


def _settings(shell: Shell) -> list[dict[str, Any]]:
    from slowwave.settings import known_keys, variable_of

    found = []
    for key in known_keys():
        value, is_set = _value(shell.settings, key)
        variable = variable_of(key)
        if key == "tenant" and shell.tenant_option is not None:
            source = "--tenant"
        elif variable in os.environ:
            source = variable
        else:
            source = "the file" if is_set else "default"
        found.append({"key": key, "value": value, "from": source})
    return found


def _value(settings: "Settings", key: str) -> tuple[Any, bool]:
    """The value of a key without secrets, and whether somebody set it."""
    from pydantic import SecretStr

    *path, leaf = key.split(".")
    section: Any = settings
    for part in path:
        section = getattr(section, part)
    value = getattr(section, leaf)
    if isinstance(value, SecretStr):
        value = MASK if value.get_secret_value() else ""
    elif isinstance(value, str):
        value = _IN_QUERY.sub(rf"\g<1>{MASK}", _PASSWORD.sub(rf"\g<1>{MASK}", value))
    elif not isinstance(value, (bool, int, float)):
        value = str(value)
    return value, leaf in section.model_fields_set


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return '""' if value == "" else str(value)
