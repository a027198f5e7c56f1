"""The file of a whole agent: a zip with a manifest and one member per table, with one row per line, each with a
checksum.

manifest.json            {"format": "slowwave-agent", "version": 1, "bundle": …, "schema": "0127", "agent": {…},
"scope": 7, "tables": {"sessions": {"rows": 12, "sha256": "…"}, …}}
tables/sessions.jsonl    {"id": 4, "name": "monday", …}
"""

import json
import zipfile
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from slowwave.errors import SlowwaveError
from slowwave_server.services.moving_in.agent_tables import TABLES

FORMAT = "slowwave-agent"
VERSION = 1
MANIFEST = "manifest.json"
MAX_MANIFEST_BYTES = 1_000_000
MAX_LINE_BYTES = 64_000_000
MAX_RATIO = 500
_CHUNK = 1 << 20


class BadAgentFile(SlowwaveError):
    """The file is not an unchanged export of an agent; the message gives the reason. Nothing was written."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class TablePart(_Part):
    """The manifest's entry of one table."""

    rows: int = Field(ge=0)
    sha256: str


class AgentPart(_Part):
    """The manifest's entry of the agent."""

    name: str
    time_zone: str
    cutoff_hour: int = Field(ge=0, le=23)


class Manifest(_Part):
    """The contents of a file. bundle: the unique id of this export; scope: the number in its search vectors."""

    format: str
    version: int
    bundle: str = Field(pattern=r"^[0-9a-f]{32}$")
    exported_at: str
    schema_: str = Field(alias="schema")
    agent: AgentPart
    scope: int
    tables: dict[str, TablePart]


def write_table(archive: zipfile.ZipFile, name: str, lines: Iterable[str]) -> TablePart:
    """Write the rows of a table, one line of JSON for each row."""
    digest, rows = sha256(), 0
    with archive.open(_member(name), "w", force_zip64=True) as file:
        for line in lines:
            raw = line.encode() + b"\n"
            digest.update(raw)
            file.write(raw)
            rows += 1
    return TablePart(rows=rows, sha256=digest.hexdigest())


def write_manifest(archive: zipfile.ZipFile, manifest: Manifest) -> None:
    """Write the manifest, after all tables are written."""
    archive.writestr(MANIFEST, manifest.model_dump_json(by_alias=True, indent=1))


def open_file(path: Path) -> zipfile.ZipFile:
    """Open a file. Raises BadAgentFile, OSError."""
    try:
        return zipfile.ZipFile(path)
    except zipfile.BadZipFile as error:
        raise BadAgentFile(f"{path} is not an export of an agent: {error}") from None


def read_manifest(archive: zipfile.ZipFile) -> Manifest:
    """Return the manifest after a check of every table's checksum. Raises BadAgentFile."""
    try:
        if archive.getinfo(MANIFEST).file_size > MAX_MANIFEST_BYTES:
            raise BadAgentFile(f"{MANIFEST} has more than {MAX_MANIFEST_BYTES:,} bytes")
        with archive.open(MANIFEST) as file:
            fields = json.loads(file.read(MAX_MANIFEST_BYTES + 1))
        if isinstance(fields, dict) and (fields.get("format"), fields.get("version")) != (FORMAT, VERSION):
            found = f"{fields.get('format')!r:.40}, version {fields.get('version')!r:.20}"
            raise BadAgentFile(f"this version reads the format {FORMAT!r}, version {VERSION}; the file says {found}")
        manifest = Manifest.model_validate(fields)
    except KeyError:
        raise BadAgentFile(f"the file is not an export of an agent: {MANIFEST} is missing") from None
    except ValidationError as error:
        place = ".".join(map(str, error.errors()[0]["loc"]))
        raise BadAgentFile(f"{MANIFEST} is broken at {place or 'its top'}: {error.errors()[0]['msg']}") from None
    except (ValueError, RecursionError, zipfile.BadZipFile, EOFError) as error:
        raise BadAgentFile(f"{MANIFEST} can't be read: {error}"[:300]) from None
    known = {table.name for table in TABLES}
    if unknown := manifest.tables.keys() - known:
        raise BadAgentFile(f"the file holds a table that this version does not know: {min(unknown)[:60]!r}")
    for name, part in manifest.tables.items():
        _verify(archive, name, part)
    return manifest


def _verify(archive: zipfile.ZipFile, name: str, part: TablePart) -> None:
    try:
        info = archive.getinfo(_member(name))
        if info.file_size > MAX_RATIO * max(info.compress_size, 1000):
            raise BadAgentFile(f"{_member(name)} unpacks to {info.file_size:,} bytes out of {info.compress_size:,}")
        digest = sha256()
        with archive.open(info) as file:
            while data := file.read(_CHUNK):
                digest.update(data)
    except KeyError:
        raise BadAgentFile(f"{_member(name)} is missing") from None
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError) as error:
        raise BadAgentFile(f"{_member(name)} can't be unpacked: {error}"[:300]) from None
    if digest.hexdigest() != part.sha256:
        raise BadAgentFile(f"{_member(name)} was changed since the export: its checksum differs")


def rows_of(archive: zipfile.ZipFile, manifest: Manifest, name: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table, one at a time. Raises BadAgentFile."""
    if name not in manifest.tables:
        return
    with archive.open(_member(name)) as file:
        number = 0
        while raw := file.readline(MAX_LINE_BYTES + 1):
            number += 1
            try:
                row = json.loads(raw) if len(raw) <= MAX_LINE_BYTES else None
            except (ValueError, RecursionError):
                row = None
            if not isinstance(row, dict):
                raise BadAgentFile(f"{_member(name)} line {number} is not a row")
            yield row
    if number != manifest.tables[name].rows:
        raise BadAgentFile(f"{_member(name)} has {number:,} rows, the manifest says {manifest.tables[name].rows:,}")


def _member(name: str) -> str:
    return f"tables/{name}.jsonl"
