"""What tests of memory files share: a scope with all that a memory can be, an emptied database, a folder's bytes."""

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from sqlalchemy import Engine, text

from slowwave.settings import Days
from slowwave_server.domain.memory_files import scope_folder
from slowwave_server.domain.memory_files.lines import STATUSES, TRUSTS, TYPES
from slowwave_server.domain.statements import content_hash
from slowwave_server.services.memory_files.export import ExportReport, export_scope
from slowwave_server.services.memory_files.importing import ImportReport, Target, import_scope
from tests.support.emptying import emptying

NOW = datetime(2026, 4, 1, 12, tzinfo=UTC)
START = datetime(2026, 3, 1, 21, 30, 0, 125, tzinfo=UTC)
TEXTS = (
    "Maya prefers tea --> and <!-- hides --> nothing",
    "Jonas said:\n  two lines\n\nand a third\\",
    "Priya's 漢字 🌊 \u2028 name",
    " <br> &#10; \\<br> ",
    "Maya's rate is 5 % & rising",
)


@dataclass
class Scope:
    """One scope on a database, and a folder for its files."""

    engine: Engine
    root: Path
    name: str = "Maya Lee"
    kind: str = "agent"

    def sql(self, statement: str, **values: Any) -> list[Any]:
        with self.engine.begin() as connection:
            result = connection.execute(text(statement), values)
            return list(result) if result.returns_rows else []

    @property
    def folder(self) -> Path:
        return self.root / scope_folder("default", self.kind, self.name)

    def export(self, root: Path | None = None, *, append_only: bool = True, force: bool = False) -> ExportReport:
        folder = root or self.root
        return export_scope(self.engine, "default", self.kind, self.name, folder, append_only=append_only, force=force)

    def take(self, root: Path | None = None, *, name: str | None = None, dry_run: bool = False) -> ImportReport:
        target = Target("default", self.kind, name or self.name)
        return import_scope(self.engine, target, root or self.root, days=Days(), by="maya", now=NOW, dry_run=dry_run)

    def memories(self, name: str | None = None) -> list[Any]:
        return self.sql(
            "SELECT m.* FROM slowwave.memories m JOIN slowwave.scopes k ON k.id = m.scope_id WHERE k.name = :name"
            " ORDER BY m.id",
            name=name or self.name,
        )

    def make(self) -> None:
        """The agent, its scope, and a session with events that are the sources of what `remember` adds."""
        self.sql(
            "INSERT INTO slowwave.agents (tenant, name, time_zone, cutoff_hour)"
            " VALUES ('default', :name, 'Europe/Berlin', 4)",
            name=self.name,
        )
        self.sql("INSERT INTO slowwave.scopes (tenant, kind, name) VALUES ('default', 'agent', :name)", name=self.name)
        self.sql(
            "INSERT INTO slowwave.sessions (agent_id, scope_id, name, last_seen_at)"
            " SELECT a.id, k.id, 'monday --> #1', :now FROM slowwave.agents a, slowwave.scopes k",
            now=START,
        )

    def remember(self, number: int, content: str, **fields: Any) -> UUID:
        """A memory that rests on event `number` of the session."""
        memory = UUID(int=(0x0199 << 112) + number)
        at = START + timedelta(hours=7 * number)
        values: dict[str, Any] = {
            "id": memory, "type": "fact", "content": content, "hash": content_hash(content), "status": "inbox",
            "confidence": 0.5, "importance": 0.25, "trust": "user", "entities": [], "valid_from": at,
            "reaffirmed_at": at, "valid_to": None, "superseded_by": None, "now": NOW, "archive_reason": None,
        } | fields  # fmt: skip
        self.sql(
            "INSERT INTO slowwave.memories (id, scope_id, type, content, content_hash, status, confidence, importance,"
            " trust, entities, valid_from, reaffirmed_at, valid_to, superseded_by, recorded_at, archive_reason, search)"
            " SELECT :id, k.id, :type, :content, :hash, :status, :confidence, :importance, :trust, :entities,"
            " :valid_from, :reaffirmed_at, :valid_to, :superseded_by, :now, :archive_reason,"
            " slowwave.memory_search_vector(k.id, :content, :valid_from, :entities) FROM slowwave.scopes k",
            **values,
        )
        self.sql(
            "INSERT INTO slowwave.memory_sources"
            " (memory_id, session_id, seq, confidence, importance, trust, holds_from)"
            " SELECT :memory, s.id, :seq, :confidence, :importance, :trust, :at FROM slowwave.sessions s",
            memory=memory, seq=number + 1, confidence=values["confidence"], importance=values["importance"],
            trust=values["trust"], at=values["valid_from"],
        )  # fmt: skip
        return memory

    def summarise(self, day: date, said: str, version: int = 3) -> None:
        self.sql(
            "INSERT INTO slowwave.day_summaries (agent_id, scope_id, day, version, final, messages, segments, text,"
            " lines, made_by, summarizer, created_at) SELECT a.id, k.id, :day, :version, true, 7, 1, :said,"
            " CAST(:lines AS jsonb), 'rules', 'rules/1', :now FROM slowwave.agents a, slowwave.scopes k",
            day=day, version=version, said=said, now=NOW,
            lines=json.dumps([{"facet": "said", "text": said, "session": "x", "seq": 1, "weight": 0.1}]),
        )  # fmt: skip

    def fill(self) -> None:
        """All types, statuses and trusts, nasty texts, ends and supersessions, days with summaries."""
        self.make()
        number = 0
        last = None
        for kind in TYPES:
            for status in STATUSES:
                number += 1
                last = self.remember(
                    number,
                    f"{TEXTS[number % len(TEXTS)]} {kind} {number}",
                    type=kind,
                    status=status,
                    archive_reason="expired" if status == "archived" else None,
                    confidence=number / 97,
                    importance=(number * 7 % 31) / 31,
                    trust=TRUSTS[number % len(TRUSTS)],
                    entities=["Maya", "-->"][: number % 3],
                    reaffirmed_at=START + timedelta(hours=7 * number, days=number % 4),
                    valid_to=NOW if number % 3 == 0 else None,
                    superseded_by=last if number % 3 == 0 else None,
                )
        self.summarise(date(2026, 3, 2), "### Wanted\n\n- Maya asked <!-- slowwave end --> twice\n")
        self.summarise(date(2026, 3, 25), "On a day without a memory.")

    def empty(self) -> None:
        """As if nothing had ever been here."""
        self.sql(emptying("agents", "scopes"))


def files(root: Path, *, manifest: bool = False) -> dict[str, bytes]:
    """Every file below a folder, by its path."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and (manifest or path.name != ".slowwave.json")
    }
