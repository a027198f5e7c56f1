"""`slowwave config show | get`: the settings of this process, and where each comes from. Secrets are masked."""

import os
import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slowwave_server.workers.cli.options import Json
from slowwave_server.workers.cli.output import console, print_json, print_rows, styled
from slowwave_server.workers.cli.sentences import complain
from slowwave_server.workers.cli.state import shell_of
from slowwave_server.workers.shared.failures import FOUND
from slowwave_server.workers.shared.shell import Shell

if TYPE_CHECKING:
    from slowwave.settings import Settings

MASK = "***"
# The password of a URL: the text between the first colon after :// and the last @ before its path.
_PASSWORD = re.compile(r"(://[^/:@\s]*:)[^/\s]+(?=@)")
# A query may carry a password, too: ?password=….
_IN_QUERY = re.compile(r"([?&;](?:password|sslpassword|token|api_?key|secret)=)[^&;\s]*", re.IGNORECASE)


def show(
    context: typer.Context,
    *,
    changed: Annotated[bool, typer.Option("--changed", help="Only settings that differ from their default.")] = False,
    as_json: Json = False,
) -> None:
    """Show every setting, its value without secrets, and its source: a variable, the file, or the default."""
    shell = shell_of(context)
    found = [one for one in _settings(shell) if not changed or one["from"] != "default"]
    if as_json:
        print_json(found)
    elif found:
        print_rows(console(), [(str(one["key"]), _shown(one["value"]), styled(one["from"], "dim")) for one in found])
    else:
        console().print("All settings have their default values.")


def get(
    context: typer.Context,
    setting: Annotated[
        str, typer.Argument(metavar="KEY", help="The setting, such as memory.backend.", show_default=False)
    ],
    *,
    as_json: Json = False,
) -> None:
    """Print the value of one setting, without secrets. Exit 1 if the setting does not exist."""
    from difflib import get_close_matches

    found = {one["key"]: one for one in _settings(shell_of(context))}
    if setting not in found:
        near = get_close_matches(setting, found, n=1)
        complain(
            f"there is no setting {setting!r}" + (f"; did you mean {near[0]!r}?" if near else ""),
            "`slowwave config show` lists all settings",
        )
        raise typer.Exit(FOUND)
    if as_json:
        print_json(found[setting])
    else:
        typer.echo(_shown(found[setting]["value"]))


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
    """Return the value of a key without secrets, and its source if it was set."""
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
