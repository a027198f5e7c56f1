"""What tests of the file backend share: one scope that hears statements, its folder, deliveries, somebody's editor."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

from sqlalchemy import Engine

from slowwave_server.domain.memory_files import parse_document
from slowwave_server.services.memories.changes import Author, Ledger, change_memory
from slowwave_server.services.memory_files.backends import choose_backend
from slowwave_server.services.memory_files.delivery import DeliveryReport, FileRules, deliver
from slowwave_server.services.memory_files.disk import Disk
from slowwave_server.services.runs.store import finish_run, start_run
from tests.support.consolidating import NOW, Hearer

CURATED = "MEMORY.md"


@dataclass
class Cabinet:
    """The files of one agent named maya. `hearer` hears, `write` and its kin are somebody's editor."""

    engine: Engine
    root: Path
    disk: Disk = field(default_factory=Disk)
    append_only: bool = True

    def __post_init__(self) -> None:
        self.hearer = Hearer(self.engine)
        choose_backend(self.engine, "file", NOW)

    @property
    def folder(self) -> Path:
        return self.root / "default" / "agent" / "maya"

    def deliver(self, **more: Any) -> DeliveryReport:
        rules = FileRules(self.root, self.append_only)
        return deliver(
            self.engine, self.hearer.scope_id, rules=rules, disk=self.disk, now=self.hearer.now, by="test", **more
        )

    def files(self) -> dict[str, bytes]:
        found = sorted(path for path in self.folder.rglob("*") if path.is_file())
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in found}

    def read(self, path: str) -> str:
        return (self.folder / path).read_text(encoding="utf-8")

    def write(self, path: str, text: str) -> None:
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_text(text, encoding="utf-8")

    def replace(self, path: str, old: str, new: str) -> None:
        text = self.read(path)
        assert old in text, text
        self.write(path, text.replace(old, new))

    def drop_line(self, path: str, containing: str) -> None:
        lines = self.read(path).splitlines(keepends=True)
        kept = [line for line in lines if containing not in line]
        assert len(kept) < len(lines)
        self.write(path, "".join(kept))

    def add_line(self, path: str, text: str) -> None:
        self.write(path, self.read(path) + f"- {text}\n")

    def age_files(self) -> None:
        """A minute passes for the file system."""
        for path in self.folder.rglob("*.md"):
            then = path.stat().st_mtime - 60
            os.utime(path, (then, then))

    def lines(self, path: str) -> dict[str, str]:
        """The statements of a file with their status, by their marks."""
        entries = parse_document(self.read(path)).entries
        return {entry.memory.content: entry.memory.status for entry in entries if entry.memory is not None}

    def change(self, memory: UUID, **fields: Any) -> None:
        """A pass decides something."""
        with self.engine.begin() as connection:
            run = start_run(connection, kind="other", now=self.hearer.now, lease_seconds=60)
            revision = self.hearer.memory(memory).revision
            author = Author(run.id, "test")
            change_memory(
                Ledger(connection, author, self.hearer.now), memory, revision, fields, action="x", reason="test"
            )
            finish_run(connection, run, status="completed", summary="", stats={}, now=self.hearer.now)

    def memories(self) -> dict[str, str]:
        rows = self.hearer.sql("SELECT content, status, archive_reason FROM slowwave.memories")
        return {row.content: row.archive_reason or row.status for row in rows}

    def named(self, content: str) -> Any:
        return self.hearer.sql("SELECT * FROM slowwave.memories WHERE content = :c", c=content)[0]

    def conflicts(self) -> set[frozenset[str]]:
        rows = self.hearer.sql(
            "SELECT a.content AS a, b.content AS b FROM slowwave.memory_conflicts c"
            " JOIN slowwave.memories a ON a.id = c.memory_id JOIN slowwave.memories b ON b.id = c.conflicting_memory_id"
            " WHERE c.status = 'open'"
        )
        return {frozenset((row.a, row.b)) for row in rows}
