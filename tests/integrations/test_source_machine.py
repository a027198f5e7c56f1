"""Whatever happens to a session that another program keeps, and to who reads it: each message once, in the end.

The store is a small one in memory, since what is proved here is what is done with its answers.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis import Redis
from sqlalchemy import Engine

from slowwave import Memory
from slowwave.capture import Captured, Entry
from slowwave.errors import StoreUnavailable
from slowwave.external_runs import name_run
from slowwave.identity import SessionRef
from slowwave_server.domain.failures import TransientError
from slowwave_server.services.sources.protocol import KeptRun, KeptSession
from slowwave_server.services.sources.reading import LOOK_FOR_SECONDS, SessionReader
from tests.support.capturing import broken_sessions, contents, memory_on
from tests.support.flushing import Clock

pytestmark = pytest.mark.servers

STEPS = (
    "begin",  # a hook names a run, and it is under way
    "more",  # something is said in the run
    "end",  # it is stored as settled, and named again
    "name",  # an old run is named once more
    "look",
    "crash",  # the reader captures and dies
    "away",  # the store can't be reached
    "shrink",  # the store forgets its first run
)


@dataclass
class SmallStore:
    """Runs of one session, each with its messages."""

    name: str = "small"
    runs: dict[str, list[str]] = field(default_factory=dict)
    settled: set[str] = field(default_factory=set)
    away: bool = False

    def read(self, session: str, runs: frozenset[str]) -> KeptSession | None:
        if self.away:
            raise TransientError("the store is away")
        return KeptSession(
            private=False,
            runs=tuple(
                KeptRun(run, run in self.settled, private=False, messages=tuple(map(_message, said)))
                for run, said in self.runs.items()
                if run in runs
            ),
        )

    def close(self) -> None:
        """Nothing is open."""


def _message(text: str) -> dict[str, object]:
    role = "user" if text.endswith("0") else "assistant"
    return {"role": role, "content": text, "key": text, "at": datetime(2026, 3, 2, 9, tzinfo=UTC)}


@dataclass
class Story:
    engine: Engine
    memory: Memory
    session: str
    store: SmallStore = field(default_factory=SmallStore)
    clock: Clock = field(default_factory=Clock)
    said: list[str] = field(default_factory=list)
    lost: bool = False

    def tell(self, step: str, pick: int) -> None:
        runs = list(self.store.runs)
        if step == "begin":
            run = f"{self.session}-{len(self.said)}-{pick}"
            self.name(run, wait_seconds=120)
            self.store.runs[run] = [f"{run}:0"]
            self.said.append(f"{run}:0")
        elif step in {"look", "crash", "away"}:
            self.lost, self.store.away = step == "crash", step == "away"
            self.look()
            self.lost = self.store.away = False
        elif runs:
            self.tell_of(step, runs[pick % len(runs)], runs[0])

    def tell_of(self, step: str, run: str, first: str) -> None:
        if step == "more" and run not in self.store.settled:
            line = f"{run}:{len(self.store.runs[run])}"
            self.store.runs[run].append(line)
            self.said.append(line)
        elif step == "end":
            self.store.settled.add(run)
            self.name(run)
        elif step == "name":
            self.name(run)
        elif step == "shrink" and set(self.store.runs[first]) <= set(self.recorded()):
            del self.store.runs[first]

    def name(self, run: str, wait_seconds: float = 0.0) -> None:
        name_run(self.memory, "maya", self.session, run, source="small", wait_seconds=wait_seconds)

    def look(self) -> None:
        reader = SessionReader(self.engine, self.store, self.capture, self.clock, lambda: 0.5)
        try:
            reader.look(SessionRef("default", "maya", self.session))
        except StoreUnavailable:
            assert self.lost

    def capture(self, entry: Entry) -> Captured:
        captured = self.memory.store.capture.one(entry)
        if self.lost:
            raise StoreUnavailable("the answer is lost")
        return captured

    def recorded(self) -> list[str]:
        return contents(self.memory.store.settings.database_url, self.session)


@pytest.fixture
def memory(database_url: str, valkey_url: str, redis_client: Redis, tmp_path: Path) -> Iterator[Memory]:
    redis_client.ping()
    with memory_on(database_url, valkey_url, tmp_path / "spool") as memory:
        yield memory


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 5)), max_size=25))
def test_i1_i2_every_message_of_a_named_run_is_recorded_once_in_the_order_of_its_run(
    engine: Engine, memory: Memory, steps: list[tuple[str, int]]
) -> None:
    story = Story(engine, memory, uuid4().hex)  # not random: each example would have the same
    for step, pick in steps:
        story.tell(step, pick)
        recorded = story.recorded()
        assert len(recorded) == len(set(recorded))
    # In the end every run is looked at until it is settled, or for a day.
    story.look()
    story.clock.pass_time(timedelta(seconds=LOOK_FOR_SECONDS).total_seconds())
    story.look()
    recorded = story.recorded()
    assert sorted(recorded) == sorted(story.said)
    for run in {line.rpartition(":")[0] for line in recorded}:
        of_run = [line for line in recorded if line.rpartition(":")[0] == run]
        assert of_run == sorted(of_run, key=lambda line: int(line.rpartition(":")[2]))
    assert broken_sessions(memory.store.settings.database_url) == []
