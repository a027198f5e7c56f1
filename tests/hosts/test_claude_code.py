"""Claude Code's hooks, start to finish: what one session says is in the next one's context."""

import json
import subprocess
from pathlib import Path

import psycopg
import pytest

from proof.coding_host import SLOWWAVE, ClaudeCode, Home, context_in, wait_for
from tests.support.capturing import contents, rows
from tests.support.recalling import Shelf

pytestmark = pytest.mark.servers

PATIENT = ("--wait", "30")


def recorded(home: Home, database_url: str, session: str, number: int) -> list[str]:
    wait_for(lambda: len(contents(database_url, session)) >= number, f"{number} events of {session} are recorded")
    wait_for(lambda: not home.inbox(), "the inbox is empty")
    return contents(database_url, session)


def test_next_session_knows_what_the_last_one_said(home: Home, database_url: str) -> None:
    first = ClaudeCode(home, "monday")
    assert context_in(first.run("SessionStart", *PATIENT, source="startup")) == ""
    first.run("UserPromptSubmit", prompt="Our staging server is called heron.")
    first.turn("Our staging server is called heron.", "Noted: heron is staging.")
    done = first.run("Stop", stop_hook_active=False)
    assert (done.returncode, done.stdout) == (0, b"")
    assert recorded(home, database_url, "monday", 2) == [
        "Our staging server is called heron.",
        "Noted: heron is staging.",
    ]
    second = ClaudeCode(home, "tuesday")
    assert "heron" in context_in(second.run("SessionStart", *PATIENT, source="startup"))
    assert rows(database_url, "SELECT name FROM slowwave.agents") == [("github.com/acme/shop",)]


def test_hooks_that_run_twice_record_once(home: Home, database_url: str) -> None:
    session = ClaudeCode(home, "monday")
    session.turn("I moved to Turin.", "Good to know.")
    session.run("Stop")
    session.run("Stop")
    session.run("PreCompact", trigger="auto")
    for place in home.places():
        wait_for(lambda: not home.inbox(), "the inbox is empty")
        for mark in (place / "sessions").glob("*.json"):
            mark.unlink()  # as if another machine, or a lost folder, read the file again
    session.run("SessionEnd", reason="exit")
    wait_for(lambda: not home.inbox(), "the inbox is empty")
    assert recorded(home, database_url, "monday", 2) == ["I moved to Turin.", "Good to know."]


def test_tool_outcomes_are_recorded_as_tool_events(home: Home, database_url: str) -> None:
    session = ClaudeCode(home, "monday")
    session.write("user", "Run the tests.")
    call = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "make test"}}
    session.write("assistant", [call])
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "2 failed", "is_error": True}
    session.write("user", [result], toolUseResult={"stdout": "2 failed"})
    session.run("PostToolUse", tool_name="Bash", tool_input=call["input"], tool_response={}, tool_use_id="toolu_1")
    recorded(home, database_url, "monday", 3)
    found = rows(database_url, "SELECT kind, role, content, metadata FROM slowwave.events ORDER BY seq")
    assert [row[:2] for row in found] == [("user", "user"), ("tool", "tool_call"), ("tool", "tool")]
    assert found[2][2:] == (
        "2 failed",
        {"tool": "Bash", "tool_call_id": "toolu_1", "error": True, "host": "claude-code", "branch": "main"},
    )


def test_what_nobody_said_is_left_out(home: Home, database_url: str) -> None:
    session = ClaudeCode(home, "monday")
    session.write("user", "Caveat: a note of the host", isMeta=True)
    session.write("user", "<command-name>/clear</command-name>")
    session.write("user", "This conversation goes on from an earlier one.", isCompactSummary=True)
    session.write("assistant", [{"type": "text", "text": "A subagent speaks."}], isSidechain=True)
    session.write("assistant", [{"type": "text", "text": "API Error: 529"}], isApiErrorMessage=True)
    session.write("user", "I like tea.")
    session.run("Stop")
    assert recorded(home, database_url, "monday", 1) == ["I like tea."]


def test_recalled_context_is_not_recorded_again(home: Home, database_url: str) -> None:
    first = ClaudeCode(home, "monday")
    first.turn("Our staging server is called heron.", "Noted.")
    first.run("Stop")
    recorded(home, database_url, "monday", 2)
    second = ClaudeCode(home, "tuesday")
    context = context_in(second.run("SessionStart", *PATIENT, source="startup"))
    second.write("user", [{"type": "text", "text": context}, {"type": "text", "text": "Hello."}])
    second.run("Stop")
    assert recorded(home, database_url, "tuesday", 1) == ["Hello."]


def test_prompt_gets_what_answers_it_once(home: Home, database_url: str) -> None:
    first = ClaudeCode(home, "monday")
    first.turn("Our staging server is called heron.", "Noted.")
    first.run("Stop")
    recorded(home, database_url, "monday", 2)
    second = ClaudeCode(home, "tuesday")
    assert "heron" in context_in(second.run("UserPromptSubmit", *PATIENT, prompt="What is the staging server called?"))
    again = context_in(second.run("UserPromptSubmit", *PATIENT, prompt="What is the staging server called?"))
    assert "heron" not in again


def test_settings_of_a_foreign_repository_are_not_read(home: Home, database_url: str) -> None:
    (home.repository / "slowwave.yaml").write_text("database_url: postgresql://thief@127.0.0.1:1/x\ntenant: thief\n")
    session = ClaudeCode(home, "monday")
    session.turn("I like tea.", "Noted.")
    session.run("Stop")
    assert recorded(home, database_url, "monday", 2)
    assert rows(database_url, "SELECT tenant FROM slowwave.agents") == [("default",)]


def test_branches_apart_have_agents_of_their_own(home: Home, database_url: str) -> None:
    session = ClaudeCode(home, "monday")
    session.turn("I like tea.", "Noted.")
    session.run("Stop", "--branches", "apart")
    recorded(home, database_url, "monday", 2)
    assert rows(database_url, "SELECT name FROM slowwave.agents") == [("github.com/acme/shop@main",)]


def test_huge_line_costs_its_line_and_no_memory(home: Home, database_url: str, tmp_path: Path) -> None:
    session = ClaudeCode(home, "monday")
    session.write("user", "Before the huge line.")
    with session.transcript.open("ab") as file:
        file.write(b'{"type": "user", "uuid": "x", "message": {"content": "')
        for _ in range(100):
            file.write(b"x" * 1_000_000)
        file.write(b'"}}\n')
    session.write("user", "Behind the huge line.")
    session.run("Stop")
    assert recorded(home, database_url, "monday", 2) == ["Before the huge line.", "Behind the huge line."]
    (helper,) = home.helpers()
    status = dict(line.split(":", 1) for line in Path(f"/proc/{helper}/status").read_text().splitlines())
    assert int(status["VmHWM"].split()[0]) < 200_000  # kB


def test_unfinished_line_is_read_once_it_is_whole(home: Home, database_url: str) -> None:
    session = ClaudeCode(home, "monday")
    session.write("user", "First.")
    whole = session.transcript.read_bytes()
    session.write("user", "Second.")
    both = session.transcript.read_bytes()
    session.transcript.write_bytes(both[: len(whole) + 40])
    session.run("Stop")
    assert recorded(home, database_url, "monday", 1) == ["First."]
    with session.transcript.open("ab") as file:
        file.write(both[len(whole) + 40 :])
    session.run("Stop")
    assert recorded(home, database_url, "monday", 2) == ["First.", "Second."]


def test_forgotten_conversation_stays_forgotten(home: Home, database_url: str) -> None:
    session = ClaudeCode(home, "monday")
    session.turn("My code word is heron.", "Noted.")
    session.run("Stop")
    recorded(home, database_url, "monday", 2)
    forget = [*SLOWWAVE, "agent", "forget", "github.com/acme/shop", "--yes"]
    subprocess.run(forget, env=home.environment, check=True, capture_output=True)
    for place in home.places():
        for mark in (place / "sessions").glob("*.json"):
            mark.unlink()
    session.run("Stop")
    wait_for(lambda: not home.inbox(), "the inbox is empty")
    assert contents(database_url, "monday") == []


def test_answers_keep_to_the_size_that_hosts_show(home: Home, database_url: str) -> None:
    first = ClaudeCode(home, "monday")
    for number in range(60):
        first.turn(f"Fact {number}: " + "längliche Wörter über Köln 東京 " * 20, "Noted.")
    first.run("Stop")
    recorded(home, database_url, "monday", 120)
    done = ClaudeCode(home, "tuesday").run("SessionStart", *PATIENT, source="startup")
    context = context_in(done)
    assert 0 < len(context.encode()) <= 9000
    assert json.loads(done.stdout)
    assert done.stdout.isascii()


def test_delivered_memories_are_noted_with_the_next_turn(home: Home, database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        Shelf(connection).keep("Staging is called heron.", agent="github.com/acme/shop")
    session = ClaudeCode(home, "monday")
    assert "heron" in context_in(session.run("SessionStart", *PATIENT, source="startup"))
    session.turn("Where do I deploy?", "To heron.")
    session.run("Stop")
    noted = "SELECT count(*) FROM slowwave.memory_uses WHERE shown_at IS NOT NULL AND last_used_at IS NULL"
    wait_for(lambda: rows(database_url, noted) == [(1,)], "the shown memory is noted")
