"""The writer: order and completeness, whatever becomes of Postgres while entries come in."""

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slowwave.background import Writer
from slowwave.capture import Captured, Delivery, Entry
from slowwave.errors import SpoolFull, StoreUnavailable
from slowwave.identity import SessionRef
from slowwave.spool import Spool, spooled

DATABASE = "postgresql://slowwave@db.example/slowwave"
DEADLINE = 20.0


def entry(content: str, session: str = "s") -> Entry:
    return Entry("default", "maya", session, [{"key": content, "kind": "user", "step": 1, "content": content}])


class FakeStore:
    """Postgres as the writer sees it: up, down, or holding a statement; keeps each key once, as the real one does."""

    def __init__(self) -> None:
        self.up = True
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.asked = threading.Event()
        self.sessions: dict[str, list[str]] = defaultdict(list)
        self.refused: set[str] = set()
        self.calls = 0

    def deliver(self, entries: Sequence[Entry]) -> Delivery:
        self.calls += 1
        self.asked.set()
        self.may_answer.wait(DEADLINE)
        if not self.up:
            raise StoreUnavailable("down")
        outcomes, rejected = [], []
        for item in entries:
            kept = self.sessions[item.session]
            if item.events[0]["key"] in self.refused:
                rejected.append((item, "refused"))
                continue
            fresh = [event["content"] for event in item.events if event["content"] not in kept]
            kept.extend(fresh)
            due = Captured(len(kept), len(fresh), 0, due=True, reason="turns", problem=None)
            outcomes.append((item.ref, due))
        return Delivery(outcomes, rejected)


def wait_for(condition: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < end, f"waited in vain for {what}"
        threading.Event().wait(0.002)


class Scene:
    def __init__(self, folder: Path, max_events: int = 10_000) -> None:
        self.store = FakeStore()
        self.spool = Spool(folder, DATABASE)
        self.due: list[SessionRef] = []
        self.writer = Writer(self.store, self.spool, self.due.extend, max_events=max_events)

    def recorded(self, session: str = "s") -> list[str]:
        return self.store.sessions[session]


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    scene = Scene(tmp_path)
    yield scene
    scene.store.may_answer.set()
    scene.writer.close(DEADLINE)


def test_entries_are_committed_in_batches_and_in_order(scene: Scene) -> None:
    for number in range(300):
        assert scene.writer.put(entry(str(number))) == "queued"
    assert scene.writer.flush(DEADLINE)
    assert scene.recorded() == [str(number) for number in range(300)]
    assert scene.store.calls < 300
    assert SessionRef("default", "maya", "s") in scene.due


def test_a_full_queue_goes_to_the_disk_with_its_order(tmp_path: Path) -> None:
    scene = Scene(tmp_path, max_events=5)
    scene.store.may_answer.clear()
    scene.writer.put(entry("0"))
    assert scene.store.asked.wait(DEADLINE)  # the writer holds the first entry from here on
    stored = [scene.writer.put(entry(str(number))) for number in range(1, 20)]
    assert stored.count("spool") > 0
    scene.store.may_answer.set()
    assert scene.writer.flush(DEADLINE)
    assert scene.recorded() == [str(number) for number in range(20)]
    scene.writer.close(DEADLINE)


def test_a_batch_that_fails_goes_in_front_of_what_overflowed_meanwhile(tmp_path: Path) -> None:
    scene = Scene(tmp_path, max_events=3)
    scene.store.may_answer.clear()
    scene.store.up = False
    scene.writer.put(entry("0"))
    assert scene.store.asked.wait(DEADLINE)
    for number in range(1, 10):
        scene.writer.put(entry(str(number)))
    scene.store.may_answer.set()
    wait_for(lambda: scene.store.calls > 1, "another attempt")
    scene.store.up = True
    assert scene.writer.flush(DEADLINE)
    assert scene.recorded() == [str(number) for number in range(10)]
    scene.writer.close(DEADLINE)


def test_later_entries_go_behind_the_spool(scene: Scene) -> None:
    scene.store.up = False
    scene.writer.store([entry("spooled")])
    scene.writer.put(entry("later"))
    wait_for(lambda: scene.store.calls > 0, "an attempt")
    scene.store.up = True
    assert scene.writer.flush(DEADLINE)
    assert scene.recorded() == ["spooled", "later"]


def test_what_postgres_refuses_for_good_is_set_aside_and_the_rest_goes_on(scene: Scene, tmp_path: Path) -> None:
    scene.store.refused = {"bad"}
    scene.writer.store([entry("one"), entry("bad"), entry("two")])
    assert scene.writer.flush(DEADLINE)
    scene.writer.put(entry("three"))
    assert scene.writer.flush(DEADLINE)
    assert scene.recorded() == ["one", "two", "three"]
    rejected = [path.read_text() for path in tmp_path.glob("*.rejected")]
    assert len(rejected) == 1
    assert '"error":"refused"' in rejected[0]


def test_mistake_30_an_error_does_not_end_the_writer(tmp_path: Path) -> None:
    class Stumbles(FakeStore):
        def deliver(self, entries: Sequence[Entry]) -> Delivery:
            if self.calls == 0:
                self.calls += 1
                raise ZeroDivisionError("a bug")
            return super().deliver(entries)

    scene = Scene(tmp_path)
    scene.store = Stumbles()
    scene.writer = Writer(scene.store, scene.spool, scene.due.extend)
    scene.writer.put(entry("one"))
    assert scene.writer.flush(DEADLINE)
    assert scene.recorded() == ["one"]
    scene.writer.close(DEADLINE)


def test_closing_commits_what_is_queued(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    for number in range(50):
        scene.writer.put(entry(str(number)))
    scene.writer.close(DEADLINE)
    assert scene.recorded() == [str(number) for number in range(50)]
    assert spooled(tmp_path) == (0, 0, 0)


def test_closing_while_a_statement_hangs_puts_everything_on_the_disk(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.store.may_answer.clear()
    scene.writer.put(entry("in flight"))
    assert scene.store.asked.wait(DEADLINE)
    scene.writer.put(entry("queued"))
    scene.writer.close(0.01)
    assert spooled(tmp_path).files == 1
    scene.store.may_answer.set()
    # The statement came through after all: the next process delivers both, and the key makes one of them a repetition.
    wait_for(lambda: "in flight" in scene.recorded(), "the statement that hung")
    scene.spool.close()
    after = Scene(tmp_path)
    after.store.sessions["s"] = list(scene.recorded())
    after.writer.start()
    wait_for(lambda: after.recorded() == ["in flight", "queued"] and not after.spool.pending, "the delivery")
    after.writer.close(DEADLINE)


def test_with_neither_server_nor_disk_callers_are_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    scene = Scene(tmp_path / "file", max_events=4)
    scene.store.up = False
    taken: list[str] = []

    def put_many() -> None:
        for number in range(100):
            scene.writer.put(entry(str(number)))
            taken.append(str(number))

    with pytest.raises(SpoolFull):
        put_many()
    scene.store.up = True
    assert scene.writer.flush(DEADLINE)
    assert scene.recorded() == taken, "what was taken is delivered, what was refused is not"
    scene.writer.close(DEADLINE)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from(["put", "put", "put", "down", "up", "flush", "store"]), max_size=40), st.integers(1, 6))
def test_any_mixture_of_outages_keeps_all_entries_once_and_in_order(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str], max_events: int
) -> None:
    scene = Scene(tmp_path_factory.mktemp("spool"), max_events)
    given_order: list[str] = []
    for number, step in enumerate(steps):
        if step == "put":
            given_order.append(str(number))
            scene.writer.put(entry(str(number)))
        elif step == "store" and scene.spool.pending:
            # What a durable call does while something waits; it comes after a flush, as calls of one mode do.
            scene.store.up = True
            assert scene.writer.flush(DEADLINE)
            given_order.append(str(number))
            scene.writer.store([entry(str(number))])
        elif step == "flush" and scene.store.up:
            assert scene.writer.flush(DEADLINE)
        else:
            scene.store.up = step != "down"
    scene.store.up = True
    assert scene.writer.flush(DEADLINE)
    assert scene.recorded() == given_order
    scene.writer.close(DEADLINE)
