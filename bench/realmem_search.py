"""Measure RealMem through the real pipeline: do memories alone answer later questions, by Slowwave's own search?

Every person is an agent, one for each extractor. Sessions are captured and flushed in order; the questions of a session
with evidence in earlier sessions are asked before the session is captured. "Found" is counted as in bench/realmem.py: a
gold turn among the sources of the first ten memories, or of those within 1,000 tokens. The search uses words only.
Memories can be selected in two ways, and both are measured:

    memories searched alone    search ranks memories, without raw events
    memories among all hits    search ranks memories and events together; of its first 60 hits the memories count

Run: python -m bench.realmem_search [--columns "version 1" present]    (about a minute for each column)
"""

import argparse
import statistics
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import psycopg

from bench.locomo import flush, flusher_of, servers
from bench.msc_data import data_file
from bench.realmem import DEEPEST, Answer, judged
from bench.realmem_data import FILE, Person, Question, Session, people
from bench.replay import Compared, compared
from bench.report import Row, note
from slowwave.memory import Memory
from slowwave.recall import Hit, estimate, search
from slowwave.recall.query_steps import run
from slowwave.recall.scopes import reader
from slowwave.recall.search import find_steps, scope_stats_steps
from slowwave.recall_requests import SearchRequest
from slowwave.settings import Settings
from slowwave_server.services.flush.flusher import Flusher
from slowwave_server.services.search.statistics import refresh_grown_scopes

VERSION_1 = "version 1"
OURS = "present"
BOUNDS = {"memories searched alone, any@10": 0.30, "memories searched alone, any in 1,000 tokens": 0.25}
DEPTH = 60
"""The number of hits of a search for memories and events."""
AT_ONCE = 100


def searched_alone(connection: psycopg.Connection[Any], agent: str, question: str) -> Sequence[Hit]:
    """Return the hits of a search in an agent's memories, without raw events."""
    stats = run(connection, scope_stats_steps(reader("default", agent, ()), question))
    return run(connection, find_steps(stats, limit=DEEPEST, events=False))


def among_all(connection: psycopg.Connection[Any], agent: str, question: str) -> Sequence[Hit]:
    """Return the memories among the first hits of a search for memories and events."""
    request = SearchRequest(agent=agent, query=question, limit=DEPTH, order="relevance")
    return [hit for hit in search(connection, "default", request) if hit.kind == "memory"]


WAYS: Mapping[str, Callable[[psycopg.Connection[Any], str, str], Sequence[Hit]]] = {
    "memories searched alone": searched_alone,
    "memories among all hits": among_all,
}


def record(memory: Memory, agent: str, session: Session) -> None:
    """Capture a complete session."""
    lines = [{"role": e.role, "content": e.content, "at": e.happened_at.isoformat()} for e in session.events]
    for begin in range(0, len(lines), AT_ONCE):
        memory.turn_completed(agent, session.name, lines[begin : begin + AT_ONCE])
    memory.session_idle(agent, session.name)


def ask(hits: Sequence[Hit], asked: Question) -> Answer:
    """Return the position of a question's evidence among the found memories."""
    return judged([(set(hit.sources), estimate(f"({hit.valid_from:%-d %B %Y}) {hit.content}")) for hit in hits], asked)


def live(person: Person, agent: str, memory: Memory, flusher: Flusher, connection: Any) -> Iterator[tuple[str, Answer]]:
    """Capture and flush a person's sessions in order; ask each question before its session, in each way."""
    for place, session in enumerate(person.sessions):
        asked = [question for question in person.questions if question.before == place]
        if asked:
            refresh_grown_scopes(flusher.engine, datetime.now(UTC))
        for question in asked:
            yield from ((way, ask(find(connection, agent, question.text), question)) for way, find in WAYS.items())
        record(memory, agent, session)
        flush(flusher, agent, [session.name])


def measure(settings: Settings, column: str, chosen: Compared) -> dict[str, float]:
    """Return the shares of one extractor, by name."""
    answers: dict[str, list[Answer]] = {way: [] for way in WAYS}
    with (
        psycopg.connect(settings.database_url, autocommit=True) as connection,
        flusher_of(settings, chosen.extractor) as flusher,
        Memory(settings) as memory,
    ):
        for person in people(data_file(FILE)):
            agent = f"{column.replace(' ', '-')}-{person.name}"
            for way, answer in live(person, agent, memory, flusher, connection):
                answers[way].append(answer)
            print(f"{column}: {person.name} done", file=sys.stderr, flush=True)
    return {
        f"{way}, {what}": statistics.mean(getattr(answer, name) for answer in given)
        for way, given in answers.items()
        for what, name in (("any@10", "first"), ("any in 1,000 tokens", "within"))
    }


def tell(found: Mapping[str, Mapping[str, float]]) -> None:
    """Note the rows of the common table."""
    for what, ours in found[OURS].items():
        for column in found.keys() - {OURS}:
            beside = found[column][what]
            note(Row("RealMem, search", what, ours, column, beside, "", ours / (beside or 1)))
        if required := BOUNDS.get(what):
            note(Row("RealMem, search", what, ours, "required", required, "", ours / required, ">= 1"))


def main() -> int:
    """Measure, print, note."""
    every = compared()
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--columns", nargs="+", choices=[*every], default=[VERSION_1, OURS])
    options = parser.parse_args()
    with servers() as settings:
        found = {column: measure(settings, column, every[column]) for column in options.columns}
    for what in next(iter(found.values())):
        print(f"{what:<46}" + "  ".join(f"{column} {shares[what]:.3f}" for column, shares in found.items()))
    if OURS in found:
        tell(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
