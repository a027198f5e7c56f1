"""The inbox of hooks: a file that can't be recorded is set aside and holds up none of the others."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from proof.coding_host import ClaudeCode, Home, wait_for
from slowwave.errors import NotAllowed, SpoolFull
from slowwave.hosts import warm_process
from slowwave.hosts.contexts import Contexts
from slowwave.hosts.recording import Recorder
from slowwave.hosts.talking import MAX_WAITING_FILES, leave
from slowwave.hosts.warm_process import Helper
from tests.support.capturing import contents


class Recording(Recorder):
    """Records nothing: raises what the request names, and keeps the requests that it was given."""

    def __init__(self) -> None:
        self.given: list[Mapping[str, Any]] = []

    def record(self, request: Mapping[str, Any]) -> None:
        self.given.append(request)
        if name := request.get("raises"):
            raise {"bug": RuntimeError, "right": NotAllowed, "disk": SpoolFull}[name]("as asked")


class NoContexts(Contexts):
    """Answers nothing."""

    def __init__(self) -> None:
        pass


@pytest.fixture
def inbox(tmp_path: Path) -> Path:
    folder = tmp_path / "inbox"
    folder.mkdir()
    return folder


def put(inbox: Path, number: int, text: str) -> None:
    (inbox / f"{number:020d}-1.json").write_text(text)


def helper(inbox: Path, recorder: Recording) -> Helper:
    return Helper(NoContexts(), recorder, inbox, 1)


@pytest.mark.parametrize("text", ['{"raises": "bug"}', "{", "\x00", "[" * 100_000])
def test_file_that_fails_is_set_aside_whole(inbox: Path, text: str) -> None:
    put(inbox, 1, text)
    put(inbox, 2, '{"turn": 2}')
    recorder = Recording()
    assert helper(inbox, recorder).drain() is False
    assert recorder.given[-1] == {"turn": 2}
    (rejected,) = inbox.iterdir()
    assert rejected.name == "00000000000000000001-1.json.rejected"
    assert rejected.read_text() == text
    asked = len(recorder.given)
    helper(inbox, recorder).drain()
    assert len(recorder.given) == asked


def test_file_that_may_succeed_later_waits(inbox: Path) -> None:
    put(inbox, 1, '{"raises": "right"}')
    put(inbox, 2, '{"raises": "disk"}')
    with pytest.raises(SpoolFull):
        helper(inbox, Recording()).drain()
    assert sorted(path.suffix for path in inbox.iterdir()) == [".json", ".json"]


def test_rejected_files_are_bounded_in_number(inbox: Path) -> None:
    for number in range(warm_process.MAX_REJECTED_FILES + 30):
        put(inbox, number, '{"raises": "bug"}')
    helper(inbox, Recording()).drain()
    kept = sorted(path.name for path in inbox.iterdir())
    assert len(kept) == warm_process.MAX_REJECTED_FILES
    assert kept[0].startswith("00000000000000000030")


def test_rejected_files_are_bounded_in_bytes(inbox: Path) -> None:
    for number in range(5):
        put(inbox, number, json.dumps({"raises": "bug", "text": "x" * 5_000_000}))
    helper(inbox, Recording()).drain()
    assert sorted(path.name[:20].lstrip("0") for path in inbox.iterdir()) == ["2", "3", "4"]


def test_rejected_files_leave_the_inbox_its_room(inbox: Path) -> None:
    for number in range(MAX_WAITING_FILES):
        (inbox / f"{number:020d}-1.json.rejected").touch()
    (inbox.parent / "unusable").touch()  # so that no helper is started
    leave(str(inbox.parent), {"kind": "record"}, {})
    assert len(list(inbox.glob("*.json"))) == 1


@pytest.mark.servers
def test_turn_behind_a_rejected_file_is_recorded(home: Home, database_url: str) -> None:
    session = ClaudeCode(home, "monday")
    session.run("Stop")
    wait_for(lambda: home.places() and not home.inbox(), "the first file is recorded")
    (place,) = home.places()
    put(place / "inbox", 1, '{"kind": "record", "host": "claude-code", "transcript": "/x", "messages": 7}')
    session.turn("I like tea.", "Noted.")
    session.run("Stop")
    wait_for(lambda: contents(database_url, "monday") == ["I like tea.", "Noted."], "the turn is recorded")
    assert [path.name for path in (place / "inbox").iterdir()] == ["00000000000000000001-1.json.rejected"]
    assert "is kept as 00000000000000000001-1.json.rejected" in (place / "helper.log").read_text()
