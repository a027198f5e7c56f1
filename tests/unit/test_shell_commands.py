"""The shell's manners: help by topic, one sentence for what was to be expected, documented exit codes."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import Result

from slowwave.settings import known_keys
from slowwave_server.workers.cli.main import app
from tests.support.shelling import CliRunner

NOWHERE = {
    "SLOWWAVE_DATABASE_URL": "postgresql://slowwave:hidden-word@127.0.0.1:1/slowwave",
    "SLOWWAVE_BROKER_URL": "redis://127.0.0.1:1/0",
}
# These print as they go, or speak a protocol.
UP_AND_RUN = {"up", "worker", "demo", "mcp", "hook", "exporter", "console", "serve"}


def run(*arguments: str, **variables: str) -> Result:
    return CliRunner().invoke(app, list(arguments), env=NOWHERE | variables)


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


ALL = dict(commands(typer.main.get_command(app)))


def test_help_lists_the_commands_by_topic() -> None:
    shown = run("--help").output
    topics = ("Run", "Record and recall", "Operate", "Mend")
    places = [shown.index(f"{topic} ") for topic in topics]
    assert places == sorted(places)
    assert "Exit codes: 0 fine" in " ".join(shown.split())


def test_help_answers_without_loading_the_heavy_libraries() -> None:
    heavy = ("celery", "sqlalchemy", "pydantic", "psycopg", "redis")
    code = f"import sys, slowwave_server.workers.cli.main; print([name for name in {heavy} if name in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


@pytest.mark.parametrize("path", sorted(set(ALL) - {(name,) for name in UP_AND_RUN}), ids=" ".join)
def test_every_command_that_prints_data_has_json(path: tuple[str, ...]) -> None:
    assert "--json" in {option for parameter in ALL[path].params for option in parameter.opts}


@pytest.mark.parametrize("path", sorted(ALL), ids=" ".join)
def test_every_command_and_option_says_what_it_is_for(path: tuple[str, ...]) -> None:
    assert ALL[path].help
    assert run(*path, "--help").exit_code == 0


@pytest.mark.parametrize("path", [(), *sorted(ALL)], ids=" ".join)
def test_help_names_types_in_plain_words(path: tuple[str, ...]) -> None:
    shown = run(*path, "--help", COLUMNS="160").output
    assert not re.search(r"<(bool|str|int|float|path|list)\b", shown)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_printed(shell: str) -> None:
    program = Path(sys.executable).with_name("slowwave")
    environment = {"PATH": "/usr/bin:/bin", "_SLOWWAVE_COMPLETE": f"source_{shell}"}
    shown = subprocess.run([program], env=environment, capture_output=True, text=True, check=False)
    assert f"_SLOWWAVE_COMPLETE=complete_{shell}" in shown.stdout


def test_completion_offers_commands() -> None:
    program = Path(sys.executable).with_name("slowwave")
    environment = {"PATH": "/usr/bin:/bin", "_SLOWWAVE_COMPLETE": "complete_bash"}
    environment |= {"COMP_WORDS": "slowwave embeddings re", "COMP_CWORD": "2"}
    shown = subprocess.run([program], env=environment, capture_output=True, text=True, check=False)
    assert shown.stdout.split() == ["reindex"]


def test_version_option_prints_what_the_command_prints() -> None:
    assert run("--version").stdout == run("version").stdout


def test_config_show_masks_every_secret(tmp_path: Path) -> None:
    file = tmp_path / "slowwave.yaml"
    file.write_text("memory:\n  auto_flush: {idle_seconds: 30}\n  llm: {api_key: hidden-word}\n")
    broker = "sentinel://:hidden-word@one:26379;sentinel://:hidden-word@two:26379/mymaster"
    replica = "postgresql://reader@replica/slowwave?password=hidden-word&sslmode=require"
    where = {"SLOWWAVE_CONFIG": str(file), "SLOWWAVE_BROKER_URL": broker, "SLOWWAVE_READ_DATABASE_URL": replica}
    shown = run("--tenant", "acme", "config", "show", **where)
    assert shown.exit_code == 0
    assert "hidden-word" not in shown.output
    found = {one["key"]: one for one in json.loads(run("config", "show", "--json", **where).stdout)}
    assert set(found) == set(known_keys())
    assert found["memory.llm.api_key"] == {"key": "memory.llm.api_key", "value": "***", "from": "the file"}
    assert found["database_url"]["value"] == "postgresql://slowwave:***@127.0.0.1:1/slowwave"
    assert found["read_database_url"]["value"] == "postgresql://reader@replica/slowwave?password=***&sslmode=require"
    assert found["broker_url"]["from"] == "SLOWWAVE_BROKER_URL"
    assert found["memory.auto_flush.idle_seconds"]["value"] == 30
    assert found["memory.auto_flush.turn_threshold"]["from"] == "default"
    changed = json.loads(run("--tenant", "acme", "config", "show", "--changed", "--json", **where).stdout)
    assert {one["key"]: one["from"] for one in changed} == {
        "database_url": "SLOWWAVE_DATABASE_URL",
        "read_database_url": "SLOWWAVE_READ_DATABASE_URL",
        "broker_url": "SLOWWAVE_BROKER_URL",
        "tenant": "--tenant",
        "memory.auto_flush.idle_seconds": "the file",
        "memory.llm.api_key": "the file",
    }


def test_version_is_json_if_asked() -> None:
    assert json.loads(run("version", "--json").stdout)["version"]


@pytest.mark.parametrize(
    "call",
    [
        ("status",),
        ("why", "concierge", "monday"),
        ("memories", "concierge"),
        ("search", "concierge", "cats"),
        ("flush", "concierge"),
        ("migrate",),
        ("quarantine", "list"),
        ("dead-letters", "list"),
    ],
    ids=" ".join,
)
def test_a_database_that_is_away_is_one_sentence_and_exit_3(call: tuple[str, ...]) -> None:
    result = run(*call)
    assert result.exit_code == 3
    assert result.stdout == ""
    assert result.stderr.startswith("slowwave: no connection to Postgres at postgresql://slowwave:***@127.0.0.1:1/")
    assert "SLOWWAVE_DATABASE_URL" in result.stderr
    assert "hidden-word" not in result.output
    assert "Traceback" not in result.output


def test_a_doctor_reports_servers_that_are_away_and_exits_1() -> None:
    result = run("doctor", "--json")
    assert result.exit_code == 1
    found = {check["name"]: check["verdict"] for check in json.loads(result.stdout)["checks"]}
    assert (found["postgres"], found["broker"]) == ("problem", "problem")
    quick = json.loads(run("doctor", "--quick", "--json").stdout)
    assert [check["name"] for check in quick["checks"]] == ["postgres", "broker"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (("memories", "concierge", "--scope", "kitchen"), "neither room:NAME nor team:NAME"),
        (("why", "concierge", "a\nb"), "can't be part of a name"),
        (("explain", "not-an-id"), "a memory's id is meant"),
        (("dead-letters", "redrive"), "give numbers of letters, or --all"),
        (("dead-letters", "dismiss", "1", "--all"), "give numbers of letters, or --all"),
        (("memories", "concierge", "--type", "rumour"), "rumour"),
        (("nonsense",), "nonsense"),
    ],
)
def test_a_call_that_cannot_be_understood_is_exit_2(call: tuple[str, ...], words: str) -> None:
    result = run(*call)
    assert result.exit_code == 2
    assert words in result.stderr
    assert "Traceback" not in result.output


def test_settings_that_cannot_be_used_are_exit_2_and_name_the_nearest() -> None:
    result = run("status", SLOWWAVE_TENNANT="acme")
    assert result.exit_code == 2
    assert "SLOWWAVE_TENANT" in result.stderr


def test_each_wrong_setting_gets_a_line() -> None:
    result = run("status", SLOWWAVE_TENNANT="acme", SLOWWAVE_TRACING="maybe", SLOWWAVE_TENANT="")
    assert result.exit_code == 2
    assert [line.partition(": ")[2] for line in result.stderr.splitlines()] == [
        "unknown variable SLOWWAVE_TENNANT; did you mean 'SLOWWAVE_TENANT'?",
        "tenant (SLOWWAVE_TENANT): must be text of 1 to 200 characters, got ''",
        "tracing (SLOWWAVE_TRACING): must be true or false, got 'maybe'",
    ]


def test_env_of_a_folder_without_a_stack_is_a_sentence(tmp_path: Path) -> None:
    result = run("env", "--data", str(tmp_path / "nothing"))
    assert result.exit_code == 3
    assert result.stdout == ""
    assert "slowwave up --data" in result.stderr


def test_a_file_that_cannot_be_read_is_exit_2_before_any_server_is_asked(tmp_path: Path) -> None:
    result = run("ingest", str(tmp_path))
    assert result.exit_code == 2
    assert "is a folder" in result.stderr
