"""What tests of working memory share: one agent on real servers that notes things, cycles over them, and looks."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, text

from slowwave import Memory, Settings
from slowwave.settings import Consolidation
from slowwave_server.services.working.consolidate import CycleReport, consolidate_working
from tests.support.flushing import Clock


@dataclass
class Desk:
    """An agent named atlas: note, consolidate, look."""

    engine: Engine
    memory: Memory
    settings: Consolidation = field(default_factory=Consolidation)
    clock: Clock = field(default_factory=Clock)

    def note(self, *contents: str, importance: float = 0.8, **more: Any) -> None:
        for content in contents:
            self.memory.remember("atlas", content, importance, **more)

    def scope_id(self, name: str = "atlas", kind: str = "agent") -> int:
        found = self.rows("SELECT id FROM slowwave.scopes WHERE kind = :kind AND name = :name", kind=kind, name=name)
        return int(found[0].id)

    def cycle(self, **more: Any) -> CycleReport:
        scope_id = more.pop("scope_id", None) or self.scope_id()
        # The clock of the database dates what is noted.
        self.clock.now = max(self.clock.now, datetime.now(self.clock.now.tzinfo))
        return consolidate_working(
            self.engine, scope_id, **{"settings": self.settings, "clock": self.clock, "by": "test", **more}
        )

    def rows(self, statement: str, **parameters: Any) -> Sequence[Any]:
        with self.engine.connect() as connection:
            return connection.execute(text(statement), parameters).all()

    def memories(self) -> list[str]:
        return [row.content for row in self.rows("SELECT content FROM slowwave.memories ORDER BY content")]

    def outcomes(self) -> dict[str, str | None]:
        return {row.content: row.outcome for row in self.rows("SELECT content, outcome FROM slowwave.working_memory")}

    def state(self) -> dict[str, list[Any]]:
        """Every row that a cycle may write, to see whether anything changed."""
        tables = ["memories", "memory_notes", "memory_links", "triples", "memory_changes", "memory_blocks"]
        tables += ["working_memory", "maintenance_runs"]
        return {name: sorted(map(str, self.rows(f"SELECT * FROM slowwave.{name}"))) for name in tables}


@contextmanager
def open_desk(engine: Engine, database_url: str, broker_url: str, spool: Path, **consolidation: Any) -> Iterator[Desk]:
    memory: Any = {"consolidation": consolidation}
    settings = Settings(database_url=database_url, broker_url=broker_url, spool=spool, memory=memory)
    with Memory(settings) as client:
        yield Desk(engine, client, settings.memory.consolidation)
