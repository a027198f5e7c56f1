"""Whatever is away, broken or hostile: the host gets exit code 0 and output that it can parse, and no turn is lost."""

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from proof.coding_host import ClaudeCode, Home, context_in, wait_for
from slowwave.spool import spooled
from tests.support.capturing import contents, rows

pytestmark = pytest.mark.servers

EVENTS = {
    "claude-code": ("SessionStart", "UserPromptSubmit", "Stop", "PostToolUse", "PreCompact", "SessionEnd", "Unheard"),
    "codex": ("SessionStart", "UserPromptSubmit", "Stop", "PostToolUse", "PreCompact", "SessionEnd", "notify"),
    "cursor": ("sessionStart", "beforeSubmitPrompt", "afterAgentResponse", "postToolUse", "stop", "sessionEnd"),
    "opencode": ("prompt", "messages"),
}
ODD = [
    b"",
    b"null",
    b"[1]",
    b"{",
    b"\xff\xfe",
    b'{"session_id": 7, "prompt": {"a": []}}',
    b'{"session_id": "a\\u0000b", "transcript_path": "/dev/zero"}',
    b'{"session_id": "s", "transcript_path": "/nowhere/\\ud800", "cwd": "/x\\u0000"}',
    b'{"conversation_id": "s", "workspace_roots": ["\\ud800"], "text": "\\ud800", "prompt": "\\ud800"}',
    b'{"sessionID": "s", "directory": "", "messages": [{"info": {"id": "\\ud800", "role": "user"}, "parts": [1, {}]}]}',
    b"[" * 100_000,
    b'{"session_id": "s", "prompt": "' + b"x" * 20_000_000 + b'"}',
]


# A process for each call, as a host starts it, but Python itself starts once.
CALLS = """
import os, sys
from pathlib import Path
from slowwave.hosts.hook import main
for call in sorted(Path(sys.argv[1]).iterdir()):
    child = os.fork()
    if not child:
        for descriptor, name in enumerate(("in", "out", "err")):
            os.dup2(os.open(call / name, os.O_RDWR | os.O_CREAT), descriptor)
        main((call / "words").read_text().split())
    (call / "code").write_text(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])))
"""


@pytest.mark.parametrize("host", EVENTS)
def test_odd_input_never_breaks_a_host(lonely_home: Home, tmp_path: Path, host: str) -> None:
    calls = [(event, odd) for place, event in enumerate(EVENTS[host]) for odd in (ODD if place < 2 else ODD[3:6])]
    folders = [tmp_path / "calls" / f"{number:03}" for number in range(len(calls))]
    for folder, (event, payload) in zip(folders, calls, strict=True):
        folder.mkdir(parents=True)
        (folder / "in").write_bytes(payload)
        (folder / "words").write_text(f"{host} {event} --wait 0")
    run = [sys.executable, "-c", CALLS, str(tmp_path / "calls")]
    subprocess.run(run, check=True, env=lonely_home.environment, cwd=lonely_home.repository)
    for folder, (event, payload) in zip(folders, calls, strict=True):
        said = (folder / "out").read_bytes()
        assert (folder / "code").read_text() == "0", (event, payload[:60])
        assert not said or isinstance(json.loads(said), dict), (event, payload[:60])
        assert (folder / "err").stat().st_size < 1000


def test_wrong_words_end_with_code_zero(lonely_home: Home) -> None:
    for words in (("nobody", "Stop"), ("claude-code", "Stop", "--wait", "soon"), ("claude-code", "Stop", "--agent")):
        done = lonely_home.hook(words[0], words[1], {}, *words[2:])
        assert (done.returncode, done.stdout) == (0, b"")
        assert b"usage: slowwave hook HOST EVENT" in done.stderr


def test_turn_lies_in_the_spool_while_servers_are_away(lonely_home: Home) -> None:
    session = ClaudeCode(lonely_home, "monday")
    assert context_in(session.run("SessionStart", source="startup")) == ""
    assert context_in(session.run("UserPromptSubmit", prompt="I like tea.")) == ""
    session.turn("I like tea.", "Noted.")
    assert context_in(session.run("Stop")) == ""
    spool = Path(lonely_home.settings["SLOWWAVE_SPOOL"])
    wait_for(lambda: spooled(spool).files, "the turn is in the spool")
    wait_for(lambda: not lonely_home.inbox(), "the inbox is empty")
    assert "I like tea." in "".join(file.read_text() for file in spool.glob("*.jsonl"))


def test_unusable_settings_keep_the_turn_until_mended(home: Home, database_url: str) -> None:
    right = home.settings
    home.settings = {**right, "SLOWWAVE_NO_SUCH_SETTING": "1"}
    session = ClaudeCode(home, "monday")
    session.turn("I like tea.", "Noted.")
    session.run("Stop")
    wait_for(lambda: any((place / "unusable").is_file() for place in home.places()), "the helper has given up")
    assert len(home.inbox()) == 1
    home.settings = right
    session.run("UserPromptSubmit", prompt="And coffee?")
    wait_for(lambda: contents(database_url, "monday") == ["I like tea.", "Noted."], "the turn is recorded")


@pytest.mark.long
def test_helper_that_nobody_asks_ends(lonely_home: Home) -> None:
    ClaudeCode(lonely_home, "monday").run("Stop")
    (place,) = lonely_home.places()
    wait_for((place / "socket").exists, "the first helper listens")
    lonely_home.close()
    assert (place / "socket").exists()  # that one was killed
    code = "import sys; from slowwave.hosts.warm_process import main; main(sys.argv[1], idle_seconds=0.1)"
    ended = subprocess.run(
        [sys.executable, "-c", code, str(place)], env=lonely_home.environment, timeout=60, check=True
    )
    assert ended.returncode == 0
    assert not (place / "socket").exists()


def test_two_hooks_at_once_start_one_helper_and_record_once(home: Home, database_url: str) -> None:
    session = ClaudeCode(home, "monday")
    session.turn("I like tea.", "Noted.")
    with ThreadPoolExecutor(6) as pool:
        for done in pool.map(lambda _: session.run("Stop"), range(6)):
            assert (done.stdout, done.returncode) == (b"", 0)
    wait_for(lambda: contents(database_url, "monday") and not home.inbox(), "the turn is recorded")
    assert contents(database_url, "monday") == ["I like tea.", "Noted."]
    wait_for(lambda: len(home.helpers()) == 1, "the other helpers have ended")
    assert rows(database_url, "SELECT last_seq FROM slowwave.sessions") == [(2,)]


def test_mute_helper_costs_no_more_than_the_wait(lonely_home: Home) -> None:
    session = ClaudeCode(lonely_home, "monday")
    session.run("Stop")
    (place,) = lonely_home.places()
    wait_for((place / "socket").exists, "the helper listens")
    (helper,) = lonely_home.helpers()
    os.kill(helper, signal.SIGSTOP)  # it stands still, and the kernel still takes connections
    try:
        began = time.monotonic()
        assert context_in(session.run("UserPromptSubmit", prompt="Hello?")) == ""
        assert time.monotonic() - began < 10
    finally:
        os.kill(helper, signal.SIGCONT)


def test_transcript_that_is_a_pipe_holds_nothing_up(home: Home, database_url: str) -> None:
    session = ClaudeCode(home, "monday")
    os.mkfifo(session.transcript)
    session.run("Stop")
    other = ClaudeCode(home, "tuesday")
    other.turn("I like tea.", "Noted.")
    other.run("Stop")
    wait_for(lambda: contents(database_url, "tuesday"), "the other turn is recorded")


def test_files_of_the_hooks_are_private(lonely_home: Home) -> None:
    session = ClaudeCode(lonely_home, "monday")
    session.turn("I like tea.", "Noted.")
    session.run("Stop")
    wait_for(lambda: lonely_home.helpers() and not lonely_home.inbox(), "the inbox is empty")
    for place in lonely_home.places():
        assert place.stat().st_mode & 0o077 == 0
