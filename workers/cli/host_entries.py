"""The entries for each coding agent's host, and the files they go into.

host          hooks                               MCP server
claude-code   settings.json                       .claude.json of the home, .mcp.json of a project
codex         hooks.json                          config.toml
cursor        hooks.json                          mcp.json
opencode      plugins/slowwave.js                 opencode.json
"""

import json
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from slowwave_server.domain.host_configs import json_edits, toml_edits

HOOK_SECONDS = 10
"""The timeout of a hook in the host. Hooks end by themselves long before."""

LAST_SECONDS = 3
"""The timeout at the end of a session; Codex allows at most this."""

EVENTS: Mapping[str, tuple[str, ...]] = {
    "claude-code": ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"),
    "codex": ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"),
    "cursor": (
        "sessionStart",
        "beforeSubmitPrompt",
        "postToolUse",
        "postToolUseFailure",
        "afterAgentResponse",
        "preCompact",
        "sessionEnd",
    ),
}
NAME = "slowwave"

Edit = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Change:
    """A change of one file. empty: True if the content has no entries left; such a file is removed."""

    path: Path
    edit: Edit
    empty: Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Wanted:
    """How hosts call the hook. program: the words before `hook`; options: the words after the event."""

    program: Sequence[str]
    options: Sequence[str] = ()
    with_mcp: bool = True
    remove: bool = False

    def words(self, host: str, event: str) -> list[str]:
        return [*self.program, "hook", host, event, *self.options]


@dataclass(frozen=True, slots=True)
class Where:
    """The folders of a person, or of a project; for a project, environment variables have no effect."""

    home: Path
    environment: Mapping[str, str]
    project: Path | None = None

    def folder(self, host: str) -> Path:
        """The folder of the host's files."""
        hidden = {"claude-code": ".claude", "codex": ".codex", "cursor": ".cursor", "opencode": ".opencode"}[host]
        if self.project is not None:
            return self.project / hidden
        variable = {"claude-code": "CLAUDE_CONFIG_DIR", "codex": "CODEX_HOME", "opencode": "OPENCODE_CONFIG_DIR"}
        if chosen := self.environment.get(variable.get(host, "")):
            return Path(chosen)
        if host == "opencode":
            return Path(self.environment.get("XDG_CONFIG_HOME") or self.home / ".config") / "opencode"
        return self.home / hidden


def changes(host: str, where: Where, wanted: Wanted) -> list[Change]:
    """The files to change, with their changes."""
    if host == "opencode":
        return [_plugin(where, wanted), _opencode_mcp(where, wanted)]
    name = "settings.json" if host == "claude-code" else "hooks.json"
    hooks = Change(where.folder(host) / name, lambda text: _hooks(text, host, wanted), _nothing_but_version)
    return [hooks, _mcp(host, where, wanted)]


def _hooks(text: str, host: str, wanted: Wanted) -> str:
    """Give every event exactly one entry of Slowwave, or remove it."""
    if host == "cursor" and not wanted.remove and "version" not in json_edits.read(text):
        text = json_edits.put(text, ("version",), 1)
    for event in EVENTS[host]:
        seconds = LAST_SECONDS if event == "SessionEnd" else HOOK_SECONDS
        command: dict[str, Any] = {"command": shlex.join(wanted.words(host, event)), "timeout": seconds}
        entry = command if host == "cursor" else {"hooks": [{"type": "command"} | command]}
        text = _one(text, ("hooks", event), entry, host, remove=wanted.remove)
    return text


def _one(text: str, path: Sequence[str], entry: dict[str, Any], host: str, *, remove: bool) -> str:
    ours = [item for item in _list(json_edits.read(text), path) if _is_ours(item, host)]
    if ours == [entry] and not remove:
        return text
    text = json_edits.drop_items(text, path, lambda item: _is_ours(item, host))
    return text if remove else json_edits.append(text, path, entry)


def _list(value: Any, path: Sequence[str]) -> list[Any]:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, list) else []


def _is_ours(item: Any, host: str) -> bool:
    """Return True if an entry calls the hook of Slowwave and no other command."""
    if not isinstance(item, dict):
        return False
    inner = item["hooks"] if isinstance(item.get("hooks"), list) else [item]
    commands = [one.get("command") if isinstance(one, dict) else None for one in inner]
    ours = re.compile(rf"slowwave['\"]?\s+hook\s+{re.escape(host)}\s")
    return bool(commands) and all(isinstance(command, str) and ours.search(command) for command in commands)


def _mcp(host: str, where: Where, wanted: Wanted) -> Change:
    words = wanted.words(host, "mcp")
    entry: dict[str, Any] = {"command": words[0], "args": words[1:]}
    if host == "codex":
        path = ("mcp_servers", NAME)
        keep = wanted.with_mcp and not wanted.remove
        return Change(
            where.folder(host) / "config.toml",
            lambda text: toml_edits.put(text, path, entry) if keep else toml_edits.drop(text, path),
            lambda text: not text.strip(),
        )
    if host == "claude-code":
        home = where.environment.get("CLAUDE_CONFIG_DIR")
        file = where.project / ".mcp.json" if where.project else Path(home or where.home) / ".claude.json"
        return _json_mcp(file, {"type": "stdio"} | entry, wanted)
    if where.project is not None:
        # Cursor starts servers in any folder, and fills in this name itself.
        entry["env"] = {"CURSOR_PROJECT_DIR": "${workspaceFolder}"}
    return _json_mcp(where.folder(host) / "mcp.json", entry, wanted)


def _json_mcp(file: Path, entry: dict[str, Any], wanted: Wanted, parent: str = "mcpServers") -> Change:
    keep = wanted.with_mcp and not wanted.remove
    path = (parent, NAME)
    return Change(
        file, lambda text: json_edits.put(text, path, entry) if keep else json_edits.drop(text, path), _nothing
    )


def _opencode_mcp(where: Where, wanted: Wanted) -> Change:
    folder = where.project or where.folder("opencode")
    file = next((folder / name for name in ("opencode.jsonc", "opencode.json") if (folder / name).exists()), None)
    entry = {"type": "local", "command": wanted.words("opencode", "mcp"), "enabled": True}
    return _json_mcp(file or folder / "opencode.json", entry, wanted, "mcp")


def _plugin(where: Where, wanted: Wanted) -> Change:
    source = files("slowwave_server.workers.cli").joinpath("opencode_plugin.js").read_text(encoding="utf-8")
    filled = source.replace(
        "const COMMAND = [] // filled in by `slowwave connect`",
        f"const COMMAND = {json.dumps(list(wanted.program))}\nconst OPTIONS = {json.dumps(list(wanted.options))}",
    )
    file = where.folder("opencode") / "plugins" / "slowwave.js"
    return Change(file, lambda _text: "" if wanted.remove else filled, lambda text: not text)


def _nothing(text: str) -> bool:
    return not json_edits.read(text)


def _nothing_but_version(text: str) -> bool:
    value = json_edits.read(text)
    return isinstance(value, dict) and value.keys() <= {"version"}
