"""Logs of sessions: every event once, in order, whatever crashes; and how they go."""

import json
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis import Redis
from sqlalchemy import text

from slowwave_server.services.session_logs import (
    CleanUp,
    cleanup_session_logs_older_than,
    log_path,
    remove_session_logs,
    write_session_logs,
)
from slowwave_server.services.session_logs.file import Disk
from slowwave_server.services.session_logs.writing import PAGE
from tests.support.flushing import Scene, make_scene

pytestmark = pytest.mark.servers


class Crash(BaseException):
    """The process is gone."""


@dataclass
class DyingDisk(Disk):
    """Dies at its nth step, in the midst of it: what it was to write is written in part, or done and not told."""

    dies_at: int
    share: float = 0.5
    steps: int = 0

    def _step(self) -> bool:
        self.steps += 1
        return self.steps == self.dies_at

    def cut(self, descriptor: int, size: int) -> None:
        if self._step():
            raise Crash
        super().cut(descriptor, size)

    def append(self, descriptor: int, data: bytes) -> None:
        if self._step():
            super().append(descriptor, data[: int(len(data) * self.share)])
            raise Crash
        super().append(descriptor, data)

    def sync(self, descriptor: int, folder: Path) -> None:
        super().sync(descriptor, folder)
        if self._step():
            raise Crash


@pytest.fixture
def scene(database_url: str, redis_client: Redis) -> Iterator[Scene]:
    scene = make_scene(database_url, redis_client)
    yield scene
    scene.engine.dispose()


def read(path: Path) -> list[dict[str, object]]:
    """The events of a log; fails where a line is none."""
    content = path.read_bytes()
    assert content.endswith(b"\n")
    return [json.loads(line) for line in content.splitlines()]


def numbers(root: Path, session: str) -> list[object]:
    path = log_path(root, "default", "maya", session)
    return [event["seq"] for event in read(path)] if path.exists() else []


def logged_until(scene: Scene, session: str) -> int:
    return int(scene.session(session).logged_until)


def test_a_log_holds_every_event_in_full(scene: Scene, tmp_path: Path) -> None:
    scene.say("s1", "Maya plays\nthe cello \u2028 and “more”.", "And the piano.", metadata={"a": [1]}, key=None)
    scene.say("s1", "…", kind="task", role="task", name="Jonas", key="k1", at="2026-03-01T23:30:00+02:00")
    report = write_session_logs(scene.engine, tmp_path)
    assert (report.sessions, report.events, report.failed) == (1, 3, 0)
    first, _, last = read(log_path(tmp_path, "default", "maya", "s1"))
    assert first == {
        "seq": 1,
        "turn": 1,
        "kind": "user",
        "role": "user",
        "name": None,
        "content": "Maya plays\nthe cello \u2028 and “more”.",
        "at": scene.clock().isoformat(),
        "recorded_at": scene.clock().isoformat(),
        "day": str(scene.clock().date()),
        "key": None,
        "metadata": {"a": [1]},
    }
    assert (last["at"], last["day"], last["key"]) == ("2026-03-01T21:30:00+00:00", "2026-03-01", "k1")
    assert write_session_logs(scene.engine, tmp_path).events == 0
    path = log_path(tmp_path, "default", "maya", "s1")
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_a_long_session_is_written_page_by_page_and_others_too(scene: Scene, tmp_path: Path) -> None:
    for session in ("long", "short"):
        scene.say(session, *(f"Line {n}." for n in range(PAGE * 2 + 1 if session == "long" else 2)))
    write_session_logs(scene.engine, tmp_path)
    assert numbers(tmp_path, "long") == list(range(1, PAGE * 2 + 2))
    assert numbers(tmp_path, "short") == [1, 2]
    assert logged_until(scene, "long") == PAGE * 2 + 1


def test_a_crash_at_any_step_doubles_and_loses_nothing(scene: Scene, tmp_path: Path) -> None:
    for dies_at, share in product(range(1, 7), (0.0, 0.3, 0.5, 1.0)):
        session = f"dies-{dies_at}-{share}"
        scene.say(session, *(f"Line {n}." for n in range(PAGE + 3)))
        disk, crashed = DyingDisk(dies_at, share), 0
        for round_ in range(4):
            try:
                write_session_logs(scene.engine, tmp_path, disk=disk)
            except Crash:
                crashed += 1
            scene.say(session, f"More {round_}.")
        write_session_logs(scene.engine, tmp_path)
        assert crashed == 1, session
        assert numbers(tmp_path, session) == list(range(1, PAGE + 8)), session
        assert logged_until(scene, session) == PAGE + 7


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_the_end_of_the_file_was_torn_to_the_log_comes_out_whole(
    scene: Scene, tmp_path: Path, data: st.DataObject
) -> None:
    session = f"s{len(list(tmp_path.iterdir()))}"
    folder = tmp_path / session
    path = log_path(folder, "default", "maya", session)
    scene.say(session, *(f"Line {n}." for n in range(4)))
    write_session_logs(scene.engine, folder)
    confirmed = path.stat().st_size
    scene.say(session, *(f"More {n}." for n in range(4)))
    write_session_logs(scene.engine, folder)
    # As if the machine had stopped before the second write was told to the database, and kept a part of it.
    scene.sql("UPDATE slowwave.sessions SET logged_until = 4 WHERE name = :name RETURNING 1", name=session)
    whole = path.read_bytes()
    kept = data.draw(st.integers(confirmed, len(whole)))
    rest = data.draw(st.binary(max_size=30) | st.just(b"\0" * 20) | st.just(b"\0\0\n\0\0\n"))
    path.write_bytes(whole[:kept] + rest.replace(b"{", b"x"))
    write_session_logs(scene.engine, folder)
    assert path.read_bytes() == whole
    assert logged_until(scene, session) == 8


def test_what_was_confirmed_is_never_cut_off_even_if_nobody_can_read_it(scene: Scene, tmp_path: Path) -> None:
    scene.say("s1", "One.", "Two.")
    write_session_logs(scene.engine, tmp_path)
    path = log_path(tmp_path, "default", "maya", "s1")
    path.write_bytes(b"somebody wrote over it\n")
    scene.say("s1", "Three.")
    write_session_logs(scene.engine, tmp_path)
    first, second = path.read_bytes().splitlines()
    assert first == b"somebody wrote over it"
    assert json.loads(second)["seq"] == 3


def test_two_writers_at_once_write_each_event_once(scene: Scene, tmp_path: Path) -> None:
    for n in range(10):
        scene.say(f"s{n}", *(f"Line {n}." for n in range(20)))
    writers = [threading.Thread(target=write_session_logs, args=(scene.engine, tmp_path)) for _ in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    write_session_logs(scene.engine, tmp_path)
    assert all(numbers(tmp_path, f"s{n}") == list(range(1, 21)) for n in range(10))


def test_i10_no_line_is_written_after_a_forget(scene: Scene, tmp_path: Path) -> None:
    """The writer holds the session's row: a forget waits for it and then takes the file, or comes first."""
    scene.say("s1", "Maya plays the cello.")
    done = threading.Event()

    class Waiting(Disk):
        def append(self, descriptor: int, data: bytes) -> None:
            worker.start()
            deadline = datetime.now(UTC) + timedelta(seconds=20)
            while not scene.sql("SELECT 1 FROM pg_locks WHERE NOT granted"):
                assert datetime.now(UTC) < deadline, "the forget did not wait"
            assert not done.is_set()
            super().append(descriptor, data)

    def forget() -> None:
        with scene.engine.connect() as connection:
            connection.execute(text("DELETE FROM slowwave.session_days"))
            connection.execute(text("DELETE FROM slowwave.sessions"))
        done.set()
        remove_session_logs(tmp_path, "default", "maya")

    worker = threading.Thread(target=forget)
    write_session_logs(scene.engine, tmp_path, disk=Waiting())
    worker.join()
    assert write_session_logs(scene.engine, tmp_path).events == 0
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_log_that_cannot_be_written_keeps_no_other_waiting(scene: Scene, tmp_path: Path) -> None:
    for session in ("s1", "s2"):
        scene.say(session, "Maya plays the cello.")
    log_path(tmp_path, "default", "maya", "s1").mkdir(parents=True)
    report = write_session_logs(scene.engine, tmp_path)
    assert (report.events, report.failed) == (1, 1)
    log_path(tmp_path, "default", "maya", "s1").rmdir()
    write_session_logs(scene.engine, tmp_path)
    assert numbers(tmp_path, "s1") == [1]


def test_any_name_has_a_log_of_its_own_inside_the_folder(scene: Scene, tmp_path: Path) -> None:
    names = ["../../etc/passwd", "con", "a" * 200, "Ä" * 200, "é", "e\u0301", "S", "s", ".", "-", "x y", "x" * 250]
    paths = {log_path(tmp_path, "default", "maya", name) for name in [*names, "x" * 249, "x" * 251, "%" * 250]}
    assert len({str(path).casefold() for path in paths}) == len(names) + 3
    assert all(len(path.name.encode()) <= 255 and path.parent.parent.parent.parent == tmp_path for path in paths)
    for name in names[:4]:
        scene.say(name, "Maya plays the cello.")
    write_session_logs(scene.engine, tmp_path)
    assert all(numbers(tmp_path, name) == [1] for name in names[:4])


def test_old_logs_go_by_their_last_line_and_what_comes_later_begins_a_new_one(scene: Scene, tmp_path: Path) -> None:
    for session in ("old", "young"):
        scene.say(session, "Maya plays the cello.")
    write_session_logs(scene.engine, tmp_path)
    now = datetime.now(UTC)
    past = (now - timedelta(days=31)).timestamp()
    path = log_path(tmp_path, "default", "maya", "old")
    size = path.stat().st_size
    os.utime(path, (past, past))
    (path.parent / "notes.txt").write_text("somebody's own")
    os.utime(path.parent / "notes.txt", (past, past))
    would = cleanup_session_logs_older_than(tmp_path, 30, now=now, dry_run=True)
    assert (would, path.exists()) == (CleanUp(1, size), True)
    assert cleanup_session_logs_older_than(tmp_path, 30, now=now) == CleanUp(1, size)
    assert numbers(tmp_path, "old") == []
    assert numbers(tmp_path, "young") == [1]
    scene.say("old", "And the piano.")
    write_session_logs(scene.engine, tmp_path)
    assert numbers(tmp_path, "old") == [2]
    assert sorted(p.name for p in path.parent.iterdir()) == ["notes.txt", "old.jsonl", "young.jsonl"]


def test_logs_are_removed_of_a_session_or_of_an_agent_and_of_nobody_else(scene: Scene, tmp_path: Path) -> None:
    for session, agent in (("s1", "maya"), ("s2", "maya"), ("s1", "jonas")):
        scene.say(session, "A line.", agent=agent)
    write_session_logs(scene.engine, tmp_path)
    assert remove_session_logs(tmp_path, "default", "maya", "s1") == 1
    assert remove_session_logs(tmp_path, "default", "maya", "s1") == 0
    assert remove_session_logs(tmp_path, "other", "maya") == 0
    assert remove_session_logs(tmp_path, "default", "maya") == 1
    assert not log_path(tmp_path, "default", "maya", "s1").parent.exists()
    assert log_path(tmp_path, "default", "jonas", "s1").exists()
    assert remove_session_logs(tmp_path, "default", "jonas") == 1
    assert list((tmp_path / "session.logs").iterdir()) == []


def test_what_was_removed_before_it_was_logged_holds_up_nothing(scene: Scene, tmp_path: Path) -> None:
    scene.say("s1", "One.", "Two.", "Three.")
    scene.sql("DELETE FROM slowwave.events WHERE seq >= 2 RETURNING 1")
    write_session_logs(scene.engine, tmp_path)
    write_session_logs(scene.engine, tmp_path)
    assert (numbers(tmp_path, "s1"), logged_until(scene, "s1")) == ([1], 3)
