"""The program `slowwave`: its tree of commands and its global options."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from slowwave_server.workers.cli.help_types import name_types
from slowwave_server.workers.cli.sentences import EXIT_CODES, SentenceGroup
from slowwave_server.workers.cli.tree import TREE, Node, Noun, Verb
from slowwave_server.workers.shared.shell import Shell

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


class Program(SentenceGroup):
    """The commands at the top."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings | {"commands": Commands(TREE)})


app = typer.Typer(
    name="slowwave", cls=Program, no_args_is_help=True, pretty_exceptions_enable=False, context_settings=SETTINGS
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"slowwave {version('slowwave-server')}")
        raise typer.Exit


@app.callback(epilog=EXIT_CODES)
def slowwave(
    context: typer.Context,
    tenant: Annotated[str | None, typer.Option(help="The tenant; default: the tenant of the settings.")] = None,
    _version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version and exit.")
    ] = False,
) -> None:
    """Background memory consolidation for AI agents."""
    shell = context.obj = Shell(tenant)
    context.call_on_close(shell.close)


def main() -> None:
    """The entry point of the script `slowwave`."""
    app()
