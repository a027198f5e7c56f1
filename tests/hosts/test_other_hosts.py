"""Codex, Cursor and OpenCode, by the protocols that they document."""

import json
from pathlib import Path
from typing import Any

import pytest

from proof.coding_host import Home, context_in, wait_for
from slowwave.hosts.repository import name_of_url, repository_of
from tests.support.capturing import contents, rows

pytestmark = pytest.mark.servers

PATIENT = ("--wait", "30")
SAID = "Our staging server is called heron."


def test_codex_session_is_in_the_next_ones_context(home: Home, database_url: str) -> None:
    rollout = home.folder / ".codex/sessions/2026/03/05/rollout-2026-03-05T09-30-00-one.jsonl"
    rollout.parent.mkdir(parents=True)
    items: list[dict[str, Any]] = [
        {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Rules."}]},
        {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "<environment_context>\n<cwd>/x</cwd></environment_context>"}],
        },
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": SAID}]},
        {"type": "reasoning", "summary": [], "content": None},
        {"type": "function_call", "name": "shell", "arguments": '{"command":["ls"]}', "call_id": "call_1"},
        {
            "type": "function_call_output",
            "call_id": "call_1",
            "output": '{"output":"no such file","metadata":{"exit_code":2}}',
        },
        {"type": "function_call", "name": "exec_command", "arguments": '{"cmd":"make"}', "call_id": "call_2"},
        {
            "type": "function_call_output",
            "call_id": "call_2",
            "output": "Chunk ID: bf\nWall time: 0.0 seconds\nProcess exited with code 2\nOutput:\nfailed\n",
        },
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Noted."}]},
    ]
    lines = [{"type": "session_meta", "payload": {"id": "one"}}]
    lines += [{"type": "response_item", "payload": item} for item in items]
    lines.append({"type": "event_msg", "payload": {"type": "user_message", "message": SAID}})
    rollout.write_text("".join(json.dumps({"timestamp": "2026-03-05T09:30:00Z"} | line) + "\n" for line in lines))
    common = {"cwd": str(home.repository), "model": "gpt-6-codex", "permission_mode": "default", "turn_id": "turn_1"}
    first = common | {"session_id": "one", "transcript_path": str(rollout)}
    for _ in range(2):
        done = home.hook("codex", "Stop", first | {"hook_event_name": "Stop", "stop_hook_active": False})
        assert (done.returncode, done.stdout) == (0, b"")
    wait_for(lambda: len(contents(database_url, "one")) >= 6 and not home.inbox(), "the turn is recorded")
    assert contents(database_url, "one") == [
        SAID,
        'shell(command=["ls"])',
        "no such file",
        'exec_command(cmd="make")',
        "Process exited with code 2\nfailed\n",
        "Noted.",
    ]
    errors = rows(database_url, "SELECT metadata ->> 'error' FROM slowwave.events WHERE role = 'tool'")
    assert errors == [("true",), ("true",)]
    second = common | {"session_id": "two", "transcript_path": None, "source": "startup"}
    assert "heron" in context_in(home.hook("codex", "SessionStart", second, *PATIENT))


def test_cursor_session_is_in_the_next_ones_context(home: Home, database_url: str) -> None:
    common = {
        "conversation_id": "one",
        "generation_id": "generation-1",
        "model": "auto",
        "cursor_version": "3.7.21",
        "workspace_roots": [str(home.repository)],
        "user_email": None,
        "transcript_path": None,
    }
    events: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
        ("beforeSubmitPrompt", {"prompt": SAID, "attachments": []}, {"continue": True}),
        (
            "postToolUse",
            {
                "tool_name": "Shell",
                "tool_input": {"command": "make"},
                "tool_output": '{"exitCode":0}',
                "tool_use_id": "tool-1",
            },
            {},
        ),
        (
            "postToolUseFailure",
            {
                "tool_name": "Shell",
                "tool_input": {"command": "rm x"},
                "error_message": "denied",
                "tool_use_id": "tool-2",
            },
            {},
        ),
        ("afterAgentResponse", {"text": "Noted."}, {}),
        ("stop", {"status": "completed", "loop_count": 0}, {}),
        ("sessionEnd", {"session_id": "one", "reason": "completed"}, {}),
    ]
    for _ in range(2):
        for event, fields, answer in events:
            done = home.hook("cursor", event, common | {"hook_event_name": event} | fields)
            assert (done.returncode, json.loads(done.stdout)) == (0, answer), event
    wait_for(lambda: not home.inbox(), "the inbox is empty")
    assert contents(database_url, "one") == [
        SAID,
        'Shell(command="make")',
        "exitCode: 0",
        'Shell(command="rm x")',
        "denied",
        "Noted.",
    ]
    begin = common | {"conversation_id": "two", "session_id": "two", "composer_mode": "agent"}
    done = home.hook("cursor", "sessionStart", begin, *PATIENT)
    assert "heron" in json.loads(done.stdout)["additional_context"]


def test_cursor_that_runs_claude_codes_hooks_records_nothing_twice(home: Home) -> None:
    payload = {"session_id": "one", "cursor_version": "3.7.21", "transcript_path": "/x.jsonl"}
    assert home.hook("claude-code", "Stop", payload).returncode == 0
    assert home.inbox() == []
    assert home.helpers() == []


def test_opencode_session_is_in_the_next_ones_context(home: Home, database_url: str) -> None:
    synthetic = {"id": "prt_0", "type": "text", "text": "added by a plugin", "synthetic": True}
    tool = {
        "id": "prt_2",
        "type": "tool",
        "callID": "call_1",
        "tool": "bash",
        "state": {"status": "error", "input": {"command": "ls"}, "error": "no such file"},
    }
    messages = [
        {
            "info": {"id": "msg_1", "role": "user", "time": {"created": 1772703000000}},
            "parts": [synthetic, {"id": "prt_1", "type": "text", "text": SAID}],
        },
        {
            "info": {"id": "msg_2", "role": "assistant", "time": {"created": 1772703001000}},
            "parts": [tool, {"id": "prt_3", "type": "text", "text": "Noted."}],
        },
    ]
    given = {"sessionID": "ses_1", "directory": str(home.repository), "messages": messages}
    for _ in range(2):
        done = home.hook("opencode", "messages", given | {"trigger": "compaction"})
        assert json.loads(done.stdout) == {"context": ""}
    wait_for(lambda: len(contents(database_url, "ses_1")) >= 4 and not home.inbox(), "the turn is recorded")
    assert sorted(contents(database_url, "ses_1")) == sorted([SAID, 'bash(command="ls")', "no such file", "Noted."])
    ask = {"sessionID": "ses_2", "directory": str(home.repository), "prompt": "What is staging called?"}
    done = home.hook("opencode", "prompt", ask, *PATIENT)
    assert "heron" in json.loads(done.stdout)["context"]


def test_agent_of_a_folder_is_its_repository(tmp_path: Path) -> None:
    for url, name in {
        "git@github.com:acme/shop.git": "github.com/acme/shop",
        "https://user:secret@GitHub.com:443/acme/shop.git": "github.com/acme/shop",
        "ssh://git@gitlab.example:2222/group/sub/shop/": "gitlab.example/group/sub/shop",
        "file:///srv/git/shop.git": "shop",
        "../shop.git": "shop",
    }.items():
        assert name_of_url(url) == name
    main = tmp_path / "main"
    (main / ".git/worktrees/side").mkdir(parents=True)
    (main / ".git/HEAD").write_text("ref: refs/heads/main\n")
    (main / ".git/worktrees/side/HEAD").write_text("ref: refs/heads/feature/x\n")
    (main / ".git/worktrees/side/commondir").write_text("../..\n")
    side = tmp_path / "side" / "deep"
    side.mkdir(parents=True)
    (side.parent / ".git").write_text(f"gitdir: {main}/.git/worktrees/side\n")
    assert repository_of(str(side)) == ("main", "feature/x")
    assert repository_of(str(side)).agent(apart=True) == "main@feature/x"
    plain = tmp_path / "notes"
    plain.mkdir()
    assert repository_of(str(plain)) == ("notes", None)
    assert len(repository_of("/x" + "y" * 5000).agent(apart=False)) == 200
