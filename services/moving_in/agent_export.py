"""Export a whole agent to a file: one read of the database, row by row, in one snapshot."""

import os
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from uuid import uuid4

from sqlalchemy import Connection, Engine, text

from slowwave_server.models.driver import head_revision
from slowwave_server.services.lookup import UnknownName, find_scope
from slowwave_server.services.moving_in.agent_file import (
    FORMAT,
    VERSION,
    AgentPart,
    Manifest,
    write_manifest,
    write_table,
)
from slowwave_server.services.moving_in.agent_tables import TABLES, Table

_BATCH = 500
_AGENT = text(
    "SELECT a.id, a.time_zone, a.cutoff_hour FROM slowwave.agents a WHERE a.tenant = :tenant AND a.name = :name"
)
_ELSEWHERE = text("SELECT count(*) FROM slowwave.sessions s WHERE s.agent_id = :agent AND s.scope_id <> :scope")


@dataclass(frozen=True, slots=True)
class AgentExport:
    """Counts of an export. rows: by table; elsewhere: sessions in rooms and teams, which are not exported."""

    agent: str
    file: str
    bundle: str
    size_bytes: int
    rows: dict[str, int]
    elsewhere: int


def export_agent(engine: Engine, tenant: str, name: str, file: Path, *, now: datetime) -> AgentExport:
    """Write an agent to a new file, which only its owner may read. Raises UnknownName, OSError.

    The file appears complete or not at all; it replaces a file of the same name.
    """
    with engine.connect().execution_options(isolation_level="REPEATABLE READ") as connection, connection.begin():
        connection.execute(text("SET TRANSACTION READ ONLY"))
        connection.execute(text("SELECT set_config('statement_timeout', '0', true)"))
        agent = connection.execute(_AGENT, {"tenant": tenant, "name": name}).first()
        scope_id = find_scope(connection, tenant, "agent", name)
        if agent is None or scope_id is None:
            raise UnknownName(f"tenant {tenant!r} has no agent {name!r}; `slowwave agent list` lists them")
        about = AgentPart(name=name, time_zone=agent.time_zone, cutoff_hour=agent.cutoff_hour)
        which = {"agent": agent.id, "scope": scope_id}
        bundle, rows = _write(connection, file, about, which, now)
        elsewhere = int(connection.execute(_ELSEWHERE, which).scalar_one())
    return AgentExport(name, str(file), bundle, file.stat().st_size, rows, elsewhere)


def _write(
    connection: Connection, file: Path, about: AgentPart, which: dict[str, int], now: datetime
) -> tuple[str, dict[str, int]]:
    beside = file.with_name(f"{file.name}.{uuid4().hex[:8]}.part")
    descriptor = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with (
            os.fdopen(descriptor, "w+b") as raw,
            zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive,
        ):
            parts = {table.name: write_table(archive, table.name, _rows(connection, table, which)) for table in TABLES}
            manifest = Manifest(
                format=FORMAT,
                version=VERSION,
                bundle=uuid4().hex,
                exported_at=now.isoformat(),
                schema=head_revision(),
                agent=about,
                scope=which["scope"],
                tables=parts,
            )
            write_manifest(archive, manifest)
        beside.replace(file)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise
    return manifest.bundle, {name: part.rows for name, part in parts.items() if part.rows}


def _rows(connection: Connection, table: Table, which: dict[str, int]) -> Iterator[str]:
    dropped = "".join(f" - '{name}'" for name in ("agent_id", "scope_id", *table.dropped))
    query = text(
        f"SELECT CAST(to_jsonb(t){dropped} AS text) AS row FROM slowwave.{table.name} t"
        f" WHERE {table.which} ORDER BY {table.order}"
    )
    found = connection.execution_options(stream_results=True, yield_per=_BATCH).execute(query, which)
    yield from found.scalars()
