"""Import a whole agent from a file into an agent without data, in one transaction.

Numbers of rows are new here. Ids of memories and notes stay, unless the database already has some of them: all ids are
then replaced by others, the same for the same file and agent. No row can refer to a memory or a session of somebody
else: numbers are looked up among those of the file, and existing ids of others are refused.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5
from zipfile import ZipFile
from zoneinfo import available_timezones

from psycopg.errors import InsufficientPrivilege
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DataError, IntegrityError, ProgrammingError

from slowwave.errors import SlowwaveError
from slowwave.identity import check_name
from slowwave_server.models import Base
from slowwave_server.models.driver import head_revision
from slowwave_server.services.moving_in.agent_file import BadAgentFile, Manifest, open_file, read_manifest, rows_of
from slowwave_server.services.moving_in.agent_rows import Translation, uuid_of
from slowwave_server.services.moving_in.agent_tables import TABLES, Table
from slowwave_server.services.runs.store import LEASE_SECONDS, finish_run, start_run

BATCH = 500
_IDS = text("SELECT nextval(pg_get_serial_sequence(:table, 'id')) FROM generate_series(1, :count)")
_AGENT = text(
    "INSERT INTO slowwave.agents (tenant, name, time_zone, cutoff_hour) VALUES (:tenant, :name, :zone, :cutoff)"
    " ON CONFLICT (tenant, name) DO UPDATE SET name = excluded.name RETURNING id"
)
_SCOPE = text(
    "INSERT INTO slowwave.scopes (tenant, kind, name) VALUES (:tenant, 'agent', :name)"
    " ON CONFLICT (tenant, kind, name) DO UPDATE SET name = excluded.name RETURNING id"
)
_BEFORE = text(
    "SELECT r.id FROM slowwave.maintenance_runs r WHERE r.scope_id = :scope AND r.kind = 'import'"
    " AND r.stats ->> 'bundle' = :bundle ORDER BY r.id LIMIT 1"
)
_USED = text(
    "SELECT EXISTS (SELECT FROM slowwave.sessions WHERE agent_id = :agent)"
    " OR EXISTS (SELECT FROM slowwave.memories WHERE scope_id = :scope)"
    " OR EXISTS (SELECT FROM slowwave.working_memory WHERE agent_id = :agent)"
)
_TAKEN = text(
    "SELECT EXISTS (SELECT FROM slowwave.memories WHERE id = ANY(:ids))"
    " OR EXISTS (SELECT FROM slowwave.working_memory WHERE id = ANY(:ids))"
)
_FOREIGN = text(
    "SELECT EXISTS (SELECT FROM slowwave.memories WHERE id = ANY(:ids) AND scope_id <> :scope)"
    " OR EXISTS (SELECT FROM slowwave.working_memory WHERE id = ANY(:ids) AND scope_id <> :scope)"
)
_OURS = frozenset(("agent_id", "scope_id"))


@dataclass(frozen=True, slots=True)
class AgentImport:
    """Counts of an import. run: None if this file was imported here before; renamed: ids were replaced."""

    agent: str
    bundle: str
    run: int | None
    rows: dict[str, int]
    renamed: bool = False


def import_agent(engine: Engine, tenant: str, file: Path, *, name: str | None, by: str, now: datetime) -> AgentImport:
    """Import an agent. name: a new name, or None to keep its name. Raises BadAgentFile, SlowwaveError, OSError; nothing
    is then written.

    A repeated import of the same file into the same agent changes nothing.
    """
    with open_file(file) as archive:
        manifest = read_manifest(archive)
        if manifest.schema_ > head_revision():
            raise BadAgentFile(
                f"the file was made by a newer version (schema {manifest.schema_}, this one is {head_revision()}):"
                " upgrade this installation first"
            )
        agent = check_name("agent", name or manifest.agent.name)
        try:
            with engine.execution_options(isolation_level="READ COMMITTED").begin() as connection:
                connection.execute(text("SELECT set_config('statement_timeout', '0', true)"))
                return _Reading(connection, archive, manifest, tenant, agent).read(by, now)
        except (IntegrityError, DataError, ProgrammingError) as error:
            if isinstance(error.orig, InsufficientPrivilege):
                raise
            diagnosis = getattr(error.orig, "diag", None)
            what = getattr(diagnosis, "message_primary", None) or type(error.orig).__name__
            raise BadAgentFile(f"the file holds a row that can't be stored: {what}; nothing was written") from None


@dataclass
class _Reading:
    connection: Connection
    archive: ZipFile
    manifest: Manifest
    tenant: str
    agent: str
    agent_id: int = 0
    scope_id: int = 0

    @cached_property
    def translation(self) -> Translation:
        return Translation(self.manifest.scope, self.scope_id)

    def read(self, by: str, now: datetime) -> AgentImport:
        """Import all tables, and record a run."""
        self._enter()
        known = self.connection.execute(_BEFORE, {"scope": self.scope_id, "bundle": self.manifest.bundle}).scalar()
        if known is not None:
            return AgentImport(self.agent, self.manifest.bundle, None, {})
        if self.connection.execute(_USED, {"agent": self.agent_id, "scope": self.scope_id}).scalar():
            raise SlowwaveError(
                f"agent {self.agent!r} has conversations or memories already: import as another with --as NAME, or"
                f" forget it first with `slowwave agent forget {self.agent}`"
            )
        if self._is_taken():
            self.translation.renaming = uuid5(UUID(self.manifest.bundle), f"{self.tenant}/{self.agent}")
        rows = {table.name: self._table(table) for table in TABLES}
        for table in TABLES:
            if table.later:
                self._refer(table)
        rows = {table: number for table, number in rows.items() if number}
        run = self._note(rows, by, now)
        return AgentImport(self.agent, self.manifest.bundle, run, rows, self.translation.renaming is not None)

    def _enter(self) -> None:
        about = self.manifest.agent
        zone = about.time_zone if about.time_zone in available_timezones() else "UTC"
        who = {"tenant": self.tenant, "name": self.agent}
        self.agent_id = self.connection.execute(_AGENT, who | {"zone": zone, "cutoff": about.cutoff_hour}).scalar_one()
        self.scope_id = self.connection.execute(_SCOPE, who).scalar_one()

    def _is_taken(self) -> bool:
        """Return True if the database has any of the ids."""
        return any(
            self.connection.execute(_TAKEN, {"ids": [uuid_of(row.get("id")) for row in batch]}).scalar()
            for name in ("memories", "working_memory")
            for batch in self._batches(name)
        )

    def _batches(self, name: str) -> Iterator[list[dict[str, Any]]]:
        batch: list[dict[str, Any]] = []
        for row in rows_of(self.archive, self.manifest, name):
            batch.append(row)
            if len(batch) >= BATCH:
                yield batch
                batch = []
        if batch:
            yield batch

    def _table(self, table: Table) -> int:
        described = Base.metadata.tables[f"slowwave.{table.name}"].columns
        known = {str(column.name) for column in described} - set(table.dropped) - _OURS
        count = 0
        for batch in self._batches(table.name):
            fresh = self._fresh(table, len(batch))
            for row in batch:
                if unknown := row.keys() - known:
                    raise BadAgentFile(f"table {table.name} has no column {min(unknown)[:60]!r}")
            rows = [self.translation.row(table, row, fresh) for row in batch]
            self._refuse_foreign(table, rows)
            ours = {"agent_id": self.agent_id, "scope_id": self.scope_id}
            ours = {name: value for name, value in ours.items() if name in described}
            names = [name for name in known if name in batch[0] and name not in table.later]
            if not (table.numbered or table.keeps_id):
                names = [name for name in names if name != "id"]
            self._insert(table, [row | ours for row in rows], [*names, *ours])
            count += len(rows)
        return count

    def _fresh(self, table: Table, count: int) -> Iterator[int]:
        if not table.numbered:
            return iter(())
        values = {"table": f"slowwave.{table.name}", "count": count}
        return iter(list(self.connection.execute(_IDS, values).scalars()))

    def _insert(self, table: Table, rows: list[dict[str, Any]], names: list[str]) -> None:
        columns = ", ".join(sorted(names))
        statement = text(
            f"INSERT INTO slowwave.{table.name} ({columns}) OVERRIDING SYSTEM VALUE SELECT {columns}"
            f" FROM jsonb_populate_recordset(CAST(NULL AS slowwave.{table.name}), CAST(:rows AS jsonb))"
        )
        self.connection.execute(statement, {"rows": json.dumps(rows)})

    def _refuse_foreign(self, table: Table, rows: list[dict[str, Any]]) -> None:
        ids = [uuid_of(row[name]) for row in rows for name in table.uuids if row.get(name) is not None]
        if ids and self.connection.execute(_FOREIGN, {"ids": ids, "scope": self.scope_id}).scalar():
            raise BadAgentFile(f"table {table.name} names a memory that is not of this agent")

    def _refer(self, table: Table) -> None:
        """Write the columns of a table that refer to the table itself."""
        key = "uuid" if table.keeps_id else "bigint"
        for batch in self._batches(table.name):
            rows = []
            for row in batch:
                found = {name: row.get(name) for name in ("id", *table.later)}
                told = {name: self.translation.reference(table, value) for name, value in found.items()}
                rows += [told] if any(told[name] is not None for name in table.later) else []
            if not rows:
                continue
            if table.keeps_id:
                self._refuse_foreign(table, rows)
            columns = ", ".join(f"{name} = r.{name}" for name in table.later)
            shape = ", ".join(f"{name} {key}" for name in ("id", *table.later))
            statement = text(
                f"UPDATE slowwave.{table.name} AS t SET {columns}"
                f" FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS r ({shape})"
                " WHERE t.id = r.id AND t.scope_id = :scope"
            )
            self.connection.execute(statement, {"rows": json.dumps(rows), "scope": self.scope_id})

    def _note(self, rows: Mapping[str, int], by: str, now: datetime) -> int:
        run = start_run(
            self.connection, kind="import", now=now, lease_seconds=LEASE_SECONDS, scope_id=self.scope_id, by=by
        )
        told = ", ".join(f"{rows.get(name, 0):,} {name}" for name in ("sessions", "events", "memories"))
        stats = {"bundle": self.manifest.bundle, "agent": self.manifest.agent.name, **rows}
        finish_run(self.connection, run, status="completed", summary=f"imported an agent: {told}", stats=stats, now=now)
        return run.id
