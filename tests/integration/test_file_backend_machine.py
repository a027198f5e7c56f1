"""Any order of what is heard, decided by passes, edited by hand and delivered, with crashes at any step of a delivery.

At rest: what lives stands in the files where it belongs, everything that a person wrote can still be read as a memory
or in a file, and a further delivery changes no byte. Invariants: I2, I6. Mistakes: 26, 27.
"""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine

from slowwave_server.domain.memory_files import parse_document
from slowwave_server.services.memories.changes import Author, Ledger
from slowwave_server.services.memories.merging import merge_into
from slowwave_server.services.memory_files.disk import Disk
from slowwave_server.services.runs.store import finish_run, start_run
from tests.support.emptying import emptying
from tests.support.filing import CURATED, Cabinet

pytestmark = pytest.mark.servers

TABLES = (
    "memory_file_lines",
    "memory_files",
    "outbox",
    "memory_backends",
    "memory_imports",
    "review_items",
    "memory_conflicts",
    "memory_links",
    "memory_changes",
    "memory_sources",
    "memory_blocks",
    "maintenance_runs",
    "memories",
    "sessions",
    "scopes",
    "agents",
)
STEPS = ("hear", "again", "promote", "archive", "reword", "merge", "edit", "drop", "type", "prose", "unmark", "deliver")


class Crash(BaseException):
    """The process dies."""


class MortalDisk(Disk):
    """Dies before or after its n-th write."""

    dies_in: int | None = None
    dies_after = False

    def write(self, path: Path, data: bytes, expected: bytes | None) -> None:
        if self.dies_in is not None:
            self.dies_in -= 1
        dying = self.dies_in == 0
        if dying and not self.dies_after:
            raise Crash
        super().write(path, data, expected)
        if dying:
            raise Crash


class Life:
    """One run of the machine. written: all texts that a person ever wrote, unless they took them back themselves."""

    def __init__(self, engine: Engine, root: Path, seed: int) -> None:
        with engine.begin() as connection:
            connection.exec_driver_sql(emptying(*TABLES))
        self.disk = MortalDisk()
        self.cabinet = Cabinet(engine, root, self.disk)
        self.random = random.Random(seed)  # noqa: S311 (no secret)
        self.written: set[str] = set()
        self.count = 0

    def new_text(self, what: str) -> str:
        self.count += 1
        return f"Maya {what} number {self.count}"

    def pick(self, condition: str) -> Any:
        rows = self.cabinet.hearer.sql(f"SELECT * FROM slowwave.memories WHERE {condition} ORDER BY id")
        return self.random.choice(rows) if rows else None

    def hear(self) -> None:
        self.cabinet.hearer.hear(self.new_text("owns thing"), days_ago=self.random.choice([30, 31]))

    def again(self) -> None:
        if row := self.pick("status <> 'archived'"):
            self.cabinet.hearer.hear(row.content, session=f"s{self.random.randrange(9)}", type=row.type)

    def promote(self) -> None:
        if row := self.pick("status = 'inbox'"):
            self.cabinet.change(row.id, status="active")

    def archive(self) -> None:
        if row := self.pick("status <> 'archived'"):
            self.cabinet.change(row.id, status="archived", archive_reason="test")

    def reword(self) -> None:
        if row := self.pick("status <> 'archived' AND trust <> 'hand'"):
            self.cabinet.change(row.id, content=self.new_text("is said to own thing"))

    def merge(self) -> None:
        part, into = self.pick("status <> 'archived'"), self.pick("status <> 'archived'")
        if part is None or part.id == into.id:
            return
        now = self.cabinet.hearer.now
        with self.cabinet.engine.begin() as connection:
            run = start_run(connection, kind="other", now=now, lease_seconds=60)
            merge_into(Ledger(connection, Author(run.id), now), part.id, part.revision, into.id, reason="test")
            finish_run(connection, run, status="completed", summary="", stats={}, now=now)

    def lines(self) -> list[tuple[str, str]]:
        """(path, text) of all lines of memories."""
        found = []
        for path in self.disk.paths(self.cabinet.folder):
            entries = parse_document(self.cabinet.read(path)).entries
            found += [(path, entry.raw.rstrip("\n")) for entry in entries if entry.memory is not None]
        return found

    def edit(self) -> None:
        if lines := self.lines():
            path, line = self.random.choice(lines)
            said, mark = line.split(" <!-- ", 1)
            new = self.new_text("wrote that she owns thing")
            self.written.discard(said.removeprefix("- "))
            self.written.add(new)
            self.cabinet.replace(path, line, f"- {new} <!-- {mark}")

    def drop(self) -> None:
        if lines := self.lines():
            path, line = self.random.choice(lines)
            self.written.discard(line.split(" <!-- ")[0].removeprefix("- "))
            self.cabinet.replace(path, f"{line}\n", "")

    def type(self) -> None:
        path = self.random.choice([CURATED, *self.disk.paths(self.cabinet.folder)])
        new = self.new_text("noted thing")
        self.written.add(new)
        before = self.cabinet.read(path) if (self.cabinet.folder / path).exists() else ""
        self.cabinet.write(path, f"{before}- {new}\n")

    def prose(self) -> None:
        if paths := self.disk.paths(self.cabinet.folder):
            path = self.random.choice(paths)
            new = self.new_text("has a story")
            self.written.add(new)
            self.cabinet.write(path, f"{self.cabinet.read(path)}\n{new}, it goes.\n\n")

    def unmark(self) -> None:
        if lines := self.lines():
            path, line = self.random.choice(lines)
            self.cabinet.replace(path, line, line.split(" <!-- ")[0])

    def deliver(self) -> None:
        self.disk.dies_in = self.random.choice([None, None, 1, 2, 3])
        self.disk.dies_after = self.random.random() < 0.5
        try:
            assert self.cabinet.deliver(allow_removals=True).state == "current"
        except Crash:
            pass
        finally:
            self.disk.dies_in = None

    def rest(self) -> None:
        self.cabinet.deliver(allow_removals=True)
        files = self.cabinet.files()
        report = self.cabinet.deliver()
        assert (report.state, report.written, report.delivered, report.run) == ("current", 0, 0, None)
        assert self.cabinet.files() == files
        self._stands_where_it_belongs()
        texts = "\n".join(content.decode() for content in files.values())
        memories = {row.content for row in self.cabinet.hearer.sql("SELECT content FROM slowwave.memories")}
        assert {one for one in self.written if one not in memories and one not in texts} == set()

    def _stands_where_it_belongs(self) -> None:
        expected: dict[str, set[str]] = {}
        rows = self.cabinet.hearer.sql(
            "SELECT content, status, slowwave.local_day(valid_from, 'UTC', 0) AS day FROM slowwave.memories"
            " WHERE status <> 'archived'"
        )
        for row in rows:
            for path in {f"daily/{row.day}.md"} | ({CURATED} if row.status == "active" else set()):
                expected.setdefault(path, set()).add(row.content)
        found = {path: set(self.cabinet.lines(path)) for path in self.disk.paths(self.cabinet.folder)}
        assert {path: lines for path, lines in found.items() if lines} == expected


@pytest.mark.parametrize("runs", [4, pytest.param(10, marks=pytest.mark.long)])
def test_i6_nothing_that_a_person_wrote_is_lost_and_files_come_to_rest(
    engine: Engine, tmp_path_factory: pytest.TempPathFactory, runs: int
) -> None:
    @settings(max_examples=runs, phases=[Phase.explicit, Phase.reuse, Phase.generate])
    @given(steps=st.lists(st.sampled_from(STEPS), min_size=5, max_size=25), seed=st.integers(0, 2**32))
    def come_to_rest(steps: list[str], seed: int) -> None:
        life = Life(engine, tmp_path_factory.mktemp("files"), seed)
        for step in ["hear", "hear", "deliver", *steps]:
            action: Callable[[], None] = getattr(life, step)
            action()
        life.rest()

    come_to_rest()
