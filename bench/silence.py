"""Measure silence: questions whose answer is in another person's memory, and the cost of an empty answer.

    other persons     RealMem: each person's questions asked of every other person
    other projects    LoCoMo: the questions of each conversation asked of every other conversation

A sample of these questions is sent, also to their own agents: there before the session of the question is recorded,
because a question that is itself recorded answers itself. A hit counts if its relevance (`Hit.relevance`, 0 to 1) is at
least the floor. The curve gives for each floor the share of foreign questions without a hit, and the loss of any@10 for
questions with an answer. Hits without a relevance are always shown, so then the curve is flat. With --relative, the
score divided by the best score of the set replaces the relevance: this shows how well a raw score separates.

Run: python -m bench.silence [--sets RealMem LoCoMo] [--agents 2] [--questions 40] [--relative]
"""

import argparse
import json
import random
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bench.recall_memories import recall_memories
from bench.recall_sets import SETS
from bench.report import Row, note
from slowwave.memory import Memory
from slowwave.recall import Hit
from slowwave_server.services.evaluation.recall import Recorder
from slowwave_server.services.evaluation.recall_data import RecallAgent, RecallQuestion, questions_at, read_recall

FIRST = 10
FLOORS = tuple(step / 20 for step in range(20))
LEAST_SILENT, MOST_LOST = 0.8, 0.03
OURS = {"RealMem": "other persons", "LoCoMo": "other projects"}
Worth = Callable[[Hit], float]


@dataclass(frozen=True, slots=True)
class Asked:
    """The first ten hits of one question: the relevance of each, and True if it has evidence."""

    hits: tuple[tuple[float, bool], ...]

    def found(self, floor: float) -> bool:
        """Return True if a hit with evidence is shown."""
        return any(right and worth >= floor for worth, right in self.hits)

    def empty(self, floor: float) -> bool:
        """Return True if no hit is shown."""
        return all(worth < floor for worth, _ in self.hits)


@dataclass(frozen=True, slots=True)
class Point:
    """One floor of the curve. silent: the share of foreign questions without a hit; lost: the loss of any@10."""

    floor: float
    silent: float
    lost: float


def relevance(hit: Hit) -> float:
    """Return the relevance of a hit; 1 if hits have none."""
    found = getattr(hit, "relevance", None)
    return 1.0 if found is None else float(found)


def curve(own: Sequence[Asked], foreign: Sequence[Asked]) -> list[Point]:
    """Return the shares by floor."""
    every = statistics.mean(one.found(0) for one in own)
    return [
        Point(
            floor,
            statistics.mean(one.empty(floor) for one in foreign),
            every - statistics.mean(one.found(floor) for one in own),
        )
        for floor in FLOORS
    ]


def best(points: Sequence[Point]) -> Point:
    """Return the floor that silences most foreign questions, within the allowed loss."""
    return max((point for point in points if point.lost <= MOST_LOST), key=lambda point: point.silent)


def ask(memory: Memory, agent: str, question: RecallQuestion, worth: Worth, *, own: bool) -> Asked:
    """Search one agent's memory. Ids of events have the form SESSION#NUMBER."""
    hits = memory.search(agent, question.text, FIRST)
    return Asked(
        tuple(
            (worth(hit), own and any(f"{session}#{seq}" in question.evidence for session, seq in hit.sources))
            for hit in hits
        )
    )


def ask_own(
    memories: Mapping[str, Memory],
    recorder: Recorder,
    agent: RecallAgent,
    asked: Sequence[RecallQuestion],
    worth: Worth,
) -> dict[str, list[Asked]]:
    """Record an agent; send it each question before the first event that the question must not see."""
    own: dict[str, list[Asked]] = {way: [] for way in memories}
    done = 0
    for sees, questions in questions_at(agent):
        if chosen := [question for question in questions if question in asked]:
            recorder.record(agent.name, agent.events[done:sees])
            done = sees
            for way, memory in memories.items():
                own[way] += [ask(memory, agent.name, question, worth, own=True) for question in chosen]
    recorder.record(agent.name, agent.events[done:])
    return own


def ask_others(memory: Memory, asked: Mapping[str, Sequence[RecallQuestion]], worth: Worth) -> list[Asked]:
    """Send a sample of each agent's questions to each other agent."""
    chance = random.Random(1)
    foreign = []
    for name, questions in asked.items():
        for other in (one for one in asked if one != name):
            few = chance.sample(questions, max(1, len(questions) // (len(asked) - 1)))
            foreign += [ask(memory, other, question, worth, own=False) for question in few]
    return foreign


def scaled(own: Sequence[Asked], foreign: Sequence[Asked]) -> tuple[list[Asked], list[Asked]]:
    """Return the same with each score divided by the highest of all."""
    top = max((worth for one in (*own, *foreign) for worth, _ in one.hits), default=1.0) or 1.0

    def of(asked: Sequence[Asked]) -> list[Asked]:
        return [Asked(tuple((worth / top, right) for worth, right in one.hits)) for one in asked]

    return of(own), of(foreign)


def measure(agents: Sequence[RecallAgent], most: int, *, relative: bool) -> Mapping[str, list[Point]]:
    """Return the curve of search by words and with vectors."""
    worth: Worth = (lambda hit: hit.score) if relative else relevance
    chance = random.Random(1)
    asked = {agent.name: chance.sample(agent.questions, min(most, len(agent.questions))) for agent in agents}
    with recall_memories() as (words, vectors, recorder, _):
        memories = {"words": words, "vectors": vectors}
        every: dict[str, list[Asked]] = {way: [] for way in memories}
        for agent in agents:
            for way, own in ask_own(memories, recorder, agent, asked[agent.name], worth).items():
                every[way] += own
            print(f"{agent.name} done", file=sys.stderr, flush=True)
        found = {}
        for way, memory in memories.items():
            own, foreign = every[way], ask_others(memory, asked, worth)
            found[way] = curve(*(scaled(own, foreign) if relative else (own, foreign)))
        return found


def main() -> int:
    """Measure, print, note."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sets", nargs="+", choices=[*OURS], default=[*OURS])
    parser.add_argument("--agents", type=int, default=100, help="so many persons or conversations")
    parser.add_argument("--questions", type=int, default=40, help="at most so many questions of each")
    parser.add_argument("--relative", action="store_true", help="judge by the score, divided by the highest")
    options = parser.parse_args()
    for name in options.sets:
        agents = read_recall(json.dumps(line) for line in SETS[name](options.agents))
        for way, points in measure(agents, options.questions, relative=options.relative).items():
            print(f"\n{name}, {OURS[name]}, {way}\n{'floor':>6} {'silent':>7} {'any@10 lost':>12}")
            for point in points:
                print(f"{point.floor:>6.2f} {point.silent:>7.3f} {point.lost:>12.3f}")
            at = best(points)
            print(f"best floor with a loss of at most {MOST_LOST}: {at.floor:.2f}, silent {at.silent:.3f}")
            what = f"{OURS[name]}, {way}: silent at a loss of at most {MOST_LOST}"
            note(Row("Silence", what, at.silent, "required", LEAST_SILENT, "", at.silent / LEAST_SILENT, ">= 1"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
