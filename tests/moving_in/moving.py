"""What tests of moving in share: one installation into which sources are brought, and looks at what stands in it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from redis import Redis
from sqlalchemy import Engine, text

from slowwave.settings import Settings
from slowwave.store import Store
from slowwave_server.domain.moving_in.records import System
from slowwave_server.services.forget.forget import Forgetter
from slowwave_server.services.moving_in.importing import MovingReport, move_in
from slowwave_server.services.moving_in.reading import Source
from slowwave_server.services.moving_in.runs import Context
from slowwave_server.services.moving_in.undoing import undo_any
from slowwave_server.services.undo.report import UndoReport
from tests.support.flushing import Scene

FIXTURES = Path(__file__).parent / "fixtures"
KEPT = ("memories", "memory_imports", "memory_sources", "sessions", "events", "session_days", "days", "passages",
        "memory_links", "triples", "memory_blocks", "memory_conflicts", "review_items", "day_summaries", "flushes",
        "undone_rows", "aliases")  # fmt: skip
"""Tables that must hold after an undo what they held before the moving-in."""


def now() -> datetime:
    return datetime.now(UTC)


@dataclass
class House:
    """An installation, its tenant being `default`."""

    engine: Engine
    redis: Redis
    settings: Settings
    scene: Scene
    clock: Callable[[], datetime] = field(default=now)

    def bring(
        self,
        system: System,
        source: str | Path,
        agent: str | None = "ines",
        *,
        dry_run: bool = False,
        **more: Any,
    ) -> MovingReport:
        context = Context(self.engine, "default", self.settings.memory.days, "test", self.clock)
        given = str(source if Path(source).is_absolute() or "://" in str(source) else FIXTURES / source)
        store = Store(self.settings)
        try:
            return move_in(
                context,
                Source(system, given, **more),
                agent=agent,
                store=store,
                tools=self.settings.memory.tools,
                dry_run=dry_run,
            )
        finally:
            store.close()

    def undo(self, run: int, tenant: str = "default") -> UndoReport:
        return undo_any(
            self.engine,
            tenant,
            run,
            by="test",
            now=self.clock(),
            forgetting=lambda: Forgetter(self.engine, self.redis, self.settings, self.clock),
        )

    def flush_all(self, session: str | None = None) -> None:
        """Every session, or those of a name, become memories."""
        dirty = self.sql(
            "SELECT a.name AS agent, s.name AS session FROM slowwave.sessions s"
            " JOIN slowwave.agents a ON a.id = s.agent_id WHERE s.last_seq > s.processed_until"
            " AND s.name = coalesce(CAST(:session AS text), s.name)",
            session=session,
        )
        for row in dirty:
            self.sql(
                "SELECT slowwave.request_flush(ARRAY['default'], ARRAY[:agent], ARRAY[:session], 'hand', now())",
                agent=row.agent,
                session=row.session,
            )
            self.scene.flush(row.session, agent=row.agent)

    def sql(self, statement: str, **values: Any) -> list[Any]:
        with self.engine.begin() as connection:
            result = connection.execute(text(statement), values)
            return list(result) if result.returns_rows else []

    def count(self, table: str) -> int:
        return int(self.sql(f"SELECT count(*) AS n FROM slowwave.{table}")[0].n)

    def counts(self) -> dict[str, int]:
        return {table: self.count(table) for table in KEPT}

    def memories(self) -> dict[str, Any]:
        return {row.content: row for row in self.sql("SELECT * FROM slowwave.memories WHERE status <> 'archived'")}

    def events(self) -> list[tuple[str, str, str]]:
        rows = self.sql(
            "SELECT s.name AS session, e.kind, e.content FROM slowwave.events e"
            " JOIN slowwave.sessions s ON s.id = e.session_id ORDER BY s.name, e.seq"
        )
        return [tuple(row) for row in rows]
