"""RealMem with sleep: is the evidence of later questions found within fewer tokens after consolidation, or lost?

Each person is an agent, twice: `awake` is never consolidated, `nightly` after each simulated day (a light pass, and a
deep one each seventh night) for its whole length. Both hear the same planted junk besides: the same few preferences,
said again and again in other words, and small talk. A question is asked before its session, as in bench/realmem.py.
At the end every question is asked once more of `awake`, which then sleeps: after 1, 7 and 30 nights.

Found: a source event of a hit is a gold turn of the question, among the hits that fit in 500, 1,000 and 2,000 tokens;
by the search of Slowwave for memories and events, and in memories alone. Words alone, without vectors. Differences are
paired by question, with their standard error.

Run: python -m bench.sleep [--persons 1]    (some minutes a person)
"""

import argparse
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from math import sqrt
from typing import Any

import psycopg
from sqlalchemy import Engine

from bench.locomo import flush, flusher_of, servers
from bench.msc_data import data_file
from bench.realmem_data import FILE, KINDS, Person, Question, Session, people
from bench.realmem_search import DEPTH, record, searched_alone
from bench.report import Row, note
from slowwave.memory import Memory
from slowwave.recall import Hit, estimate, search
from slowwave.recall.selection import fitting, shown_line
from slowwave.recall_requests import SearchRequest
from slowwave.settings import Consolidation, Settings
from slowwave_server.domain.events import Event
from slowwave_server.models.engine import make_engine
from slowwave_server.services.consolidation.scope_pass import Order, consolidate
from slowwave_server.services.flush.flusher import Flusher
from slowwave_server.services.search.statistics import refresh_grown_scopes

BUDGETS = (500, 1000, 2000)
NIGHTS = (1, 7, 30)
DEEP_EVERY = 7
JUNK = "junk"
JUNK_EVERY = 4
"""After so many days a session of junk follows."""
CHATTER = (
    ("I like oat milk in my coffee.", "I really like oat milk in my coffee.", "I like to have oat milk in my coffee."),
    ("My favorite color is teal.", "My favourite color is teal.", "Teal is my favorite color."),
    ("I prefer short emails.", "I really prefer short emails.", "I prefer emails that are short."),
    ("I love jazz music.", "I really love jazz music.", "I love listening to jazz music."),
)
SMALL_TALK = ("Good morning! Lovely weather today.", "Haha, that is so true.", "Thanks, you are the best!")
WAYS = ("memories and events", "memories alone")
Key = tuple[str, int]
"""A way to search, and a budget."""


@dataclass
class Found:
    """The answers of one state to all questions, in order. junk: tokens of junk within the budget."""

    held: dict[Key, list[bool]] = field(default_factory=lambda: {(way, most): [] for way in WAYS for most in BUDGETS})
    junk: Counter[Key] = field(default_factory=Counter)
    memories: int = 0
    junk_memories: int = 0

    def add(self, way: str, hits: Sequence[Hit], asked: Question) -> None:
        """Judge one answer within each budget."""
        for most in BUDGETS:
            shown = fitting(hits, most)
            self.held[way, most].append(any(asked.evidence & set(hit.sources) for hit in shown))
            self.junk[way, most] += sum(estimate(shown_line(hit)) for hit in shown if is_junk(hit))


@dataclass
class Sleep:
    """What passes did and cost, over all persons."""

    seconds: float = 0.0
    replay_seconds: float = 0.0
    done: Counter[str] = field(default_factory=Counter)


def is_junk(hit: Hit) -> bool:
    """Whether all sources of a hit are planted."""
    return bool(hit.sources) and all(session.startswith(JUNK) for session, _ in hit.sources)


def junk_session(number: int, at: datetime) -> Session:
    """One planted session: every preference in one of its forms, and small talk."""
    lines = [forms[number % len(forms)] for forms in CHATTER] + [SMALL_TALK[number % len(SMALL_TALK)]]
    kind = KINDS["User"]
    events = [Event(seq, kind, kind, line, at + timedelta(minutes=seq)) for seq, line in enumerate(lines, 1)]
    return Session(f"{JUNK}-{number}", tuple(events), {})


@dataclass
class Bench:
    """The servers' connections. `states`: what was found, by the name of the state."""

    connection: psycopg.Connection[Any]
    engine: Engine
    flusher: Flusher
    memory: Memory
    states: dict[str, Found] = field(default_factory=dict)
    sleep: Sleep = field(default_factory=Sleep)

    def live(self, person: Person, agent: str, *, nightly: bool) -> datetime:
        """Hear a person's whole life; answer the last day."""
        day, nights = person.sessions[0].events[0].happened_at, 0
        for place, session in enumerate(person.sessions):
            begun = session.events[0].happened_at
            if place and begun.date() != day.date():
                nights += 1
                if nights % JUNK_EVERY == 0:
                    self._hear(agent, junk_session(nights // JUNK_EVERY, day + timedelta(hours=10)))
                if nightly:
                    self.night(agent, day, deep=nights % DEEP_EVERY == 0)
                day = begun
            self.ask([q for q in person.questions if q.before == place], agent, "nightly" if nightly else "awake")
            self._hear(agent, session)
        return day

    def _hear(self, agent: str, session: Session) -> None:
        record(self.memory, agent, session)
        flush(self.flusher, agent, [session.name])

    def night(self, agent: str, day: datetime, *, deep: bool) -> None:
        """One night: a light pass, then on some nights a deep one."""
        ((scope_id,),) = self.connection.execute("SELECT id FROM slowwave.scopes WHERE name = %s", (agent,)).fetchall()
        at = day + timedelta(days=1)
        for kind in ("light", "deep") if deep else ("light",):
            begun = time.perf_counter()
            report = consolidate(self.engine, Order(scope_id, kind), settings=Consolidation(), clock=lambda: at)
            self.sleep.seconds += time.perf_counter() - begun
            self.sleep.replay_seconds += report.replayed.get("replay_ms", 0) / 1000
            self.sleep.done.update(report.counts)
            self.sleep.done["questions replayed"] += report.replayed.get("replayed", 0)
            self.sleep.done["passes"] += report.run is not None
            self.sleep.done["passes rolled back"] += report.state == "rolled_back"

    def ask(self, questions: Sequence[Question], agent: str, state: str) -> None:
        """Ask these questions, and add what was found to that state."""
        found = self.states.setdefault(state, Found())
        if questions:
            refresh_grown_scopes(self.engine, datetime.now(UTC))
        for asked in questions:
            request = SearchRequest(agent=agent, query=asked.text, limit=DEPTH, order="relevance")
            found.add(WAYS[0], search(self.connection, "default", request), asked)
            found.add(WAYS[1], searched_alone(self.connection, agent, asked.text), asked)

    def count(self, agent: str, state: str) -> None:
        """Count the memories that search can show, and those of junk."""
        live = (
            "SELECT count(*), count(*) FILTER (WHERE NOT EXISTS (SELECT FROM slowwave.memory_sources x"
            " JOIN slowwave.sessions s ON s.id = x.session_id WHERE x.memory_id = m.id AND s.name NOT LIKE %s))"
            " FROM slowwave.memories m JOIN slowwave.scopes k ON k.id = m.scope_id"
            " WHERE k.name = %s AND m.status <> 'archived'"
        )
        ((every, junk),) = self.connection.execute(live, (f"{JUNK}%", agent)).fetchall()
        self.states[state].memories += every
        self.states[state].junk_memories += junk

    def measure(self, person: Person) -> None:
        """Both lives of a person, then the nights of the one that never slept."""
        for state in ("nightly", "awake"):
            day = self.live(person, f"{state}-{person.name}", nightly=state == "nightly")
            self.count(f"{state}-{person.name}", state)
        agent = f"awake-{person.name}"
        for night in range(NIGHTS[-1] + 1):
            if night:
                self.night(agent, day + timedelta(days=night), deep=night % DEEP_EVERY == 0)
            if night in (0, *NIGHTS):
                self.ask(person.questions, agent, _after(night))
                self.count(agent, _after(night))


def _after(nights: int) -> str:
    return f"after {nights} nights" if nights != 1 else "after 1 night"


def difference(one: Sequence[bool], other: Sequence[bool]) -> tuple[float, float]:
    """The mean of the paired differences, and its standard error."""
    paired = [a - b for a, b in zip(one, other, strict=True)]
    return statistics.fmean(paired), statistics.stdev(paired) / sqrt(len(paired))


PAIRS = [("nightly", "awake"), *((_after(nights), _after(0)) for nights in NIGHTS)]


def lines(states: Mapping[str, Found]) -> Iterator[str]:
    """The table, one line for each way, budget and state; and its rows for the one table of all parts."""
    yield "| search | tokens | state | evidence found | without sleep | difference ± standard error | tokens of junk |"
    yield "| --- | ---: | --- | ---: | ---: | ---: | ---: |"
    for way, most in states["awake"].held:
        for state, beside in PAIRS:
            ours, other = states[state], states[beside]
            mean, error = difference(ours.held[way, most], other.held[way, most])
            found, before = (statistics.fmean(one.held[way, most]) for one in (ours, other))
            junk = [one.junk[way, most] / len(one.held[way, most]) for one in (ours, other)]
            yield (
                f"| {way} | {most:,} | {state} | {found:.3f} | {before:.3f} | {mean:+.3f} ± {error:.3f} |"
                f" {junk[0]:.1f}, before {junk[1]:.1f} |"
            )
            what = f"{way}, {most:,} tokens, {state}: difference in standard errors"
            errors = round(mean / error, 2) if error else 0.0
            note(Row("sleep", what, found, "without sleep", before, "", errors, ">= -1"))
    yield ""
    yield "| state | memories | without sleep | of junk | without sleep |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    for state, beside in PAIRS:
        ours, other = states[state], states[beside]
        yield f"| {state} | {ours.memories:,} | {other.memories:,} | {ours.junk_memories} | {other.junk_memories} |"
        for what, a, b in (
            ("memories", ours.memories, other.memories),
            ("memories of planted junk", ours.junk_memories, other.junk_memories),
        ):
            note(Row("sleep", f"{what}, {state}", a, "without sleep", b, "", a / b if b else 0.0, "<= 1"))


def run(settings: Settings, persons: int) -> Bench:
    """Measure the first persons of the data set."""
    engine = make_engine(settings.database_url)
    with (
        psycopg.connect(settings.database_url, autocommit=True) as connection,
        flusher_of(settings) as flusher,
        Memory(settings) as memory,
    ):
        bench = Bench(connection, engine, flusher, memory)
        for person in list(people(data_file(FILE)))[:persons]:
            bench.measure(person)
            print(f"{person.name} done", file=sys.stderr, flush=True)
    engine.dispose()
    return bench


def main() -> int:
    """Measure, print, note."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--persons", type=int, default=1)
    options = parser.parse_args()
    begun = time.perf_counter()
    with servers() as settings:
        bench = run(settings, options.persons)
    print("\n".join(lines(bench.states)))
    sleep = bench.sleep
    print(f"\npasses took {sleep.seconds:.0f} s, of which replays {sleep.replay_seconds:.1f} s: {dict(sleep.done)}")
    print(f"{len(bench.states['awake'].held[WAYS[0], BUDGETS[0]])} questions, {time.perf_counter() - begun:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
