"""Agents, conversations and texts of the loaded data. The same sizes give the same world.

Agents have from 1 to 10,000 conversations, conversations from 2 to 200 events, both with a heavy tail; they are spread
over two years with a growing rate. A fifth of the agents write to one team's scope, which has a million memories; the
others write to their own. Word frequencies follow Zipf's law, so some words are common and some rare.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

from bench.search_speed import Speech
from bench.statements import Life

TENANT = "default"
TEAM = "harbour"
TEAM_SCOPE = 1
LARGEST = "agent-1"
"""The agent with the most conversations, a hundredth of all; it writes to a scope of its own."""
DAYS_BACK = 730
LONGEST = 200
MOST_SESSIONS = 10_000
TEAM_EVERY = 5
SENTENCES = 30_000
FEW_WORDS = 4
RARE = "bcdfghjklmnpqrstvwxz"
# The share of conversations with at least this many events: 2, 3, … 200. The mean is ten.
_TAIL = 0.97
_RECENT = 0.01


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes: numbers of sessions and of memories in the team's scope. now: the time at which the data ends."""

    sessions: int
    memories: int
    now: datetime


class Talk(NamedTuple):
    """One conversation: agent, scope, number of events, start; dirty: its last four events are unflushed."""

    id: int
    agent: int
    scope: int
    events: int
    begun: datetime
    dirty: bool

    @property
    def processed(self) -> int:
        """Return the watermark."""
        return max(0, self.events - 4) if self.dirty else self.events


class Said(NamedTuple):
    """One event."""

    seq: int
    kind: str
    sentences: list[str]
    at: datetime


@lru_cache(maxsize=2)
def agents_of(sessions: int) -> tuple[int, tuple[int, ...]]:
    """Return the number of agents, and the agent (from 1) of each session in order."""
    draw = random.Random(sessions)
    places, agent = [1] * max(1, sessions // 100), 1
    while len(places) < sessions:
        agent += 1
        places += [agent] * min(int(4 * draw.paretovariate(1.15)), MOST_SESSIONS, sessions // 100)
    del places[sessions:]
    draw.shuffle(places)
    return agent, tuple(places)


def scope_of(agent: int) -> int:
    """Return the scope of an agent's conversations: the team's, or its own; the numbers of own scopes follow the
    team's.
    """
    return TEAM_SCOPE if agent % TEAM_EVERY == 0 else agent + 1


def talks(sizes: Sizes, first: int, last: int) -> Iterator[Talk]:
    """Return conversations number `first` to `last`, oldest first."""
    _, agents = agents_of(sizes.sessions)
    draw = random.Random(f"{sizes.sessions}/{first}")
    for number in range(first, last + 1):
        age = DAYS_BACK * (1 - (number - 0.5) / sizes.sessions) ** 1.5
        agent = agents[number - 1]
        events = min(LONGEST, int(2 * (1 - draw.random()) ** -_TAIL))
        # Begun within the last day, as in reality: older ones were flushed long ago.
        recent = number > sizes.sessions * (1 - _RECENT)
        begun = sizes.now - timedelta(days=age, minutes=30)
        yield Talk(number, agent, scope_of(agent), events, begun, recent and draw.random() < 0.98)


def said_in(talk: Talk, now: datetime) -> Iterator[Said]:
    """Return the events of a conversation: a user and an assistant in turn, at times with days between them."""
    draw = random.Random(talk.id)
    at, step = talk.begun, min(timedelta(seconds=90), (now - talk.begun) / (talk.events + 1))
    pool = sentences()
    for seq in range(1, talk.events + 1):
        said = draw.choices(pool, k=1 if draw.random() < 0.8 else draw.randint(2, 6))
        if draw.random() < 0.02:
            said.append("".join(draw.choices(RARE, k=8)))
        yield Said(seq, "user" if seq % 2 else "assistant", said, at)
        pause = timedelta(days=draw.randint(1, 3)) if draw.random() < 0.015 else step
        at = min(at + pause, max(at, now - timedelta(seconds=1)))


@lru_cache(maxsize=1)
def sentences() -> tuple[str, ...]:
    """Return the vocabulary of events."""
    life, speech = Life(5), Speech(5)
    return tuple(life.statement() + "." if place % 3 else speech.sentence(FEW_WORDS, 18) for place in range(SENTENCES))


def statements(seed: int) -> Iterator[str]:
    """Yield texts of memories: an endless sequence of distinct statements, with one value for each attribute."""
    life, told = Life(seed), set[int]()
    while True:
        text = life.statement(changes=False)
        # A digest takes a tenth of the text's space.
        if (digest := hash(text)) not in told:
            told.add(digest)
            yield text
