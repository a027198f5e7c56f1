"""The command line: its tree, its help, its exit codes, and what it loads."""

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import Result

from slowwave import Memory
from slowwave.identity import SessionRef
from slowwave.settings import Settings, known_keys, load_settings
from slowwave_server.workers.cli.main import app
from slowwave_server.workers.cli.tree import TREE, Noun, Verb, verbs
from slowwave_server.workers.scratch import rules_flusher
from tests.support.shelling import CliRunner
from tests.support.tables import for_each

NOWHERE = {
    "SLOWWAVE_DATABASE_URL": "postgresql://slowwave:hidden-word@127.0.0.1:1/slowwave",
    "SLOWWAVE_BROKER_URL": "redis://127.0.0.1:1/0",
}
# These print as they go, or speak a protocol.
PROCESSES = {"up", "worker", "demo", "mcp", "hook", "exporter", "console", "serve"}


def run(*arguments: str, **variables: str) -> Result:
    return CliRunner().invoke(app, list(arguments), env={"COLUMNS": "200"} | NOWHERE | variables)


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


ALL = dict(commands(typer.main.get_command(app)))


def test_help_lists_the_commands_by_topic() -> None:
    shown = run("--help").output
    topics = ("Run", "Read", "Memory", "Operate")
    places = [shown.index(f"{topic} ") for topic in topics]
    assert places == sorted(places)
    assert "Exit codes: 0 done" in " ".join(shown.split())


def test_top_level_has_about_thirty_names() -> None:
    assert len(TREE) <= 30
    assert sum(isinstance(node, Noun) for node in TREE.values()) == 16


def loaded(calls: Sequence[str], libraries: Iterable[str], **variables: str) -> dict[str, list[str]]:
    """Run commands one after the other in one new process. Return the libraries that are imported after each, if any.

    A library stays imported, so the commands of one process need the same list.
    """
    code = (
        "import json, sys; from slowwave_server.workers.cli.main import main; found = {}\n"
        f"for call in {[*calls]}:\n"
        "    sys.argv = ['slowwave', *call.split()]\n"
        "    try: main()\n"
        "    except SystemExit: pass\n"
        f"    found[call] = [name for name in {(*libraries,)} if name in sys.modules]\n"
        "print(json.dumps({call: names for call, names in found.items() if names}), file=sys.stderr)"
    )
    environment = variables | {"PATH": "/usr/bin:/bin"}
    shown = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return dict(json.loads(shown.stderr.splitlines()[-1]))


def test_help_answers_without_loading_the_heavy_libraries() -> None:
    heavy = ("celery", "sqlalchemy", "pydantic", "psycopg", "redis", "jinja2", "starlette", "numpy")
    assert loaded(["--help", "--version"], heavy) == {}


@pytest.mark.servers
def test_status_loads_celery_only_for_workers_that_listen(database_url: str, valkey_url: str) -> None:
    variables = {"SLOWWAVE_DATABASE_URL": database_url, "SLOWWAVE_BROKER_URL": valkey_url}
    heavy = ("sqlalchemy", "alembic", "celery", "kombu", "yaml", "detect_secrets", "numpy", "jinja2", "starlette")
    unused = ("opentelemetry", "rich", "slowwave.coordination.scripts", "slowwave_server.domain.health_issues")
    assert loaded(["status"], (*heavy, *unused), **variables) == {}


READS = (
    "search atlas boat", "context atlas", "memory list atlas", "inbox list", "queue list", "session list atlas",
    "agent list", "agent show atlas", "run list", "day list atlas", "day list",
)  # fmt: skip


@pytest.mark.servers
def test_common_reads_load_no_library_that_they_do_not_use(database_url: str, tmp_path: Path) -> None:
    with Memory(Settings(database_url=database_url, spool=str(tmp_path))) as memory:
        memory.turn_completed("atlas", "monday", [{"role": "user", "content": "My boat is called Heron."}])
    variables = {"SLOWWAVE_DATABASE_URL": database_url, "SLOWWAVE_SPOOL": str(tmp_path)}
    heavy = ("sqlalchemy", "alembic", "celery", "redis", "yaml", "detect_secrets", "numpy", "jinja2", "starlette")
    unused = ("networkx", "opentelemetry", "chardet", "requests", "tomllib", "rich.console")
    assert loaded(READS, (*heavy, *unused), **variables) == {}


@pytest.mark.servers
def test_memory_show_loads_neither_sqlalchemy_nor_detect_secrets(
    database_url: str, valkey_url: str, tmp_path: Path
) -> None:
    variables = {"SLOWWAVE_DATABASE_URL": database_url, "SLOWWAVE_SPOOL": str(tmp_path)}
    at_once = {"SLOWWAVE_MEMORY__AUTO_FLUSH__IDLE_SECONDS": "0"}
    settings = load_settings({**variables, **at_once, "SLOWWAVE_BROKER_URL": valkey_url})
    session = SessionRef("default", "atlas", "monday")
    with Memory(settings) as memory:
        memory.turn_completed("atlas", "monday", [{"role": "user", "content": "My boat is called Heron."}])
        with rules_flusher(settings) as flusher:
            flusher.queue.offer(session, "high")
            assert flusher.flush(session).stored == 1
        (found,) = memory.memories("atlas")
    heavy = ("sqlalchemy", "alembic", "celery", "redis", "detect_secrets", "requests", "rich.console")
    assert loaded([f"memory show {found.id}"], heavy, **variables) == {}


@pytest.mark.servers
def test_a_search_loads_nothing_of_contexts(database_url: str) -> None:
    of_contexts = ("briefing", "context_query", "fitting", "instructions", "trimming")
    names = (*(f"slowwave.recall.{name}" for name in of_contexts), "slowwave.messages")
    assert loaded(["search atlas boat"], names, SLOWWAVE_DATABASE_URL=database_url) == {}


@pytest.mark.servers
def test_reads_look_for_no_plugins_of_pydantic(database_url: str, valkey_url: str) -> None:
    code = (
        "import os, sys; from slowwave_server.workers.cli.main import main; seen = set()\n"
        "for call in ('search atlas boat', 'context atlas', 'memory list atlas', 'status'):\n"
        "    sys.argv = ['slowwave', *call.split()]\n"
        "    try: main()\n"
        "    except SystemExit: pass\n"
        "    loader = sys.modules.get('pydantic.plugin._loader')\n"
        "    seen.add((getattr(loader, '_plugins', None) is None, os.environ.get('PYDANTIC_DISABLE_PLUGINS')))\n"
        "from pydantic.plugin import _loader\n"
        "print(seen, _loader._plugins, file=sys.stderr)"
    )
    environment = {"SLOWWAVE_DATABASE_URL": database_url, "SLOWWAVE_BROKER_URL": valkey_url, "PATH": "/usr/bin:/bin"}
    shown = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert shown.stderr.splitlines()[-1] == "{(True, None)} None"


@pytest.mark.servers
def test_json_is_printed_without_rich(database_url: str) -> None:
    assert loaded(["agent list --json"], ["rich"], SLOWWAVE_DATABASE_URL=database_url) == {}


def test_a_command_loads_no_module_of_another_command() -> None:
    code = (
        "import sys; from slowwave_server.workers.cli.main import main; sys.argv = ['slowwave', 'day', 'list', '-h']\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print(sorted(name.rpartition('.')[2] for name in sys.modules if '.workers.cli.' in name), file=sys.stderr)"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(json.loads(shown.stderr.replace("'", '"')))
    targets = {verb.target.partition(":")[0] for _, verb in verbs()}
    assert loaded & targets == {"days"}


@for_each(("path", "verb"), sorted(verbs(), key=lambda pair: pair[0]))
def test_every_example_is_a_call_of_its_command(path: tuple[str, ...], verb: Verb) -> None:
    assert verb.examples
    shown = " ".join(run(*path, "--help", COLUMNS="200").output.split())
    for example in verb.examples:
        words = shlex.split(example.partition("<")[0])
        assert tuple(words[: len(path)]) == path
        ALL[path].make_context(" ".join(path), words[len(path) :])
        assert f"$ slowwave {example}" in shown


@for_each("path", sorted(set(ALL) - {(name,) for name in PROCESSES}))
def test_every_command_that_prints_data_has_json(path: tuple[str, ...]) -> None:
    assert "--json" in {option for parameter in ALL[path].params for option in parameter.opts}


@for_each("path", sorted(ALL))
def test_every_command_and_option_says_what_it_is_for(path: tuple[str, ...]) -> None:
    assert ALL[path].help
    assert run(*path, "--help").exit_code == 0


@for_each("path", [(), *sorted(ALL)])
def test_help_names_types_in_plain_words(path: tuple[str, ...]) -> None:
    shown = run(*path, "--help", COLUMNS="160").output
    assert not re.search(r"<(bool|str|int|float|path|list|datetime|uuid)\b", shown, re.IGNORECASE)


FREE_TEXT = {"text", "query", "a", "b", "alias", "description", "words", "llm_command"}


@for_each("path", sorted(ALL))
def test_only_free_text_is_called_text(path: tuple[str, ...]) -> None:
    context = typer.Context(ALL[path])
    labels = {one.name: one.display_type_rich(context) for one in ALL[path].params}
    assert {name for name, label in labels.items() if label == "TEXT"} <= FREE_TEXT


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_printed(shell: str) -> None:
    program = Path(sys.executable).with_name("slowwave")
    environment = {"PATH": "/usr/bin:/bin", "_SLOWWAVE_COMPLETE": f"source_{shell}"}
    shown = subprocess.run([program], env=environment, capture_output=True, text=True, check=False)
    assert f"_SLOWWAVE_COMPLETE=complete_{shell}" in shown.stdout


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("slowwave ses", ["session"]),
        ("slowwave session fl", ["flush"]),
        ("slowwave admin keys re", ["revoke"]),
        ("slowwave backend sync v", ["vectors"]),
        ("slowwave inbox answer ne", ["neither"]),
    ],
)
def test_completion_offers_what_fits(words: str, offered: list[str]) -> None:
    program = Path(sys.executable).with_name("slowwave")
    environment = {"PATH": "/usr/bin:/bin", "_SLOWWAVE_COMPLETE": "complete_bash"}
    environment |= {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split(" ")) - 1)}
    shown = subprocess.run([program], env=environment, capture_output=True, text=True, check=False)
    assert shown.stdout.split() == offered


def test_version_is_an_option() -> None:
    assert re.fullmatch(r"slowwave \d+\.\d+\.\d+\S*\n", run("--version").stdout)
    assert run("version").exit_code == 2


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


@pytest.mark.parametrize(
    "call",
    [
        ("status",),
        ("session", "why", "concierge", "monday"),
        ("memory", "list", "concierge"),
        ("search", "concierge", "cats"),
        ("session", "flush", "concierge"),
        ("admin", "migrate"),
        ("queue", "list"),
        ("inbox", "list"),
        ("webhook", "list"),
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


def test_config_get_prints_one_value() -> None:
    assert run("config", "get", "memory.backend").stdout == "postgres\n"
    assert run("config", "get", "database_url").stdout == "postgresql://slowwave:***@127.0.0.1:1/slowwave\n"
    found = json.loads(run("--tenant", "acme", "config", "get", "tenant", "--json").stdout)
    assert found == {"key": "tenant", "value": "acme", "from": "--tenant"}
    wrong = run("config", "get", "memory.backand")
    assert wrong.exit_code == 1
    assert "did you mean 'memory.backend'?" in wrong.stderr


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
        (("memory", "list", "concierge", "--scope", "kitchen"), "scope must be room:NAME or team:NAME, got 'kitchen'"),
        (("session", "why", "concierge", "a\nb"), "can't be part of a name"),
        (("memory", "show", "not-an-id"), "not-an-id"),
        (("queue", "retry"), "give IDs, or --all"),
        (("queue", "dismiss", "1", "--all"), "give IDs, or --all"),
        (("memory", "list", "concierge", "--type", "rumour"), "rumour"),
        (("memory", "forget"), "give MEMORY or --scope"),
        (("memory", "forget", "--scope", "kitchen", "--yes"), "room:NAME, team:NAME or agent:NAME"),
        (("agent", "forget", "concierge", "--json"), "add --yes, or --dry-run"),
        (("inbox", "answer", "keep"), "give ids of items"),
        (("inbox", "answer", "keep", "q1", "--into", "x"), "--into needs the answer same"),
        (("inbox", "list", "--older-than", "yesterday"), "30min, 12h, 7d or 2w"),
        (("backend", "sync", "vectors", "concierge"), "vectors are shared by all tenants"),
        (("webhook", "add", "http://example.com/x", "--type", "gone"), "--type must be one of"),
        (("webhook", "add", "ftp://example.com/x"), "URL"),
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
    result = run("config", "env", "--data", str(tmp_path / "nothing"))
    assert result.exit_code == 3
    assert result.stdout == ""
    assert "slowwave up --data" in result.stderr


def test_a_file_that_cannot_be_read_is_exit_2_before_any_server_is_asked(tmp_path: Path) -> None:
    result = run("import", "events", str(tmp_path))
    assert result.exit_code == 2
    assert "is a folder" in result.stderr
