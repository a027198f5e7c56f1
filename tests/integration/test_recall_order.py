"""The same data answer the same: in whatever order sessions are captured and flushed, whenever words are counted."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from slowwave import Memory, Settings
from slowwave.recall import Hit
from slowwave_server.domain.extraction import RulesExtractor
from slowwave_server.models.engine import make_engine
from slowwave_server.services.evaluation.recall import Recorder
from slowwave_server.services.search.statistics import QUIET_SECONDS, refresh_grown_scopes, settled_scopes
from tests.support.flushing import Clock, make_scene

pytestmark = pytest.mark.servers

BEGUN = datetime(2026, 3, 2, 9, tzinfo=UTC)
PEOPLE = ("Maya", "Jonas", "Priya", "Tom", "Ines", "Noor")
PLACES = ("Porto", "Bergen", "Lyon", "Graz", "Turin", "Leeds", "Cork", "Bruges")
THINGS = ("a cello", "an old map", "a kayak", "two lamps", "a loom", "a telescope", "seven chairs", "a blue bicycle")
QUESTIONS = (
    *(f"What did {person} buy in {place}?" for person in PEOPLE[:3] for place in PLACES[:3]),
    *(f"Who owns {thing}?" for thing in THINGS),
    *("Where was the market?", "What is planned for the summer?", "What did Maya say about the train?"),
)
Sessions = Mapping[str, Sequence[Mapping[str, Any]]]


def conversations() -> Sessions:
    """Sessions of talk in which words are shared and no two documents are alike: 240 events."""
    made: dict[str, list[dict[str, Any]]] = {}
    for number in range(24):
        at = BEGUN + timedelta(days=number)
        person, place, thing = PEOPLE[number % 6], PLACES[(number * 5) % 8], THINGS[(number * 3) % 8]
        lines = [
            ("user", f"I bought {thing} at the market in {place} {number + 2} days ago."),
            ("assistant", f"Lovely! {person} asked about {place} and the train number {number * 7 + 100}."),
            ("user", f"{person} prefers {PLACES[(number + 3) % 8]} in summer, for reason {number * 11 + 300}."),
            ("assistant", f"Noted for {person}." + " Anything else about it?" * (number % 5)),
            ("user", f"We decided to visit {place} with {PEOPLE[(number + 2) % 6]} on tour {number * 13 + 500}."),
            ("assistant", f"Tour {number * 13 + 500} is planned, and {thing} stays at home."),
            ("user", f"{person} said the train to {place} was {'very ' * (number % 4)}late by {number + 31} minutes."),
            ("assistant", f"That is {number + 31} minutes too many."),
            ("user", f"My locker at the station of {place} has the code word number {number * 17 + 700}."),
            ("assistant", f"Locker of {place}, {number * 17 + 700}, understood."),
        ]
        made[f"day {number}"] = [
            {
                "role": role,
                "name": person if role == "user" else "Ada",
                "content": content,
                "at": (at + timedelta(minutes=minute)).isoformat(),
            }
            for minute, (role, content) in enumerate(lines)
        ]
    return made


@dataclass(frozen=True)
class Loader:
    """Loads sessions as an agent, in given orders, and asks."""

    recorder: Recorder
    memory: Memory
    clock: Clock

    def load(
        self,
        agent: str,
        sessions: Sessions,
        captured: Sequence[str],
        flushed: Sequence[str],
        counted_after: frozenset[int] = frozenset(),
    ) -> list[list[tuple[Any, ...]]]:
        for name in captured:
            self.memory.turn_completed(agent, name, sessions[name])
        for place, name in enumerate(flushed):
            self.recorder.flush(agent, name)
            if place in counted_after:
                refresh_grown_scopes(self.recorder.flusher.engine, self.clock())
        self.clock.pass_time(QUIET_SECONDS + 1)
        refresh_grown_scopes(self.recorder.flusher.engine, self.clock())
        return [[said(hit) for hit in self.memory.search(agent, question, 20)] for question in QUESTIONS]


def said(hit: Hit) -> tuple[Any, ...]:
    """A hit without what each load makes anew."""
    return hit.kind, hit.content, hit.status, hit.valid_from, sorted(hit.sources), round(hit.score, 9)


@contextmanager
def loading(database_url: str, valkey_url: str, redis_client: Redis, spool: Path) -> Iterator[Loader]:
    scene = make_scene(make_engine(database_url), redis_client)
    settings = Settings(database_url=database_url, broker_url=valkey_url, spool=spool)
    with Memory(settings) as memory:
        flusher = replace(scene.flusher, extractor=RulesExtractor())
        yield Loader(Recorder(memory, flusher), memory, scene.clock)
    scene.engine.dispose()


@pytest.fixture
def loader(database_url: str, valkey_url: str, redis_client: Redis, tmp_path: Path) -> Iterator[Loader]:
    with loading(database_url, valkey_url, redis_client, tmp_path) as made:
        yield made


def by_score(answer: Sequence[tuple[Any, ...]]) -> list[tuple[float, list[str]]]:
    """The hits of each score, without those of the last: the limit may cut them."""
    scores = sorted({hit[-1] for hit in answer}, reverse=True)
    return [(score, sorted(repr(hit) for hit in answer if hit[-1] == score)) for score in scores[:-1]]


def test_order_of_flushes_and_captures_changes_no_score(loader: Loader) -> None:
    sessions = conversations()
    names = list(sessions)
    mixed = [names[(number * 7) % len(names)] for number in range(len(names))]
    first = [by_score(answer) for answer in loader.load("first", sessions, names, names)]
    assert sum(map(bool, first)) > len(first) / 2, "most questions find several hits"
    assert [by_score(answer) for answer in loader.load("reversed", sessions, names, names[::-1])] == first
    assert [by_score(answer) for answer in loader.load("mixed", sessions, mixed, mixed[::-1])] == first


def test_order_of_flushes_and_captures_changes_no_order_of_hits(loader: Loader) -> None:
    sessions = conversations()
    names = list(sessions)
    first = loader.load("first", sessions, names, names)
    assert loader.load("reversed", sessions, names, names[::-1]) == first
    assert loader.load("captured reversed", sessions, names[::-1], names) == first


def test_time_of_counting_changes_no_answer(loader: Loader) -> None:
    sessions = conversations()
    names = list(sessions)
    once = loader.load("once", sessions, names, names)
    # Counted as soon as the scope is large, before the last sessions are flushed.
    assert loader.load("early", sessions, names, names, frozenset({21})) == once
    assert loader.load("often", sessions, names, names, frozenset(range(24))) == once


def test_scope_is_counted_once_it_is_quiet_and_once_alone(loader: Loader) -> None:
    sessions = conversations()
    names = list(sessions)
    loader.load("maya", sessions, names[:-1], names[:-1])
    loader.load("jonas", sessions, names, names)

    def settled() -> int:
        with loader.recorder.flusher.engine.connect() as connection:
            return len(settled_scopes(connection, loader.clock()))

    assert settled() == 0, "both are counted"
    loader.memory.turn_completed("maya", names[-1], sessions[names[-1]])
    loader.recorder.flush("maya", names[-1])
    refresh_grown_scopes(loader.recorder.flusher.engine, loader.clock())
    assert settled() == 0, "it may go on talking"
    loader.clock.pass_time(QUIET_SECONDS)
    assert settled() == 1
    assert refresh_grown_scopes(loader.recorder.flusher.engine, loader.clock()) == 1
    assert settled() == 0
