"""Build the program from the tree of commands. A command's module is imported when the command is used."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from slowwave_server.workers.cli.help_types import name_types
from slowwave_server.workers.cli.tree import Node, Noun, Verb

SETTINGS = {"help_option_names": ["-h", "--help"]}


class Commands(dict[str, Any]):
    """The commands of a group by name; each command is built at its first use."""

    def __init__(self, nodes: Mapping[str, Node]) -> None:
        super().__init__(dict.fromkeys(nodes))
        self._nodes = nodes

    def __getitem__(self, name: str) -> Any:
        made = super().__getitem__(name)
        if made is None:
            made = self[name] = _build(name, self._nodes[name])
        return made

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self else default  # noqa: SIM401 (dict.get would not make it)

    def values(self) -> Any:
        self._make_all()
        return super().values()

    def items(self) -> Any:
        self._make_all()
        return super().items()

    def _make_all(self) -> None:
        for name in self:
            self[name]


def _build(name: str, node: Node) -> Any:
    if isinstance(node, Noun):
        group = TyperGroup(
            name=name,
            help=node.help,
            commands=Commands(node.nodes),
            no_args_is_help=True,
            rich_help_panel=node.panel,
            context_settings=SETTINGS,
        )
        name_types(group)
        return group
    return _command(name, node)


def _command(name: str, verb: Verb) -> Any:
    module, _, function = verb.target.partition(":")
    settings = SETTINGS | ({"ignore_unknown_options": True} if verb.foreign_options else {})
    alone = typer.Typer(add_completion=False)
    alone.command(
        name,
        epilog="\n\n".join(_epilog(verb)),
        context_settings=settings,
        hidden=verb.hidden,
        rich_help_panel=verb.panel,
    )(getattr(import_module(f"slowwave_server.workers.cli.{module}"), function))
    command: Any = get_command(alone)
    name_types(command)
    return command


def _epilog(verb: Verb) -> Iterator[str]:
    yield "Examples:" if len(verb.examples) > 1 else "Example:"
    for example in verb.examples:
        yield f"$ slowwave {example}"
