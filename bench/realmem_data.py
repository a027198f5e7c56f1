"""Read RealMem: sessions of a user and an assistant in projects over weeks, with the memories that people keep.

A memory names its source turn, counted from 1. 0 and -1 mean no turn (schedules, summaries of several sessions): such
memories are left out. The gold of a later question is the `memory_used` of its answer, located among the memories of
that session.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from slowwave_server.domain.events import Event, EventKind

FILE = "realmem-dev.json"
FIRST_HOUR = 8
Source = tuple[str, int]
"""A turn: the uuid of its session, and its number, from 1."""
KINDS: Mapping[str, EventKind] = {"User": "user", "Assistant": "assistant"}


@dataclass(frozen=True, slots=True)
class Session:
    """One session. gold: the memories that people keep, by the number of the turn."""

    name: str
    events: tuple[Event, ...]
    gold: Mapping[int, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Question:
    """A question that has evidence in earlier sessions. before: the number of earlier sessions."""

    text: str
    before: int
    evidence: frozenset[Source]


@dataclass(frozen=True, slots=True)
class Person:
    """One person: sessions in time order, and the questions that earlier sessions answer."""

    name: str
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...]


def people(path: Path) -> Iterator[Person]:
    """Read the data set, one person after the other."""
    for name, entries in json.loads(path.read_text(encoding="utf-8")).items():
        ordered = sorted(entries, key=lambda entry: entry["day"])  # stable: one day's sessions keep their order
        sessions = tuple(_session(entry, place, ordered) for place, entry in enumerate(ordered))
        yield Person(name, sessions, tuple(_questions(ordered)))


def _session(entry: dict[str, Any], place: int, ordered: list[dict[str, Any]]) -> Session:
    """Return a session. The sessions of one day begin at 8 o'clock, an hour apart; a turn takes a minute."""
    earlier_that_day = sum(other["day"] == entry["day"] for other in ordered[:place])
    begun = datetime.fromisoformat(entry["day"]).replace(tzinfo=UTC) + timedelta(hours=FIRST_HOUR + earlier_that_day)
    events = tuple(
        Event(seq, kind := KINDS[turn["speaker"]], kind, turn["content"], begun + timedelta(minutes=seq))
        for seq, turn in enumerate(entry["turns"], 1)
    )
    gold: dict[int, tuple[str, ...]] = {}
    for memory in entry["memories"]:
        if (at := memory["source_turn"]) > 0:
            gold[at] = (*gold.get(at, ()), _text(memory["content"]))
    return Session(entry["uuid"], events, gold)


def _questions(ordered: list[dict[str, Any]]) -> Iterator[Question]:
    place_of = {entry["uuid"]: place for place, entry in enumerate(ordered)}
    turns_of: dict[tuple[str, str], set[int]] = {}
    for entry in ordered:
        for memory in entry["memories"]:
            turns_of.setdefault((entry["uuid"], _text(memory["content"])), set()).add(memory["source_turn"])
    for place, entry in enumerate(ordered):
        for asked, answer in zip(entry["turns"], entry["turns"][1:], strict=False):
            if not asked.get("is_query"):
                continue
            evidence = frozenset(
                (used["session_uuid"], turn)
                for used in answer.get("memory_used") or ()
                if place_of[used["session_uuid"]] < place
                for turn in turns_of.get((used["session_uuid"], _text(used["content"])), ())
                if turn > 0
            )
            if evidence:
                yield Question(asked["content"], place, evidence)


def _text(content: object) -> str:
    """Return a memory's text; one memory of the set is an object."""
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
