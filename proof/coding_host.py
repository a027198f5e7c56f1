"""A coding agent's host in a sandboxed home: it runs hooks as programs, and writes conversation files as real
hosts do.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TIMEOUT_SECONDS = 60.0
SLOWWAVE = (sys.executable, "-c", "from slowwave_server.workers.cli import main; main()")


@dataclass
class Home:
    """A person's home, and the settings for their hosts."""

    folder: Path
    settings: Mapping[str, str]
    repository: Path = field(init=False)

    def __post_init__(self) -> None:
        self.repository = self.folder / "shop"
        git = self.repository / ".git"
        git.mkdir(parents=True)
        (git / "config").write_text('[core]\n[remote "origin"]\n\turl = git@github.com:acme/shop.git\n')
        (git / "HEAD").write_text("ref: refs/heads/main\n")

    @property
    def environment(self) -> dict[str, str]:
        plain = {name: value for name, value in os.environ.items() if not name.startswith(("SLOWWAVE_", "XDG_"))}
        return plain | {"HOME": str(self.folder)} | dict(self.settings)

    def hook(self, host: str, event: str, payload: Any, *options: str) -> subprocess.CompletedProcess[bytes]:
        """Run one hook to its end, as a host does: until its output is closed."""
        data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        command = [*SLOWWAVE, "hook", host, event, *options]
        return subprocess.run(
            command, input=data, capture_output=True, check=False, env=self.environment, cwd=self.repository
        )

    def places(self) -> list[Path]:
        root = self.folder / ".local/state/slowwave/hosts"
        return sorted(root.iterdir()) if root.is_dir() else []

    def inbox(self) -> list[Path]:
        return [file for place in self.places() for file in (place / "inbox").glob("*.json")]

    def helpers(self) -> list[int]:
        """Return the helpers of this home, including one that has just started."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
                if "slowwave.hosts.warm_process" in words and any(word.startswith(f"{self.folder}/") for word in words):
                    found.append(int(process.name))
        return found

    def close(self) -> None:
        for number in self.helpers():
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGTERM)
        wait_for(lambda: not self.helpers(), "the helpers have ended")


def wait_for(condition: Callable[[], Any], what: str) -> None:
    """Wait until the condition holds; fail after a minute with the name of the condition."""
    until = time.monotonic() + TIMEOUT_SECONDS
    while not condition():
        assert time.monotonic() < until, f"waited in vain until {what}"
        time.sleep(0.02)


def context_in(done: "subprocess.CompletedProcess[bytes]") -> str:
    """Return the context that Claude Code and Codex read from a hook's output; "" for no output."""
    assert done.returncode == 0, done.stderr
    if not done.stdout:
        return ""
    answer = json.loads(done.stdout)["hookSpecificOutput"]
    assert answer.keys() == {"hookEventName", "additionalContext"}
    return str(answer["additionalContext"])


@dataclass
class ClaudeCode:
    """One session of Claude Code: its file, and the fields of every hook call."""

    home: Home
    session: str
    number: int = 0

    @property
    def transcript(self) -> Path:
        folder = self.home.folder / ".claude/projects/-shop"
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f"{self.session}.jsonl"

    def payload(self, event: str, **fields: Any) -> dict[str, Any]:
        common = {"session_id": self.session, "transcript_path": str(self.transcript), "hook_event_name": event}
        return common | {"cwd": str(self.home.repository), "permission_mode": "default"} | fields

    def run(self, event: str, *options: str, **fields: Any) -> "subprocess.CompletedProcess[bytes]":
        return self.home.hook("claude-code", event, self.payload(event, **fields), *options)

    def write(self, role: str, content: Any, **fields: Any) -> str:
        """Append a line as Claude Code does. Return its uuid."""
        self.number += 1
        identity = f"00000000-0000-4000-8000-{self.number:012d}-{self.session}"
        line = {
            "parentUuid": None,
            "isSidechain": False,
            "userType": "external",
            "cwd": str(self.home.repository),
            "sessionId": self.session,
            "version": "2.1.240",
            "gitBranch": "main",
            "type": role,
            "message": {"role": role, "content": content},
            "uuid": identity,
            "timestamp": f"2026-03-05T09:30:{self.number % 60:02d}.000Z",
        }
        with self.transcript.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line | fields) + "\n")
        return identity

    def turn(self, asked: str, replied: str) -> None:
        self.write("user", asked)
        self.write("assistant", [{"type": "thinking", "thinking": "hm"}])
        self.write("assistant", [{"type": "text", "text": replied}])
