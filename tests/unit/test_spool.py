"""The spool: on the disk before anyone is told so, in order, locked by its process, found again after a crash."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.capture import Entry
from slowwave.errors import SpoolFull
from slowwave.event_json import EventJson
from slowwave.spool import Segment, Spool, spooled

DATABASE = "postgresql://slowwave@db.example/slowwave"


def entry(content: str, session: str = "s") -> Entry:
    event: EventJson = {"key": f"k-{content}", "kind": "user", "step": 1, "content": content}
    return Entry("default", "maya", session, [event])


def contents(segment: Segment) -> list[str]:
    entries, unreadable = segment.read()
    assert unreadable == []
    return [event["content"] for entry in entries for event in entry.events]


def drained(spool: Spool) -> list[str]:
    """Everything in the spool, in the order of its delivery."""
    found = []
    while (segment := spool.oldest()) is not None:
        found += contents(segment)
        spool.finish(segment, [])
    return found


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    return Spool(tmp_path / "spool", DATABASE)


def test_entries_come_back_as_they_were(spool: Spool) -> None:
    given_entry = Entry(
        "t", "a/../b", "s\N{SNOWMAN}", entry("x\ny").events, {"scope_kind": "room", "scope_name": "r"}, "idle"
    )
    given_entry.stamp("2024-04-10T09:00:00+00:00")
    spool.append([given_entry])
    segment = spool.oldest()
    assert segment is not None
    assert segment.read() == ([given_entry], [])


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 3)), max_size=12))
def test_what_is_put_in_front_comes_first_and_the_rest_in_order(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[bool, int]]
) -> None:
    spool = Spool(tmp_path_factory.mktemp("spool"), DATABASE)
    model: list[str] = []
    for number, (front, count) in enumerate(steps):
        batch = [f"{number}.{place}" for place in range(count)]
        spool.append([entry(content) for content in batch], front=front)
        model = batch + model if front else model + batch
    assert spool.pending == bool(model)
    assert drained(spool) == model
    assert not spool.pending
    assert spooled(spool.folder) == (0, 0, 0)


def test_nothing_is_appended_to_a_segment_that_is_being_delivered(spool: Spool) -> None:
    spool.append([entry("one")])
    segment = spool.oldest()
    spool.append([entry("two")])
    assert segment is not None
    assert contents(segment) == ["one"]
    spool.finish(segment, [])
    assert drained(spool) == ["two"]


def test_a_torn_last_line_is_left_out(spool: Spool) -> None:
    spool.append([entry("whole")])
    segment = spool.oldest()
    assert segment is not None
    with segment.path.open("ab") as file:
        file.write(b'{"tenant":"default","agent":"ma')
    assert contents(segment) == ["whole"]


def test_a_line_that_cannot_be_read_is_set_aside_with_its_error(spool: Spool) -> None:
    spool.append([entry("one")])
    segment = spool.oldest()
    assert segment is not None
    with segment.path.open("ab") as file:
        file.write(b'{"half": \n')
    entries, unreadable = segment.read()
    assert [e.events[0]["content"] for e in entries] == ["one"]
    spool.finish(segment, unreadable)
    rejected = segment.path.with_name(f"{segment.path.name}.rejected")
    assert json.loads(rejected.read_text())["line"] == '{"half": '
    assert spooled(spool.folder) == (0, 0, 1)


def test_another_process_leaves_a_held_segment_alone_and_takes_it_once_it_is_free(spool: Spool) -> None:
    spool.append([entry("mine")])
    other = Spool(spool.folder, DATABASE)
    assert not other.adopt()
    spool.close()
    assert other.adopt()
    assert drained(other) == ["mine"]


def test_a_segment_of_another_database_is_never_taken(spool: Spool) -> None:
    spool.append([entry("mine")])
    spool.close()
    assert not Spool(spool.folder, "postgresql://slowwave@db.example/another").adopt()
    assert Spool(spool.folder, "postgresql://slowwave:new-password@db.example/slowwave").adopt()


CRASHES = """
import os, signal, sys
from pathlib import Path
from slowwave.capture import Entry
from slowwave.spool import Spool
spool = Spool(Path(sys.argv[1]), sys.argv[2])
spool.append([Entry("default", "maya", "s", [{"key": "k", "kind": "user", "step": 1, "content": "before the crash"}])])
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_process_leaves_its_entries_to_the_next(spool: Spool) -> None:
    crashed = subprocess.run([sys.executable, "-c", CRASHES, str(spool.folder), DATABASE], check=False)
    assert crashed.returncode == -signal.SIGKILL
    assert spool.adopt()
    assert drained(spool) == ["before the crash"]


def child_lets_go(spool: Spool) -> None:
    spool.abandon()
    os._exit(0)


def test_a_forked_child_does_not_free_its_parents_segments(spool: Spool) -> None:
    spool.append([entry("the parent's")])
    child = multiprocessing.get_context("fork").Process(target=child_lets_go, args=(spool,))
    child.start()
    child.join()
    assert child.exitcode == 0
    assert not Spool(spool.folder, DATABASE).adopt()
    assert drained(spool) == ["the parent's"]


def test_files_are_for_their_owner_alone(spool: Spool) -> None:
    spool.append([entry("private")])
    segment = spool.oldest()
    assert segment is not None
    assert spool.folder.stat().st_mode & 0o777 == 0o700
    assert segment.path.stat().st_mode & 0o777 == 0o600


def test_a_folder_that_cannot_be_written_is_an_error_and_not_a_loss_in_silence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    spool = Spool(tmp_path / "file", DATABASE)
    with pytest.raises(SpoolFull, match="can't be written"):
        spool.append([entry("x")])
    assert not spool.pending


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from slowwave.capture import Entry
from slowwave.errors import SpoolFull
from slowwave.spool import Spool
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
spool = Spool(Path(sys.argv[1]), sys.argv[2])
def entry(content):
    return Entry("default", "maya", "s", [{"key": content[:9], "kind": "user", "step": 1, "content": content}])
spool.append([entry("kept")])
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
try:
    spool.append([entry("y" * 5000)])
except SpoolFull:
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    spool.append([entry("after")])
"""


def test_a_write_that_the_disk_refuses_half_way_leaves_no_trace(spool: Spool) -> None:
    """A limit on the size of files stands for the full disk: the kernel takes a part of the write, then refuses."""
    subprocess.run([sys.executable, "-c", FULL_DISK, str(spool.folder), DATABASE], check=True)
    assert spool.adopt()
    assert drained(spool) == ["kept", "after"]
