"""A month of a simulated agent: a conversation of the data sets at its own hours, notes, and a scheduler that is on or
off, while a clock is moved by hand. Everything is done by the services that do it elsewhere, on real servers.

The sessions of the conversation keep their order, their time of day and the minutes between their turns; their dates
are spread over the month. A diary, written here, is told besides: what changes, is said twice, or is denied is in it.
A second agent hears the diary alone, so that there is a wall to look over.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from redis import Redis
from sqlalchemy import Engine, text

from slowwave.coordination.flush_queue import FlushQueue
from slowwave.identity import SessionRef
from slowwave.settings import AutoFlush, Consolidation, Files, MemorySettings, Settings
from slowwave_server.domain.extraction.rules import RulesExtractor
from slowwave_server.services.flush.flusher import Flusher
from slowwave_server.services.lookup import find_scope
from slowwave_server.services.maintenance.scheduler import Scheduler
from slowwave_server.services.working.consolidate import consolidate_working
from slowwave_server.services.working.store import due_scopes
from slowwave_server.workers.jobs import job_runners
from slowwave_server.workers.leases import LeaseThread
from tests.support.flushing import Clock
from tests.support.passing import STATE

# A Monday.
START = datetime(2026, 6, 1, tzinfo=UTC)
DAYS = 30
HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)
_TIME_FORM = "%I:%M %p on %d %B, %Y"
NEIGHBOUR = "neighbour"
NOTED_FIRST = "Maya works at Fabrikam"
"""The agent notes it, a cycle makes a memory of that, and only then a flush hears it."""

# (day on which it is told, day on which it was said, what Maya says). The last one comes late.
DIARY: tuple[tuple[float, float, str], ...] = (
    (0.4, 0.4, "I work at Northwind."),
    (0.5, 0.5, "I live in Lisbon."),
    (0.6, 0.6, "I am learning the cello."),
    (2.4, 2.4, "I am allergic to peanuts."),
    (3.4, 3.4, "I am now learning the cello."),
    (4.4, 4.4, "I love sailing on the lake."),
    (5.4, 5.4, "My sister is called Priya."),
    (6.4, 6.4, "I work at Contoso."),
    (8.4, 8.4, "I live in Lisbon."),
    (8.6, 8.6, "My sister is named Priya."),
    (9.4, 9.4, "I really love sailing on the lake."),
    (13.4, 13.4, "I am learning the cello."),
    (15.4, 15.4, "I am now learning the cello."),
    (16.4, 16.4, "I work at Northwind."),
    (18.4, 18.4, "I love sailing on the lake."),
    (19.4, 19.4, "I am not allergic to peanuts."),
    (20.4, 20.4, "I live in Porto."),
    (21.4, 21.4, "I really love sailing on the lake."),
    (24.2, 24.2, "I work at Fabrikam."),
    (25.4, 0.2, "I have been learning the cello."),
)
# (day of the month, what the agent notes, importance)
NOTES: tuple[tuple[float, str, float], ...] = (
    (0.2, "Priya collects old maps of harbours", 0.7),
    (0.3, "Priya collects old maps of harbours", 0.6),
    (1.2, "Maya works at Northwind", 0.8),
    (2.2, "Priya sails on Saturdays", 0.2),
    (5.2, "Jonas plays the cello on Sundays", 0.6),
    (9.2, "Maya lives in Madrid", 0.8),
    (5.3, "Jonas is playing the cello on Sundays", 0.9),
    (10.2, "Priya lives in Bergen", 0.5),
    (12.2, "Jonas repairs clocks in his cellar", 0.6),
    (15.2, "Priya likes green tea", 0.5),
    (20.2, "Priya lives in Oslo", 0.5),
    (21.2, "Priya does not like green tea", 0.7),
    (22.2, NOTED_FIRST, 0.4),
    (28.2, "Jonas plays the cello on Sundays", 0.5),
)


@dataclass(frozen=True, slots=True)
class Visit:
    """One sitting of a session: its events, as capture takes them, and when it is over and told."""

    agent: str
    session: str
    over: datetime
    events: tuple[Mapping[str, Any], ...]


def visits_of(entry: Mapping[str, Any]) -> list[Visit]:
    """The sessions of one conversation in LoCoMo's form, spread over the month. The first speaker is the user."""
    said = entry["conversation"]
    names = sorted((name for name in said if re.fullmatch(r"session_\d+", name)), key=lambda name: int(name[8:]))
    visits = []
    for place, name in enumerate(names):
        begun = datetime.strptime(said[f"{name}_date_time"], _TIME_FORM).replace(tzinfo=UTC)
        day = START + timedelta(days=place * DAYS // len(names))
        begun = datetime.combine(day, begun.time(), UTC)
        events = list(_events(said[name], said["speaker_a"], begun))
        visits.append(Visit(entry["sample_id"], name, begun + len(events) * MINUTE, tuple(events)))
    return visits


def diary_of(agent: str) -> list[Visit]:
    """The diary, each entry a session of its own, spoken by Maya."""
    visits = []
    for place, (told, said, content) in enumerate(DIARY):
        at = (START + timedelta(days=said)).isoformat()
        event = {"kind": "user", "role": "user", "name": "Maya", "step": 1, "content": content, "at": at}
        visits.append(Visit(agent, f"diary-{place}", START + timedelta(days=told), (event,)))
    return visits


def _events(turns: list[dict[str, str]], user: str, begun: datetime) -> Iterator[dict[str, Any]]:
    step = 0
    for place, turn in enumerate(turns):
        role = "user" if turn["speaker"] == user else "assistant"
        step += role == "user"
        at = (begun + place * MINUTE).isoformat()
        told = {"name": turn["speaker"], "content": turn["text"], "key": turn["dia_id"]}
        yield told | {"kind": role, "role": role, "step": step, "at": at}


@dataclass
class Month:
    """One database in which the month passes. folder: of files; consolidation: the settings of passes and cycles."""

    engine: Engine
    redis: Redis
    visits: list[Visit]
    folder: Path
    consolidation: Consolidation = field(default_factory=Consolidation)
    clock: Clock = field(default_factory=lambda: Clock(START))

    def __post_init__(self) -> None:
        flushing = AutoFlush()
        queue = FlushQueue(self.redis, lease_seconds=flushing.lease_seconds)
        self.agents = sorted({visit.agent for visit in self.visits})
        self._flushing = flushing
        self._queue = queue
        self._autocommit = self.engine.execution_options(isolation_level="AUTOCOMMIT")
        self._flusher = Flusher(
            engine=self._autocommit,
            queue=queue,
            keeper=LeaseThread(queue, lease_seconds=flushing.lease_seconds),
            extractor=RulesExtractor(),
            settings=flushing,
            clock=self.clock,
            jitter=lambda: 0.5,
            pause=lambda _seconds: None,
        )
        settings = Settings(memory=MemorySettings(consolidation=self.consolidation, files=Files(root=self.folder)))
        self.scheduler = Scheduler(self.engine, job_runners(), settings, clock=self.clock, by="a month")

    def pass_by(self, awake: Callable[[datetime], bool]) -> None:
        """Let the month pass, hour by hour; at each hour at which it is awake the scheduler ticks, and cycles run."""
        waiting = sorted(self.visits, key=lambda visit: (visit.over, visit.agent))
        notes = [(START + timedelta(days=day), content, importance) for day, content, importance in NOTES]
        while self.clock.now <= START + timedelta(days=DAYS):
            while waiting and waiting[0].over <= self.clock.now:
                self._converse(waiting.pop(0))
            while notes and notes[0][0] <= self.clock.now:
                self._remember(*notes.pop(0))
            if awake(self.clock.now):
                self._wake()
            self.clock.now += HOUR

    def rows(self, statement: str, **parameters: Any) -> list[Any]:
        with self.engine.connect() as connection:
            return list(connection.execute(text(statement), parameters))

    def count(self, query: str, **parameters: Any) -> int:
        """How many rows `query` (what follows SELECT count(*)) finds."""
        return int(self.rows(f"SELECT count(*) AS n {query}", **parameters)[0].n)

    def runs(self) -> list[Any]:
        """Every run that is no undo, the oldest first."""
        return self.rows("SELECT * FROM slowwave.maintenance_runs WHERE kind <> 'undo' ORDER BY id")

    def state(self) -> dict[str, list[str]]:
        """Every row of every table that holds state. Numbers that a database gives out stand as what they number."""
        names: dict[str, str] = {}
        for row in self.rows("SELECT m.id, k.name, m.type, m.content_hash FROM slowwave.memories m"
                             " JOIN slowwave.scopes k ON k.id = m.scope_id"):  # fmt: skip
            names[str(row.id)] = f"memory of {row.name}: {row.type} {bytes(row.content_hash).hex()}"
        for row in self.rows("SELECT w.id, a.name, w.content, w.said_at FROM slowwave.working_memory w"
                             " JOIN slowwave.agents a ON a.id = w.agent_id"):  # fmt: skip
            names[str(row.id)] = f"note of {row.name} at {row.said_at}: {row.content}"
        sessions = {row.id: f"{row.agent}/{row.name}" for row in self.rows(
            "SELECT s.id, a.name AS agent, s.name FROM slowwave.sessions s JOIN slowwave.agents a ON a.id = s.agent_id"
        )}  # fmt: skip
        found = {}
        for table, (_, left_out) in STATE.items():
            documents = []
            for row in self.rows(f"SELECT to_jsonb(t) AS row FROM slowwave.{table} t"):
                kept = {key: names.get(str(value), value) for key, value in row.row.items() if key not in left_out}
                if "session_id" in kept:
                    kept["session_id"] = sessions[kept["session_id"]]
                documents.append(json.dumps(kept, sort_keys=True))
            found[table] = sorted(documents)
        return found

    def _converse(self, visit: Visit) -> None:
        """Capture a sitting, of which the agent then goes idle, and flush all of it."""
        item = {"agent": visit.agent, "session": visit.session, "trigger": "idle", "events": visit.events}
        with self._autocommit.connect() as connection:
            connection.execute(
                text("SELECT due FROM slowwave.capture_batch('default', :batch, :idle, :age, :turns, 'UTC', 0, :now)"),
                {
                    "batch": json.dumps([item]),
                    "idle": self._flushing.idle_seconds,
                    "age": self._flushing.max_dirty_age_seconds,
                    "turns": self._flushing.turn_threshold,
                    "now": self.clock(),
                },
            )
        ref = SessionRef("default", visit.agent, visit.session)
        more = True
        while more:
            self._queue.offer(ref, "normal")
            more = self._flusher.flush(ref).more

    def _remember(self, said_at: datetime, content: str, importance: float) -> None:
        with self._autocommit.connect() as connection:
            for agent in self.agents:
                connection.execute(
                    text(
                        "SELECT id FROM slowwave.remember('default', :agent, 'agent', :agent, NULL, 'fact', :content,"
                        " :importance, false, NULL, :ttl, :at, 'UTC', 0, :now)"
                    ),
                    {
                        "agent": agent,
                        "content": content,
                        "importance": importance,
                        "ttl": self.consolidation.working_ttl_seconds,
                        "at": said_at,
                        "now": self.clock(),
                    },
                )

    def _wake(self) -> None:
        report = self.scheduler.tick()
        assert not report.errors, report.errors
        rules = self.consolidation
        with self.engine.connect() as connection:
            due = due_scopes(connection, min_importance=rules.min_importance, limit=10, now=self.clock())
            scopes = [find_scope(connection, scope.tenant, scope.kind, scope.name) for scope in due]
        for scope_id in scopes:
            assert scope_id is not None
            consolidate_working(self.engine, scope_id, settings=rules, clock=self.clock, by="a month")


def conversation(folder: Path, place: int = 0) -> Mapping[str, Any]:
    """One conversation of the data set."""
    found: Mapping[str, Any] = json.loads((folder / "locomo-dev.json").read_text(encoding="utf-8"))[place]
    return found
