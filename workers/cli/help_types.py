"""The types of arguments and options as `--help` names them: NAME, TIME, DAY, SCOPE, light|deep; nothing for a flag.

Typer writes Python's names in brackets, `<str>`, and `<bool>` beside flags, which take no value.
"""

from typing import Any

import typer
from typer.core import TyperArgument, TyperOption

_OF_PYTHON = {
    "bool": "",
    "str": "TEXT",
    "int": "INTEGER",
    "int range": "INTEGER",
    "float": "NUMBER",
    "float range": "NUMBER",
    "path": "PATH",
    "file": "FILE",
    "directory": "FOLDER",
    "UUID": "ID",
}
# What a parameter of text holds, by its name, which means the same in every command.
_OF_NAMES = {
    "NAME": ("agent", "session", "sessions", "name", "names", "login", "tenant", "tenants", "alias", "by", "entity"),
    "ID": ("memory", "into", "ids", "item", "entry", "webhook", "delivery"),
    "SCOPE": ("scope", "scopes"),
    "TIME": ("as_of", "known_at"),
    "DAY": ("day", "since"),
    "JOB": ("job",),
    "KEY": ("key", "setting"),
    "URL": ("url",),
    "SOURCE": ("source",),
    "HOST:PORT": ("listen",),
    "ZONE": ("timezone", "time_zone"),
    "HH:MM": ("window_start", "window_end"),
    "COMMAND": ("llm_command",),
}
_NAMED = {name: label for label, names in _OF_NAMES.items() for name in names}


class _PlainArgument(TyperArgument):
    """An argument with a type in plain words; its metavar is its own name, so that it can't carry the type."""

    def display_type(self, ctx: Any) -> str:
        return _plain(self.name, super().display_type(ctx))

    def _usage_display_name(self) -> str:
        name = self.display_name_raw + ("..." if self.nargs != 1 else "")
        return name if self.required else f"[{name}]"


def name_types(command: Any) -> None:
    """Name the types of all parameters of a command; a second call changes nothing."""
    context = typer.Context(command, **command.context_settings)
    command.params = [_with_plain_type(param, context) for param in command.params]
    help_option = command.get_help_option(context)
    if help_option is not None:
        help_option.metavar = ""


def _with_plain_type(param: Any, context: Any) -> Any:
    if isinstance(param, TyperOption):
        if param.metavar is None:
            param.metavar = _plain(param.name, param.display_type(context))
        return param
    if type(param) is TyperArgument:
        plain = _PlainArgument.__new__(_PlainArgument)
        plain.__dict__.update(param.__dict__)
        plain.metavar = param.metavar or param.name.upper()
        return plain
    return param


def _plain(name: str, label: str) -> str:
    bare = label.removeprefix("<").removesuffix(">").removeprefix("list[").removesuffix("]")
    return _NAMED.get(name, "TEXT") if bare == "str" else _OF_PYTHON.get(bare, bare)
