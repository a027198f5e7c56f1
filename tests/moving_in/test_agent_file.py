"""A whole agent goes to a file and comes back: the same rows, found and undone as before; a bad file writes nothing."""

import json
import shutil
import zipfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, text

from slowwave import Memory
from slowwave.errors import SlowwaveError
from slowwave.settings import Settings
from slowwave_server.models import Base
from slowwave_server.models.engine import make_engine
from slowwave_server.services.memories.use import learn_from_use
from slowwave_server.services.moving_in.agent_export import export_agent
from slowwave_server.services.moving_in.agent_file import BadAgentFile, open_file, read_manifest, rows_of
from slowwave_server.services.moving_in.agent_import import AgentImport, import_agent
from slowwave_server.services.moving_in.agent_tables import TABLES
from slowwave_server.services.undo.checks import CannotUndo
from slowwave_server.services.undo.undo import undo
from tests.moving_in.moving import House
from tests.support.clones import Clones
from tests.support.forgetting import dump_tables
from tests.support.passing import Past

pytestmark = pytest.mark.servers

NOW = datetime(2025, 6, 1, tzinfo=UTC)
OWNERS = {"agent_id", "memory_id", "scope_id", "session_id"}
NOT_EXPORTED = {
    "made again by workers": ("common_terms", "memory_vectors", "passage_vectors", "vector_progress"),
    "work under way": ("window_answers", "rebuilds", "rebuild_evidence", "rebuild_windows"),
    "of this installation": ("memory_files", "memory_file_lines", "outbox", "source_runs", "webhook_deliveries"),
    "for undos and the feed of this database": ("undone_rows", "memory_tombstones"),
    "receipts of forgets": ("erasures",),
}


@pytest.fixture
def past(house: House) -> Past:
    """An agent with conversations, notes, passes, an open question, used memories, and a run that was undone."""
    past = Past(house.engine, agent="maya")
    tea, coffee = past.say("Maya prefers tea."), past.say("Maya prefers coffee.", session="tuesday")
    rows, paddles = past.say("Maya rows."), past.say("Maya paddles.")
    past.note("Maya's boat is called Halcyon.")
    with past.run("light") as step:
        step.link(tea, rows)
        step.merge(paddles, rows)
        step.triple(rows, "Maya", "does", "rowing")
        conflict = step.conflict(coffee, tea)
        step.ask(conflict=conflict)
    with past.run("light") as step:
        step.set(tea, "promoted", status="active")
    undo(house.engine, "default", step.id, by="test", now=NOW)
    house.scene.say("friday", "Maya bought a new oar, oars wear out.", agent="maya")
    house.flush_all("friday")
    with house.engine.begin() as connection:
        ids = {"tea": [tea], "both": [tea, coffee]}
        connection.execute(text("SELECT slowwave.use_memories('default', 'maya', :tea, 'tuesday')"), ids)
        connection.execute(text("SELECT slowwave.show_memories('default', 'maya', 'friday', :both, now())"), ids)
    assert learn_from_use(house.engine, on=True, now=NOW) == 1
    return past


@pytest.fixture
def elsewhere(clones: Clones) -> Iterator[Engine]:
    with clones.one() as url:
        engine = make_engine(url)
        yield engine
        engine.dispose()


def sent(house: House, tmp_path: Path) -> Path:
    file = tmp_path / "maya.zip"
    export_agent(house.engine, "default", "maya", file, now=NOW)
    return file


def read(engine: Engine, file: Path, name: str | None = None, tenant: str = "default") -> AgentImport:
    return import_agent(engine, tenant, file, name=name, by="test", now=NOW)


def plain_rows(file: Path, *, ids: bool = True) -> dict[str, list[str]]:
    """The rows of a file without the numbers of its installation."""
    found = {}
    with open_file(file) as archive:
        manifest = read_manifest(archive)
        for table in TABLES:
            numbers = {"id"} if not table.keeps_id else set()
            numbers |= {name for name, _ in table.numbers} | {"before", "after"}
            numbers |= set(table.later) if table.numbered else set()
            numbers |= set() if ids else {*table.uuids, *table.later}
            rows = []
            for row in rows_of(archive, manifest, table.name):
                if table.name == "maintenance_runs" and row["kind"] == "import":
                    continue
                kept = {name: value for name, value in row.items() if name not in numbers}
                if "search" in kept:
                    kept["search"] = kept["search"].replace(f"'{manifest.scope}:", "'0:")
                rows.append(json.dumps(kept, sort_keys=True))
            found[table.name] = sorted(rows)
    return found


def test_every_row_comes_back_in_another_installation(
    house: House, past: Past, elsewhere: Engine, tmp_path: Path
) -> None:
    file = sent(house, tmp_path)
    with elsewhere.begin() as connection:
        connection.execute(text("INSERT INTO slowwave.scopes (tenant, kind, name) VALUES ('x', 'room', 'y')"))
    report = read(elsewhere, file)
    assert not report.renamed
    assert report.rows["memories"] == house.count("memories")
    again = tmp_path / "again.zip"
    export_agent(elsewhere, "default", "maya", again, now=NOW)
    before, after = plain_rows(file), plain_rows(again)
    assert {name for name, rows in before.items() if rows} >= {
        "sessions", "events", "memories", "memory_sources", "memory_uses", "memory_links", "memory_conflicts",
        "review_items", "triples", "memory_changes", "maintenance_runs", "working_memory", "flushes", "passages",
        "session_days",
    }  # fmt: skip
    assert after == before
    with pytest.raises(CannotUndo, match="slowwave agent forget NAME"):
        undo(elsewhere, "default", report.run or 0, by="test", now=NOW)


def test_twice_adds_nothing(house: House, past: Past, elsewhere: Engine, tmp_path: Path) -> None:
    file = sent(house, tmp_path)
    read(elsewhere, file)
    before = dump_tables(elsewhere)
    assert read(elsewhere, file).run is None
    assert dump_tables(elsewhere) == before


def test_agent_that_has_something_is_not_mixed(house: House, past: Past, tmp_path: Path) -> None:
    file = sent(house, tmp_path)
    before = dump_tables(house.engine)
    with pytest.raises(SlowwaveError, match="--as NAME"):
        read(house.engine, file)
    assert dump_tables(house.engine) == before


def test_copy_beside_the_original_gets_ids_of_its_own(house: House, past: Past, tmp_path: Path) -> None:
    file = sent(house, tmp_path)
    report = read(house.engine, file, "maya2", tenant="other")
    assert report.renamed
    copy = tmp_path / "copy.zip"
    export_agent(house.engine, "other", "maya2", copy, now=NOW)
    assert plain_rows(copy, ids=False) == plain_rows(file, ids=False)
    assert read(house.engine, file, "maya2", tenant="other").run is None


def test_imported_agent_is_searched_and_its_runs_undone(
    house: House, past: Past, clones: Clones, tmp_path: Path
) -> None:
    file = sent(house, tmp_path)
    with clones.one() as url:
        engine = make_engine(url)
        read(engine, file)
        settings: Settings = house.settings.model_copy(update={"database_url": url})
        with Memory(settings) as memory:
            texts = [hit.content for hit in memory.search("maya", "new oar")]
        assert any("oar" in found for found in texts)
        with engine.connect() as connection:
            run = connection.execute(
                text("SELECT min(id) FROM slowwave.maintenance_runs WHERE kind = 'light' AND status = 'completed'")
            ).scalar_one()
            paddles = text("SELECT status FROM slowwave.memories WHERE content = 'Maya paddles.'")
            assert connection.execute(paddles).scalar() == "archived"
        undo(engine, "default", run, by="test", now=datetime.now(UTC))
        with engine.connect() as connection:
            assert connection.execute(paddles).scalar() == "inbox"
        engine.dispose()


def changed(file: Path, tmp_path: Path, change: Callable[[str, list[dict[str, Any]]], list[dict[str, Any]]]) -> Path:
    """The file with rows changed, and its checksums right: made by somebody who knows the format."""
    other = tmp_path / "changed.zip"
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(other, "w") as new:
        manifest = json.loads(old.read("manifest.json"))
        for name in manifest["tables"]:
            raw = old.read(f"tables/{name}.jsonl")
            rows = change(name, [json.loads(line) for line in raw.splitlines()])
            data = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
            manifest["tables"][name] = {"rows": len(rows), "sha256": sha256(data).hexdigest()}
            new.writestr(f"tables/{name}.jsonl", data)
        new.writestr("manifest.json", json.dumps(manifest))
    return other


def with_first(table: str, **fields: Any) -> Callable[[str, list[dict[str, Any]]], list[dict[str, Any]]]:
    def change(name: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [rows[0] | fields, *rows[1:]] if name == table and rows else rows

    return change


FOREIGN = "0199aaaa-0000-7000-8000-000000000001"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (with_first("memory_sources", memory_id=FOREIGN), "names a memory that is not of this agent"),
        (with_first("memory_changes", memory_id=FOREIGN), "names a memory that is not of this agent"),
        (with_first("memories", superseded_by=FOREIGN), "names a memory that is not of this agent"),
        (with_first("events", session_id=999_999), "names a row of sessions that the file does not hold"),
        (with_first("sessions", scope_id=1), "has no column 'scope_id'"),
        (with_first("sessions", import_run=1), "has no column 'import_run'"),
        (with_first("maintenance_runs", tenant="other"), "has no column 'tenant'"),
        (with_first("sessions", id="1; DROP"), "an id that is not a number"),
        (with_first("memories", id=7), "an id must be a UUID"),
        (with_first("memories", status="great"), "can't be stored"),
        (with_first("memories", confidence="NaN"), "can't be stored"),
    ],
)
def test_forged_row_writes_nothing(
    house: House, past: Past, elsewhere: Engine, tmp_path: Path, change: Any, sentence: str
) -> None:
    forged = changed(sent(house, tmp_path), tmp_path, change)
    with elsewhere.begin() as connection:
        scope = connection.execute(
            text("INSERT INTO slowwave.scopes (tenant, kind, name) VALUES ('x', 'room', 'y') RETURNING id")
        ).scalar_one()
        connection.execute(
            text(
                "INSERT INTO slowwave.memories (id, scope_id, type, content, content_hash, confidence, importance,"
                " trust, valid_from, reaffirmed_at, recorded_at, search)"
                " VALUES (:id, :scope, 'fact', 'x', 'x', 1, 1, 'user', now(), now(), now(), '')"
            ),
            {"id": FOREIGN, "scope": scope},
        )
    before = dump_tables(elsewhere)
    with pytest.raises(BadAgentFile, match=sentence):
        read(elsewhere, forged)
    assert dump_tables(elsewhere) == before


def damaged(file: Path, how: str) -> None:
    if how == "no zip":
        file.write_bytes(b"PK nothing")
    elif how == "cut off":
        file.write_bytes(file.read_bytes()[:-40])
    else:
        with zipfile.ZipFile(file) as old:
            members = {name: old.read(name) for name in old.namelist()}
        if how == "row changed":
            members["tables/memories.jsonl"] = members["tables/memories.jsonl"].replace(b"tea", b"gin")
        elif how == "no manifest":
            del members["manifest.json"]
        elif how == "newer version":
            members["manifest.json"] = members["manifest.json"].replace(b'"version": 1', b'"version": 2')
        elif how == "newer schema":
            members["manifest.json"] = members["manifest.json"].replace(b'"schema": "0', b'"schema": "9')
        with zipfile.ZipFile(file, "w") as new:
            for name, data in members.items():
                new.writestr(name, data)


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ("no zip", "is not an export of an agent"),
        ("cut off", "is not an export of an agent"),
        ("row changed", "its checksum differs"),
        ("no manifest", "manifest.json is missing"),
        ("newer version", "the file says 'slowwave-agent', version 2"),
        ("newer schema", "upgrade this installation first"),
    ],
)
def test_damaged_file_is_refused(
    house: House, past: Past, elsewhere: Engine, tmp_path: Path, how: str, sentence: str
) -> None:
    file = tmp_path / "damaged.zip"
    shutil.copy(sent(house, tmp_path), file)
    damaged(file, how)
    with pytest.raises(BadAgentFile, match=sentence):
        read(elsewhere, file)
    with elsewhere.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM slowwave.agents")).scalar() == 0


def test_export_is_its_owners_alone(house: House, past: Past, tmp_path: Path) -> None:
    file = sent(house, tmp_path)
    assert file.stat().st_mode & 0o777 == 0o600
    with pytest.raises(SlowwaveError, match="has no agent 'nobody'"):
        export_agent(house.engine, "default", "nobody", tmp_path / "x.zip", now=NOW)
    assert [path.name for path in tmp_path.iterdir() if path.suffix != ".zip"] in ([], ["spool"])


def test_each_table_of_an_agent_is_exported_or_has_a_reason() -> None:
    owned = {table.name for table in Base.metadata.tables.values() if OWNERS & set(table.columns.keys())}
    left_out = {name for names in NOT_EXPORTED.values() for name in names}
    assert owned - {table.name for table in TABLES} == left_out
