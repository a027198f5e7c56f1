"""Every command of `slowwave` with anything: a documented exit code, a sentence on stderr, no write where refused."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import Result

from slowwave_server.workers.cli.main import app
from slowwave_server.workers.shared.failures import FOUND, UNAVAILABLE, USAGE
from tests.attacks import strategies as odd
from tests.attacks.fuzzing import Witness, examples, tried
from tests.support.capturing import broken_sessions, rows
from tests.support.shelling import CliRunner

pytestmark = pytest.mark.servers

ROOT = Path(__file__).parents[2]
SERVING = {"up", "worker", "demo", "mcp", "hook", "job daemon", "exporter", "console", "serve"}
"""Commands that stay: what they are given is always wrong at one place, so that they end."""
LATE = {"session flush", "import events"}
"""What has asked for its work when the time is up: exit 3."""
PARTLY = {
    "memory import", "memory export", "import from", "import events", "run undo", "backend sync", "memory forget",
    "session forget", "agent forget", "job tick", "job run", "queue retry", "inbox answer",
}  # fmt: skip
"""What may have done its part when it tells of a problem with another part: exit 1. See docs/operate/README.md."""

words = odd.odd_text.map(lambda text: os.fsdecode(text.replace("\0", "").encode("utf-8", "ignore")[:100_000]))
argument_words = st.one_of(words, words, st.binary(max_size=6).map(lambda raw: os.fsdecode(raw.replace(b"\0", b""))))
"""What the system lets through as an argument of a program: no NUL; bytes that are no UTF-8 come as surrogates."""


def some(*right: str) -> st.SearchStrategy[str]:
    return odd.often(st.sampled_from(right), argument_words)


agents = some("atlas", "maya")
sessions = some("monday", "tuesday")
counts = some("0", "1", "2", "3", "-1", "7", "1.5", "9" * 30, "nan")
moments = some("2026-03-05", "2026-03-05T09:30:00+01:00", "today", "0001-01-01", "9999-12-31T23:59:59-12:00")
memories = some("@memory", "@memory", "01a20040-7339-7fa9-94de-cc33f6035705", "1")
runs = some("1", "1", "2", "0", "9" * 30)
paths = st.sampled_from(["in", "out", "notes.jsonl", "in/MEMORY.md", "missing/x", "-", "", "a\nb"])
scopes = some("room:kitchen", "team:garden", "atlas", "agent:atlas", "room:")
items = some("q1", "c1", "q2", "1", "q", "12", "atlas/monday#1")
hooks = some("01a20040-7339-7fa9-94de-cc33f6035705", "1")
clocks = some("02:00", "23:59", "25:00", "02:00:00")
VALUES: Mapping[str, st.SearchStrategy[str]] = {
    "agent": agents, "session": sessions, "sessions": sessions, "scope": scopes, "scopes": scopes, "entity": agents,
    "text": argument_words, "query": argument_words, "key": argument_words, "by": argument_words, "name": agents,
    "day": moments, "since": moments, "as_of": moments, "known_at": moments,
    "version": counts, "limit": counts, "depth": counts,
    "days": counts, "max_tokens": counts, "cutoff_hour": counts, "importance": some("0.5", "1", "nan", "-1", "1e999"),
    "timeout": st.just("0"), "older_than": some("1", "7d", "-1", "1e999", "9" * 30), "into": counts,
    "interval_minutes": counts, "interval_seconds": counts, "concurrency": counts, "connections": counts,
    "postgres_port": counts, "valkey_port": counts, "flower_port": counts, "gateway_port": counts,
    "workers": counts, "flower_auth": argument_words,
    "memory": memories, "run": runs, "a": some("1", "rules", "atlas", "1"), "b": some("1", "model", "maya", "2"),
    "before": counts, "after": counts, "revision": counts, "sees": agents, "tenants": agents,
    "listen": argument_words, "behind_proxy": argument_words, "tls_cert": paths, "tls_key": paths,
    "file": paths, "folder": paths, "output": paths, "data": paths, "names": st.one_of(agents, paths),
    "form": some("json", "text", "markdown", "prompt", "mermaid", "dot"), "kind": some("fact", "event", "flush"),
    "status": some("active", "inbox", "open", "archived"), "state": some("open", "accepted", "pending"),
    "tier": some("1", "high", "low", "noteworthy"), "answer": some("keep", "both", "earlier", "no"),
    "ids": items, "item": items, "entry": some("1", "atlas/monday#1", "#", "/#1"),
    "backend": some("files", "vectors", "s3"),
    "url": some("https://example.com/x", "http://127.0.0.1/x", "ftp://x"), "types": some("archived", "gone"),
    "webhook": hooks, "delivery": hooks, "description": argument_words, "agents": agents,
    "setting": some("memory.backend", "tenant", "no.such"),
    "mode": some("light", "deep", "working"), "extractor": some("rules", "model"),
    "queues": some("flush", "flush.high,flush", "everything", ","), "pool": some("threads", "prefork", "solo"),
    "log_level": some("info", "debug", "loud"),
    "job": some("memory_tidy", "retention", "no such job"), "cadence": some("daily", "weekly", "off", "interval"),
    "weekday": some("0", "6", "7", "monday"), "window_start": clocks, "window_end": clocks,
    "time_zone": some("Europe/Berlin", "UTC", "Mars/Base"), "timezone": some("Europe/Berlin", "UTC", "Mars/Base"),
    "llm_command": argument_words, "role": some("worker", "producer", "console", "gateway"),
    "login": some("fuzz_maya", "fuzz_jonas", "pg_x"), "part": some("worker", "producer", "gateway", "sender", "flower"),
    "action": some("login", "role", "reveal", "nothing"),
    "host": some("claude-code", "codex", "opencode", "cursor"), "branches": some("shared", "apart"), "wait": counts,
    "words": argument_words, "right": some("record", "read", "decide", "forget", "administer"),
    "expires": some("90d", "0d", "2027-03-05", "9999-12-31T23:59-14:00", "tomorrow"),
    "system": some("mem0", "letta", "zep", "langgraph", "chatgpt", "claude", "claude-code", "codex"),
    "source": paths, "owner": agents, "table": agents,
    "alias": argument_words, "around": counts, "min_relevance": some("0", "0.5", "1", "nan", "-1"),
    "min_share": some("0", "0.5", "1", "nan", "-1"),
}  # fmt: skip
"""What a parameter of that name takes, wrong one time in twelve."""


def commands(group: Any, *path: str) -> Iterator[tuple[str, Any]]:
    """All commands by their words."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, *path, name)
        else:
            yield " ".join((*path, name)), command


COMMANDS = dict(commands(typer.main.get_command(app)))


def test_every_parameter_of_every_command_is_fuzzed() -> None:
    named = {parameter.name for command in COMMANDS.values() for parameter in command.params if not _is_flag(parameter)}
    assert named - {"help"} == VALUES.keys()
    assert COMMANDS.keys() >= SERVING


def _is_flag(parameter: Any) -> bool:
    return bool(getattr(parameter, "is_flag", False))


@st.composite
def invocations(draw: st.DrawFn, name: str) -> list[str]:
    """What stands behind the name of a command: mostly all that is needed, in the form that is needed."""
    drawn: list[str] = []
    for parameter in COMMANDS[name].params:
        if not parameter.required and parameter.name not in {"timeout", "data"} and draw(st.integers(0, 2)):
            continue
        if _is_flag(parameter):
            drawn.append(draw(st.sampled_from([*parameter.opts, *parameter.secondary_opts])))
            continue
        several = parameter.multiple or parameter.nargs == -1
        for value in draw(st.lists(VALUES[parameter.name], min_size=1, max_size=3 if several else 1)):
            drawn += [value] if parameter.param_type_name == "argument" else [f"{parameter.opts[0]}={value}"]
    if draw(st.integers(1, 8)) == 7:
        drawn.insert(draw(st.integers(0, len(drawn))), draw(argument_words))
    return drawn + (["--no-such-option"] if name in SERVING else [])


@dataclass
class Place:
    """A shell in a folder with something to read, and what stands in the database."""

    variables: dict[str, str]
    memory: str = ""

    def __call__(self, *arguments: str) -> Result:
        return CliRunner().invoke(app, list(arguments), env=self.variables, input="y\n")


@pytest.fixture(scope="module")
def place(module_database: str, valkey_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("shell")
    (folder / "in").mkdir()
    (folder / "in" / "MEMORY.md").write_text("# Maya\n\n- Maya lives in Turin\n- Jonas rows\n")
    said = {"agent": "atlas", "session": "monday", "role": "user", "content": "I moved to Turin in March."}
    (folder / "notes.jsonl").write_text(f"{json.dumps(said)}\nno event\n")
    variables = {"DATABASE_URL": module_database, "BROKER_URL": valkey_url, "SPOOL": str(folder / "spool")}
    variables["MEMORY__FILES__ROOT"] = str(folder / "files")
    with chdir(folder):
        plain = {"NO_COLOR": "1", "HOME": str(folder / "home")}
        place = Place({f"SLOWWAVE_{name}": value for name, value in variables.items()} | plain)
        assert place("memory", "import", "atlas", "in").exit_code == 0
        assert place("import", "events", "notes.jsonl").exit_code == FOUND
        place.memory = rows(module_database, "SELECT id::text FROM slowwave.memories ORDER BY id")[0][0]
        yield place


def refuse_constant(name: str) -> Any:
    raise AssertionError(f"{name} is no JSON")


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_a_command_with_anything_ends_in_a_documented_way(
    name: str, place: Place, witness: Witness, module_database: str
) -> None:
    @examples(2)
    @given(invocations(name))
    def holds(arguments: list[str]) -> None:
        before = witness.look()
        ended = place(*name.split(), *(argument.replace("@memory", place.memory) for argument in arguments))
        tried(f"slowwave {name}", taken=ended.exit_code in (0, FOUND))
        assert isinstance(ended.exception, SystemExit | None), f"{ended.exception!r}"
        assert ended.exit_code in (0, FOUND, USAGE, UNAVAILABLE)
        if ended.exit_code and name not in {FOUND: PARTLY, UNAVAILABLE: LATE}.get(ended.exit_code, ()):
            assert witness.look() == before, "what was refused wrote"
        _told(ended, arguments)

    holds()
    assert broken_sessions(module_database) == []


def _told(ended: Result, arguments: list[str]) -> None:
    """Whether what it says can be read: a reason where it refused, JSON where it was asked for."""
    assert "Traceback" not in ended.stderr
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", ended.stderr), "a terminal would obey it"
    if ended.exit_code in (USAGE, UNAVAILABLE):
        assert ended.stderr.startswith(("slowwave: ", "Usage: "))
    elif ended.exit_code:
        assert ended.stderr or ended.stdout
    elif "--json" in arguments and not {"-h", "--help"} & set(arguments) and not _into_a_file(arguments):
        json.loads(ended.stdout, parse_constant=refuse_constant)


def _into_a_file(arguments: list[str]) -> bool:
    """Whether the JSON goes to a file, so that the output is empty."""
    return any(argument.partition("=")[0] == "--output" for argument in arguments)


HUGE = "9" * 30
FAILED_ONCE = (
    ("inbox", "show", f"q{HUGE}"), ("inbox", "answer", "same", f"q{HUGE}"), ("queue", "show", HUGE),
    ("queue", "retry", HUGE), ("queue", "show", f"atlas/monday#{HUGE}"), ("run", "show", HUGE), ("run", "undo", HUGE),
    ("admin", "roles", "remove", os.fsdecode(b"\xe4")),
    ("admin", "roles", "add", os.fsdecode(b"\xd7\xfb"), "--role=worker"),
)  # fmt: skip


def test_what_once_ended_in_a_traceback_is_refused_in_a_sentence(place: Place) -> None:
    for arguments in FAILED_ONCE:
        ended = place(*arguments)
        assert isinstance(ended.exception, SystemExit), arguments
        assert ended.exit_code in (FOUND, USAGE)
        assert ended.stderr.startswith(("slowwave: ", "Usage: ")) or (ended.exit_code == FOUND and ended.stdout)


def test_a_refusal_shows_what_would_reorder_a_line_and_does_not_obey_it(place: Place) -> None:
    for arguments in (("queue", "list", "\u202ereversed"), ("\u202ereversed",), ("--\u202ereversed",)):
        ended = place(*arguments)
        _told(ended, list(arguments))
        assert ended.exit_code == USAGE
        assert "\\u202ereversed" in ended.stderr


def test_bytes_that_are_no_text_end_in_a_documented_way_in_a_program_of_its_own(place: Place) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", "from slowwave_server.workers.cli import main; main()",
         "session", "why", "atlas", b"caf\xe9"],
        env=os.environ | place.variables | {"PYTHONPATH": f"{ROOT}:{ROOT / 'client' / 'src'}", "PYTHONUTF8": "1"},
        capture_output=True, text=True, errors="replace", check=False, timeout=60,
    )  # fmt: skip
    assert ended.returncode in (FOUND, USAGE), ended.stderr
    assert ended.stderr.startswith("slowwave: ")
    assert "Traceback" not in ended.stderr
