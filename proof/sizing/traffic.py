"""The schedule of turns: conversations begin at random, each is a burst of turns. An open loop: no producer waits.

One schedule feeds the simulation and the real producers of a check, so that both see the same arrivals.

Must not know: how a turn is processed.
"""

import heapq
import random
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Traffic:
    """turns_per_second over all agents; a conversation has `turns` turns (geometric, mean) `gap_seconds` apart (mean).

    busy_share: the part of all conversations that the first agent has; the others share the rest evenly.
    """

    turns_per_second: float
    agents: int = 100
    turns: float = 4.0
    gap_seconds: float = 2.0
    busy_share: float = 0.0


@dataclass(frozen=True, order=True, slots=True)
class Turn:
    """At `at` seconds, in conversation `session` of agent `agent`."""

    at: float
    session: int
    agent: int


def schedule(traffic: Traffic, seconds: float, seed: int) -> Iterator[Turn]:
    """The turns of so many seconds, in order of time. The same seed says the same."""
    draw = random.Random(seed)
    beginnings = traffic.turns_per_second / traffic.turns
    waiting: list[Turn] = []
    begins, session = draw.expovariate(beginnings), 0
    while begins < seconds or waiting:
        if waiting and waiting[0].at <= begins:
            turn = heapq.heappop(waiting)
            if turn.at < seconds:
                yield turn
            continue
        if begins >= seconds:
            break
        at, agent = begins, _agent(traffic, draw)
        while True:
            heapq.heappush(waiting, Turn(at, session, agent))
            if draw.random() < 1 / traffic.turns:
                break
            at += draw.expovariate(1 / traffic.gap_seconds)
        session += 1
        begins += draw.expovariate(beginnings)


def _agent(traffic: Traffic, draw: random.Random) -> int:
    if draw.random() < traffic.busy_share:
        return 0
    return draw.randrange(traffic.agents)
