"""`slowwave connect`: what it writes, and that everything else in the files stays as it was."""

import json
import os
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from proof.coding_host import Home, wait_for
from slowwave.hosts.places import settings_of
from slowwave.hosts.protocols import HOSTS, read_event
from slowwave_server.domain.host_configs.jsonc import parse
from slowwave_server.workers.cli.host_entries import EVENTS
from slowwave_server.workers.cli.main import app
from tests.support.capturing import contents
from tests.support.shelling import CliRunner

FILES = {
    "claude-code": (".claude/settings.json", ".claude.json"),
    "codex": (".codex/hooks.json", ".codex/config.toml"),
    "cursor": (".cursor/hooks.json", ".cursor/mcp.json"),
    "opencode": (".config/opencode/plugins/slowwave.js", ".config/opencode/opencode.json"),
}
PROJECT_FILES = {
    "claude-code": (".claude/settings.json", ".mcp.json"),
    "codex": (".codex/hooks.json", ".codex/config.toml"),
    "cursor": (".cursor/hooks.json", ".cursor/mcp.json"),
    "opencode": (".opencode/plugins/slowwave.js", "opencode.json"),
}
MINE = """{
    // mine
    "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]},
    "theme": "dark",
    "big": 12345678901234567890.123456789,
}
"""
TOML = 'model = "gpt-6"   # mine\n\n[mcp_servers.other]\ncommand = "x"\n'


class Person:
    """A person with a home and a project, who calls `slowwave connect`."""

    def __init__(self, home: Path, project: Path) -> None:
        self.home, self.project = home, project
        home.mkdir()
        project.mkdir()

    def connect(self, *words: str, answer: str = "", **variables: str) -> Result:
        env = {"HOME": str(self.home), "XDG_CONFIG_HOME": None, "CLAUDE_CONFIG_DIR": None, "CODEX_HOME": None}
        with chdir(self.project):
            return CliRunner().invoke(app, ["connect", *words], input=answer, env=env | variables)

    def files(self, folder: Path) -> dict[str, str]:
        found = (path for path in folder.rglob("*") if path.is_file())
        return {str(path.relative_to(folder)): path.read_text() for path in found}


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path / "home", tmp_path / "project")


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("project", [False, True])
def test_connect_writes_and_remove_takes_all_away(person: Person, host: str, project: bool) -> None:
    options = ["--project"] if project else ["--agent", "shop"]
    done = person.connect(host, "--yes", *options)
    assert done.exit_code == 0, done.output
    written = person.files(person.project if project else person.home)
    assert set(written) == set((PROJECT_FILES if project else FILES)[host])
    assert person.files(person.home if project else person.project) == {}
    again = person.connect(host, "--yes", *options)
    assert "Nothing to change." in again.output
    assert person.files(person.project if project else person.home) == written
    gone = person.connect(host, "--yes", "--remove", *options)
    assert gone.exit_code == 0, gone.output
    assert person.files(person.home) | person.files(person.project) == {}


@pytest.mark.parametrize("host", HOSTS)
def test_everything_else_in_the_files_stays(person: Person, host: str) -> None:
    for name in FILES[host]:
        file = person.home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if not name.endswith(".js"):
            file.write_text(TOML if name.endswith("toml") else MINE)
            file.chmod(0o640)
    before = person.files(person.home)
    assert person.connect(host, "--yes", "--agent", "shop").exit_code == 0
    between = person.files(person.home)
    for name, text in before.items():
        kept = iter(between[name].splitlines())
        assert all(line in kept for line in text.splitlines() if "hooks" not in line), between[name]
        assert (person.home / name).stat().st_mode & 0o777 == 0o640
    # Another program under another path, or other options: one entry an event, not two.
    assert person.connect(host, "--yes", "--agent", "other").exit_code == 0
    assert '"shop"' not in "".join(person.files(person.home).values())
    assert person.connect(host, "--yes", "--remove").exit_code == 0
    assert {name: text for name, text in person.files(person.home).items() if text != before.get(name)} in (
        {},
        # Cursor needs this number in the file, whoever put it there.
        {".cursor/hooks.json": person.files(person.home).get(".cursor/hooks.json")},
    )


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("text", ["{", "[]", "\ud800", '{"hooks": [], "mcpServers": 1, "mcp": []}', "a = "])
def test_broken_file_is_refused_and_left_alone(person: Person, host: str, text: str) -> None:
    for name in FILES[host]:
        if not name.endswith(".js"):
            (person.home / name).parent.mkdir(parents=True, exist_ok=True)
            (person.home / name).write_bytes(text.encode(errors="surrogatepass"))
    before = {path: path.read_bytes() for path in person.home.rglob("*") if path.is_file()}
    done = person.connect(host, "--yes", "--agent", "shop")
    assert done.exit_code == 2, done.output
    assert "nothing was changed" in done.output
    assert "Traceback" not in done.output
    assert {path: path.read_bytes() for path in person.home.rglob("*") if path.is_file()} == before


def test_difference_is_shown_and_asked_about(person: Person) -> None:
    declined = person.connect("claude-code", answer="n\n")
    assert declined.exit_code == 1
    assert '+            "command": ' in declined.output
    assert "slowwave hook claude-code SessionStart" in declined.output
    assert person.files(person.home) == {}
    assert person.connect("claude-code", "--dry-run").exit_code == 0
    assert person.files(person.home) == {}
    assert person.connect("claude-code", answer="y\n").exit_code == 0
    assert set(person.files(person.home)) == set(FILES["claude-code"])


def test_json_says_which_files_changed(person: Person) -> None:
    assert person.connect("codex", "--json").exit_code == 2
    document = json.loads(person.connect("codex", "--json", "--yes").stdout)
    paths = [str(person.home / name) for name in FILES["codex"]]
    assert document == {
        "host": "codex",
        "changed": [{"path": path, "removed": False} for path in paths],
        "written": True,
    }


def test_settings_are_saved_for_hooks_in_another_environment(person: Person) -> None:
    url = "postgresql://maya:heron@127.0.0.1:1/x"
    done = person.connect("claude-code", "--yes", SLOWWAVE_DATABASE_URL=url, SLOWWAVE_SHARED="/x")
    assert "heron" not in done.output
    saved = person.home / ".config/slowwave/hosts.json"
    assert saved.stat().st_mode & 0o777 == 0o600
    plain = {"HOME": str(person.home)}
    assert settings_of(plain) == {"SLOWWAVE_DATABASE_URL": url}
    assert settings_of(plain | {"SLOWWAVE_TENANT": "t"}) == {"SLOWWAVE_DATABASE_URL": url, "SLOWWAVE_TENANT": "t"}


def test_gateway_and_key_are_saved_instead_of_a_login(person: Person) -> None:
    gateway = {"SLOWWAVE_URL": "https://memory.example", "SLOWWAVE_KEY": "sw_abcdefgh_heron"}
    done = person.connect("codex", "--yes", **gateway)
    assert "heron" not in done.output
    assert "No MCP server: `slowwave mcp` needs a database login" in done.output
    assert settings_of({"HOME": str(person.home)}) == gateway
    assert not (person.home / ".codex/config.toml").exists()


def test_settings_that_are_wrong_are_refused_at_once(person: Person) -> None:
    done = person.connect("claude-code", "--yes", SLOWWAVE_NO_SUCH="1")
    assert done.exit_code == 2
    assert person.files(person.home) == {}


def test_cursor_gets_a_server_only_if_its_agent_is_known(person: Person) -> None:
    done = person.connect("cursor", "--yes")
    assert "No MCP server" in done.output
    assert set(person.files(person.home)) == {".cursor/hooks.json"}


def test_link_stays_a_link(person: Person) -> None:
    real = person.home / "dotfiles.json"
    real.write_text("{}\n")
    (person.home / ".claude").mkdir()
    (person.home / ".claude/settings.json").symlink_to(real)
    assert person.connect("claude-code", "--yes").exit_code == 0
    assert (person.home / ".claude/settings.json").is_symlink()
    assert "SessionStart" in real.read_text()


def test_every_event_that_is_written_is_understood() -> None:
    payload = {"session_id": "s", "prompt": "p", "text": "t", "tool_name": "n", "tool_use_id": "i", "source": "startup"}
    for host, events in EVENTS.items():
        for event in events:
            given = payload | {"transcript_path": "/t"} | ({"error_message": "e"} if "Failure" in event else {})
            assert read_event(host, event, given, agent=None, apart=False, cwd="/") is not None, (host, event)


def _commands(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from ([value["command"]] if isinstance(value.get("command"), str) else [])
        for inner in value.values():
            yield from _commands(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _commands(inner)


@pytest.mark.parametrize("host", EVENTS)
def test_written_commands_run_as_the_host_runs_them(person: Person, host: str) -> None:
    assert person.connect(host, "--yes", SLOWWAVE_DATABASE_URL="postgresql://x@127.0.0.1:1/x").exit_code == 0
    commands = list(_commands(parse((person.home / FILES[host][0]).read_text()).value))
    assert len(commands) == len(EVENTS[host])
    plain = {"HOME": str(person.home), "PATH": "/usr/bin:/bin"}
    for command in commands:
        done = subprocess.run(["sh", "-c", command], input=b"{}", env=plain, capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (0, b""), command


def test_codex_server_is_a_table_of_its_config(person: Person) -> None:
    assert person.connect("codex", "--yes", "--project", "--branches", "apart").exit_code == 0
    table = tomllib.loads((person.project / ".codex/config.toml").read_text())["mcp_servers"]["slowwave"]
    assert table == {"command": "slowwave", "args": ["hook", "codex", "mcp", "--branches", "apart"]}


DRIVER = """
import { Slowwave } from "./plugin.mjs"
const text = (id, text) => ({ id, type: "text", text })
const messages = [
  { info: { id: "msg_1", role: "user", time: { created: 1772703000000 } }, parts: [text("prt_1", process.argv[3])] },
]
const client = { session: { messages: async () => ({ data: messages }) } }
const hooks = await Slowwave({ client, directory: process.argv[2] })
const output = { message: { id: "msg_9" }, parts: [text("prt_9", "What is the staging server called?")] }
await hooks["chat.message"]({ sessionID: process.argv[4] }, output)
await hooks.event({ event: { type: "session.idle", properties: { sessionID: process.argv[4] } } })
await hooks.event({ event: { type: "something.else" } })
console.log(JSON.stringify(output.parts))
"""


@pytest.mark.servers
def test_opencode_plugin_remembers_across_sessions(person: Person, home: Home, database_url: str) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("no Node on this machine (the plugin runs in OpenCode's own runtime)")
    assert person.connect("opencode", "--yes", "--wait", "30", **home.settings).exit_code == 0
    plugin = (person.home / FILES["opencode"][0]).read_text()
    (person.home / "plugin.mjs").write_text(plugin)
    (person.home / "driver.mjs").write_text(DRIVER)

    def session(name: str, said: str) -> list[dict[str, Any]]:
        command = [node, str(person.home / "driver.mjs"), str(home.repository), said, name]
        plain = {key: value for key, value in home.environment.items() if not key.startswith("SLOWWAVE_")}
        plain["XDG_CONFIG_HOME"] = str(person.home / ".config")
        done = subprocess.run(command, env=plain, capture_output=True, check=True, text=True)
        parts: list[dict[str, Any]] = json.loads(done.stdout)
        return parts

    assert [part["id"] for part in session("ses_1", "Our staging server is called heron.")] == ["prt_9"]
    wait_for(lambda: contents(database_url, "ses_1") == ["Our staging server is called heron."], "it is recorded")
    typed, added = session("ses_2", "Thanks.")
    assert typed["id"] == "prt_9"
    assert "heron" in added["text"]
    assert (added["synthetic"], added["messageID"], added["sessionID"]) == (True, "msg_9", "ses_2")
    assert os.access(person.home / ".config/slowwave/hosts.json", os.R_OK)
