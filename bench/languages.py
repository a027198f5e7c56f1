"""Conversations in other languages through the real pipeline: do facts become memories, and does search find them.

Every conversation is an agent: captured, flushed by the rules, then queried. Each fact names the turn that says it, the
words that a memory of the fact must contain (its keys), and a question. Measured for each language:

    remembered    facts with a memory that has the turn among its sources and contains all keys
    found         facts whose turn is among the sources of the first five hits, memories and events together

Search uses words alone, without vectors. Run: python -m bench.languages [FILE] (seconds)

FILE: JSON lines, {"language": "de", "turns": [{"role", "content", "at"}, …], "facts": [{"turn": 1, "keys": […],
"question"}, …]}, turns counted from 1; by default the shared file.
"""

import argparse
import json
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from bench.locomo import flush, flusher_of, servers
from bench.msc_data import data_file
from bench.report import Row, note
from slowwave.memory import Memory
from slowwave.recall import search
from slowwave_server.services.flush.flusher import Flusher

FILE = "lang-dev.jsonl"
SESSION = "talk"
DEPTH = 5
FOUND = 0.8
"""The minimum share of facts that search must find in each language."""
AT_ONCE = 100
_MEMORIES = (
    "SELECT m.content, x.seq FROM slowwave.memories m JOIN slowwave.memory_sources x ON x.memory_id = m.id"
    " JOIN slowwave.sessions s ON s.id = x.session_id JOIN slowwave.agents a ON a.id = s.agent_id"
    " WHERE a.name = %s AND m.status <> 'archived'"
)


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact of a turn. keys: words that every memory of the fact contains."""

    turn: int
    keys: tuple[str, ...]
    question: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation in one language, with its facts."""

    language: str
    turns: Sequence[Mapping[str, Any]]
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result for a fact."""

    remembered: bool
    found: bool


def conversations(path: Path) -> Iterator[Conversation]:
    """Read a file of conversations."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            facts = (Fact(fact["turn"], tuple(fact["keys"]), fact["question"]) for fact in row["facts"])
            yield Conversation(row["language"], row["turns"], tuple(facts))


def record(memory: Memory, agent: str, turns: Sequence[Mapping[str, Any]]) -> None:
    """Capture a conversation whole."""
    lines = [{"role": turn["role"], "content": turn["content"], "at": turn["at"]} for turn in turns]
    for begin in range(0, len(lines), AT_ONCE):
        memory.turn_completed(agent, SESSION, lines[begin : begin + AT_ONCE])
    memory.session_idle(agent, SESSION)


def is_remembered(memories: Sequence[tuple[str, int]], fact: Fact) -> bool:
    """Whether one of these (content, turn) is a memory of the fact."""
    keys = [key.casefold() for key in fact.keys]
    return any(turn == fact.turn and all(key in content.casefold() for key in keys) for content, turn in memories)


def measure(
    talk: Conversation, agent: str, memory: Memory, flusher: Flusher, connection: psycopg.Connection[Any]
) -> list[Outcome]:
    """Run one conversation and search for each of its facts."""
    record(memory, agent, talk.turns)
    flush(flusher, agent, [SESSION])
    memories = connection.execute(_MEMORIES, (agent,)).fetchall()
    outcomes = []
    for fact in talk.facts:
        hits = search(connection, "default", agent, fact.question, limit=DEPTH)
        found = any((SESSION, fact.turn) in hit.sources for hit in hits)
        outcomes.append(Outcome(is_remembered(memories, fact), found))
    return outcomes


def tell(found: Mapping[str, Sequence[Outcome]]) -> None:
    """Print the shares of each language and note them for the one table."""
    print(f"{'language':<10}{'facts':>7}{'remembered':>12}{'found':>8}")
    for language, outcomes in found.items():
        remembered = statistics.mean(outcome.remembered for outcome in outcomes)
        in_five = statistics.mean(outcome.found for outcome in outcomes)
        print(f"{language:<10}{len(outcomes):>7}{remembered:>12.3f}{in_five:>8.3f}")
        note(
            Row(
                "languages",
                f"{language}, found in the first 5",
                in_five,
                "required",
                FOUND,
                "",
                in_five / FOUND,
                ">= 1",
            )
        )
        note(Row("languages", f"{language}, remembered", remembered, "every fact", 1.0, "", remembered))


def main() -> int:
    """Measure, print, note."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("file", nargs="?", type=Path, default=data_file(FILE))
    parser.add_argument("--misses", action="store_true", help="print the questions whose turn was not found")
    options = parser.parse_args()
    found: dict[str, list[Outcome]] = {}
    with (
        servers() as settings,
        psycopg.connect(settings.database_url, autocommit=True) as connection,
        flusher_of(settings) as flusher,
        Memory(settings) as memory,
    ):
        for number, talk in enumerate(conversations(options.file)):
            outcomes = measure(talk, f"agent-{number}", memory, flusher, connection)
            found.setdefault(talk.language, []).extend(outcomes)
            for fact, outcome in zip(talk.facts, outcomes, strict=True):
                if options.misses and not outcome.found:
                    print(f"{talk.language} {fact.turn}: {fact.question}", file=sys.stderr)
    tell(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
