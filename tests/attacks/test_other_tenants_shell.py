"""I8: one tenant goes for another's memory through every command of the shell, and gets not a word of it.

A new command without an attack, and without a reason why it needs none, fails this module.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any
from zipfile import ZipFile

import pytest
import typer.main

from slowwave_server.workers.cli.main import app as shell_app
from tests.support.shelling import CliRunner
from tests.support.siege import AGENT, DAY, ROOM, SESSION, THEIRS, Siege, open_siege, told_words

pytestmark = pytest.mark.servers

A = AGENT
ODD = f"{A}/{THEIRS[0].word}-odd#1"
COMMANDS: Mapping[str, list[list[str]]] = {
    "context": [[A, "--query", "boat", "--scope", ROOM, "--days", "30"], ["boreas"]],
    "search": [[A, "editor boat key", "--scope", ROOM, "--include-review"], ["boreas", "editor"]],
    "memory list": [[A], [A, "--scope", ROOM], [A, "--session", SESSION], ["boreas"]],
    "memory show": [["{memory}"]],
    "memory graph": [[A, "--format", "json"], [A, "Quorvex"], [A, "--scope", ROOM]],
    "memory edit": [["{memory}", "What mallory says."]],
    "memory archive": [["{memory}"]],
    "memory consolidate": [[A, "--any-age", "--allow-archive", "--mode", "deep"], [A, "--scope", ROOM]],
    "memory export": [[f"agent:{A}", "FOLDER/out"], [ROOM, "FOLDER/out"], ["--all", "FOLDER/all"]],
    "memory import": [[ROOM, "FOLDER/out"]],
    "day list": [[A], ["boreas"]],
    "day show": [[A, DAY], [A, DAY, "--scope", ROOM]],
    "day finalize": [[A, DAY, "--force"], [A, DAY, "--scope", ROOM, "--force"], ["--ended"]],
    "agent list": [[]],
    "agent show": [[A], ["boreas"]],
    "agent clock": [["boreas", "--timezone", "Asia/Tokyo"], [A, "--cutoff-hour", "5"]],
    "agent export": [[A, "FOLDER/agent.zip"]],
    "agent import": [["FOLDER/agent.zip"], ["FOLDER/agent.zip", "--as", "boreas"]],
    "session list": [[A], ["boreas"]],
    "session why": [[A, SESSION], ["boreas", "Dalquin-tail"]],
    "session flush": [[A, SESSION], [A, "--high"]],
    "import from": [["mem0", "FOLDER/mem0.json", "--agent", A, "--yes"]],
    "import events": [["FOLDER/lines.jsonl"]],
    "note add": [[A, "It is mine.", "--session", SESSION, "--key", "k2"], [A, "It is ours.", "--scope", ROOM]],
    "note list": [[A, "--settled"], [A, "--scope", ROOM]],
    "note curate": [[f"agent:{A}"], [ROOM]],
    "status": [[]],
    "admin budget": [[], ["--agent", A]],
    "admin receipts": [[]],
    "admin keys add": [["mine", "--agent", A, "--scope", ROOM, "--right", "administer"]],
    "admin keys list": [[]],
    "admin keys revoke": [["{key}"], ["{key_id}"]],
    "run list": [[], ["--agent", A], ["--scope", ROOM]],
    "run show": [["{run}"]],
    "run undo": [["{run}"]],
    "run rebuild": [[A, "--extractor", "rules", "--yes"], ["boreas", "--extractor", "rules", "--yes"]],
    "queue list": [[], [A, f"{THEIRS[0].word}-odd"], ["--decided"]],
    "queue show": [["{letter}"], [ODD]],
    "queue retry": [["{letter}"], [ODD]],
    "queue dismiss": [["{letter}"], ["--all"]],
    "inbox list": [[], ["--agent", A], ["--scope", ROOM], ["--decided"]],
    "inbox show": [["q{review_items}"], ["c{memory_conflicts}"]],
    "inbox answer": [
        *([answer, "q{review_items}"] for answer in ("keep", "archive", "later", "earlier", "both", "neither")),
        *([answer, "c{memory_conflicts}"] for answer in ("later", "earlier", "both", "neither")),
        ["same", "q{review_items}", "--into", "{other}"],
    ],
    "alias list": [[A], [A, "--scope", ROOM]],
    "alias show": [[A, "Kubernetes"]],
    "alias add": [[A, "Kubernetes", "k8s"], [A, "Kubernetes", "k8s", "--scope", ROOM]],
    "alias remove": [[A, "Kubernetes", "k8s"]],
    "backend status": [["files"], ["mem0"]],
    "backend sync": [["files", A], ["files", "--scope", ROOM], ["mem0", A], ["mem0", "--scope", ROOM]],
    "webhook list": [[]],
    **{f"webhook {verb}": [["{webhook}"]] for verb in ("show", "enable", "deliveries", "rotate", "remove")},
    "webhook replay": [["{webhook}", "{delivery}"]],
    # Last, since it takes what globex has of that name.
    "memory forget": [["{memory}", "--yes"], ["--scope", "team:garden", "--yes"], ["--scope", ROOM, "--yes"]],
    "session forget": [[A, SESSION, "--yes"]],
    "agent forget": [["boreas", "--yes"], [A, "--yes"]],
}
OF_THE_INSTALLATION = {
    "up": "starts servers of its own",
    "worker": "becomes a worker, which serves all tenants",
    "serve": "serves callers by their keys; tests/attacks/test_gateway.py and test_gateway_walls.py attack it",
    "connect": "writes files of a coding agent's host, and asks no server",
    "hook": "records and reads as `Memory` does, which is attacked above",
    "evaluate recall": "reads a file that it is given into servers of its own",
    "evaluate extraction": "reads a file that it is given, and no database",
    "config env": "names the servers of a data folder",
    "demo": "starts servers of its own",
    "mcp": "serves the tools that are attacked above",
    "memory compare": "compares two sentences that it is given",
    "admin migrate": "the schema belongs to the installation",
    "config show": "shows the settings of the caller's own process",
    "config get": "as config show",
    "webhook add": "is the caller's own tenant's; tests/attacks/test_webhook_targets.py attacks its address",
    "doctor": "is for the operator of the installation; counts, no names of sessions",
    "job list": "jobs belong to the installation",
    "job tick": "as list",
    "job run": "as list",
    "job config": "as list",
    "job daemon": "as list",
    "console": "serves pages, each of which tests/console asks as a person of another tenant",
    "admin users add": "for the owner of the database, who says what a person may see",
    "admin users list": "as add",
    "admin users password": "as add",
    "admin users remove": "as add",
    "admin audit": "is for the operator of the installation; tests/attacks/test_console_audit.py looks at its walls",
    "exporter": "serves figures of the installation, and tells no name but the tenant's where it is told to",
    "admin roles apply": "for the owner of the database",
    "admin roles add": "as apply",
    "admin roles remove": "as apply",
    "admin roles list": "as apply",
    "admin roles redis": "prints a rule for the broker, and reads nothing that is kept",
}


@pytest.fixture(scope="module")
def siege(module_database: str, valkey_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Siege]:
    yield from open_siege(module_database, valkey_url, tmp_path_factory.mktemp("siege"))


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[str]:
    """The paths of all commands, those of groups as two words."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield " ".join((*path, name))


def test_every_command_of_the_shell_is_attacked_or_says_why_not() -> None:
    known = set(commands(typer.main.get_command(shell_app)))
    assert known - set(COMMANDS) - set(OF_THE_INSTALLATION) == set(), "no attack through these"
    assert (set(COMMANDS) | set(OF_THE_INSTALLATION)) - known == set(), "these are no longer there"


@pytest.mark.long
@pytest.mark.parametrize("command", COMMANDS)
def test_i8_no_command_of_the_shell_tells_or_changes_what_is_another_tenants(siege: Siege, command: str) -> None:
    settings = siege.world.memory.store.settings
    variables = {
        "SLOWWAVE_DATABASE_URL": settings.database_url,
        "SLOWWAVE_BROKER_URL": settings.broker_url,
        "SLOWWAVE_SPOOL": str(settings.spool),
        "SLOWWAVE_MEMORY__FILES__ROOT": str(siege.folder / "root"),
    }
    # A line that names no tenant goes to the one of the command.
    line = {"agent": A, "session": SESSION, "role": "user", "content": "It is mine.", "key": "k3"}
    (siege.folder / "lines.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    kept = {"id": siege.loot["memory"], "memory": "It is mine.", "user_id": A}
    (siege.folder / "mem0.json").write_text(json.dumps([kept]), encoding="utf-8")
    for arguments in COMMANDS[command]:
        given = [one.format(**siege.loot).replace("FOLDER", str(siege.folder)) for one in arguments]
        called = ["--tenant", "globex", *command.split(), *given]
        result = CliRunner().invoke(shell_app, called, env=variables, catch_exceptions=True)
        assert result.exception is None or isinstance(result.exception, SystemExit), (called, result.exc_info)
        assert result.exit_code in {0, 1, 2}, (called, result.output)
        assert told_words(result.output, *given) == set(), called
    exported = [path.read_text("utf-8") for path in siege.folder.rglob("*.md")]
    for archive in map(ZipFile, siege.folder.rglob("*.zip")):
        exported += [archive.read(name).decode("utf-8") for name in archive.namelist()]
    assert told_words("\n".join(exported)) == set()
