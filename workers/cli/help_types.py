"""The types of arguments and options as `--help` names them: TEXT, INTEGER, light|deep, and nothing for a flag.

Typer writes Python's names in brackets, `<str>`, and `<bool>` beside flags, which take no value.

Must not know: any single command.
"""

from typing import Any

from typer.core import TyperArgument, TyperOption

_WORDS = {
    "bool": "",
    "str": "TEXT",
    "int": "INTEGER",
    "int range": "INTEGER",
    "float": "NUMBER",
    "float range": "NUMBER",
    "list[str]": "TEXT",
    "list[int]": "INTEGER",
    "path": "PATH",
    "file": "FILE",
    "directory": "FOLDER",
}


class _PlainArgument(TyperArgument):
    """An argument whose type is named in plain words; its metavar is its own name, so that it can't carry the type."""

    def display_type(self, ctx: Any) -> str:
        return _plain(super().display_type(ctx))


def name_types(command: Any, ctx: Any) -> None:
    """Name the types of all parameters of a command and of the commands below it; a second call changes nothing."""
    command.params = [_with_plain_type(param, ctx) for param in command.params]
    help_option = command.get_help_option(ctx)
    if help_option is not None:
        help_option.metavar = ""
    for inner in getattr(command, "commands", {}).values():
        name_types(inner, ctx)


def _with_plain_type(param: Any, ctx: Any) -> Any:
    if isinstance(param, TyperOption):
        if param.metavar is None:
            param.metavar = _plain(param.display_type(ctx))
        return param
    if type(param) is TyperArgument:
        plain = _PlainArgument.__new__(_PlainArgument)
        plain.__dict__.update(param.__dict__)
        return plain
    return param


def _plain(label: str) -> str:
    bare = label.removeprefix("<").removesuffix(">")
    return _WORDS.get(bare, bare)
