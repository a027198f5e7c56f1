"""Open the source of an import: a file, a zip, a folder, a SQLite file or a Postgres URL; yield its pieces one at a
time.

Nothing is unpacked to the disk, and no name of a zip's member is used as a path. A member that unpacks to more than
MAX_MEMBER_BYTES, or to more than MAX_RATIO times its packed size, counts as one fault.
"""

import codecs
import io
import json
import os
import stat
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from slowwave.errors import SlowwaveError
from slowwave_server.domain.moving_in import json_stream
from slowwave_server.domain.moving_in.letta import TEXT_FILE
from slowwave_server.domain.moving_in.records import Broken, LeftOut, Piece, System
from slowwave_server.services.moving_in import stores

MAX_MEMBER_BYTES = 8_000_000_000
MAX_RATIO = 500
MAX_MEMBERS = 100_000
MAX_FILES = 200_000
MAX_LINE_BYTES = 32_000_000
MAX_TEXT_BYTES = 10_000_000
_CHUNK = 1 << 18
_LINES = (".jsonl", ".ndjson")
_JSON = (".json", ".af")

Opened = Iterator[Piece | Broken | LeftOut]


class NothingThere(SlowwaveError):
    """The source has no data of this system; the message names the expected files or tables."""


def open_source(system: System, given: str, *, table: str | None = None) -> Opened:
    """Yield the pieces of a path or a URL of Postgres. Raises NothingThere, OSError, zipfile.BadZipFile."""
    if given.startswith(("postgresql://", "postgres://")):
        return stores.read_postgres(system, given, table)
    path = Path(given)
    if path.is_dir():
        return _folder(system, path)
    if not path.is_file():
        raise NothingThere(f"there is no file or folder {given}")
    with path.open("rb") as file:
        begin = file.read(16)
    if begin.startswith(b"SQLite format 3"):
        return stores.read_sqlite(system, path)
    if begin.startswith(b"PK"):
        return _zip(system, path)
    return _file(system, path, path.name)


def _folder(system: System, folder: Path) -> Opened:
    """Return all files of a folder in the form of this system, sorted by name. Links are not followed."""
    if system == "mem0" and (found := sorted(folder.glob("**/storage.sqlite"))):
        for path in found:
            yield from stores.read_sqlite(system, path)
        return
    any_file = False
    for path in _walk(folder):
        name = path.relative_to(folder).as_posix()
        if not _is_wanted(system, name):
            yield LeftOut("file of another kind")
            continue
        any_file = True
        with path.open("rb") as file:
            is_store = file.read(16).startswith(b"SQLite format 3")
        yield from stores.read_sqlite(system, path) if is_store else _file(system, path, name)
    if not any_file:
        raise NothingThere(f"{folder} holds no file of {system}: {_looked_for(system)} is looked for")


def _walk(folder: Path) -> Iterator[Path]:
    count = 0
    for parent, folders, files in os.walk(folder, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(parent, name)
            if name.startswith(".") or not stat.S_ISREG(path.lstat().st_mode):
                continue
            count += 1
            if count > MAX_FILES:
                raise SlowwaveError(f"{folder} holds more than {MAX_FILES:,} files: bring its folders in one by one")
            yield path


def _is_wanted(system: System, name: str) -> bool:
    lowered = name.lower()
    base = lowered.rsplit("/", 1)[-1]
    if system in {"chatgpt", "claude"}:
        return base.startswith("conversations") and base.endswith(_JSON)
    if system in {"claude-code", "codex"}:
        return base.endswith(".jsonl")
    if system == "letta":
        return base.endswith((*_JSON, ".md"))
    return base.endswith((*_JSON, *_LINES, ".sqlite", ".db"))


def _looked_for(system: System) -> str:
    if system in {"chatgpt", "claude"}:
        return "conversations.json"
    if system in {"claude-code", "codex"}:
        return "a log that ends in .jsonl"
    return "a file that ends in .af, .json or .md" if system == "letta" else "a file that ends in .json or .jsonl"


def _zip(system: System, path: Path) -> Opened:
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        if len(members) > MAX_MEMBERS:
            raise SlowwaveError(f"{path} holds more than {MAX_MEMBERS:,} members: unpack it and give the folder")
        wanted = [one for one in members if not one.is_dir() and _is_wanted(system, one.filename)]
        if not wanted:
            raise NothingThere(f"{path} holds no file of {system}: {_looked_for(system)} is looked for")
        for _ in range(sum(not one.is_dir() for one in members) - len(wanted)):
            yield LeftOut("file of another kind")
        for member in wanted:
            name = "".join(one for one in member.filename if one.isprintable())[:200]
            if member.flag_bits & 1:
                yield Broken(name, "it is encrypted")
            elif member.file_size > min(MAX_MEMBER_BYTES, MAX_RATIO * max(member.compress_size, 1000)):
                yield Broken(name, f"it unpacks to {member.file_size:,} bytes out of {member.compress_size:,}")
            else:
                yield from _member(system, archive, member, name)


def _member(system: System, archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str) -> Opened:
    at = datetime(*member.date_time, tzinfo=UTC) if member.date_time >= (1980, 1, 1, 0, 0, 0) else None
    try:
        with archive.open(member) as file:
            yield from _pieces(system, file, name, at)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, ValueError) as error:
        yield Broken(name, f"it can't be unpacked: {error}"[:200])


def _file(system: System, path: Path, name: str) -> Opened:
    with path.open("rb") as file:
        yield from _pieces(system, file, name, datetime.fromtimestamp(path.stat().st_mtime, UTC))


def _pieces(system: System, file: IO[bytes], name: str, at: datetime | None) -> Opened:
    lowered = name.lower()
    if lowered.endswith(".md"):
        data = file.read(MAX_TEXT_BYTES + 1)
        if len(data) > MAX_TEXT_BYTES:
            yield Broken(name, f"it has more than {MAX_TEXT_BYTES:,} bytes")
        else:
            yield Piece(name, TEXT_FILE, 1, data.decode("utf-8-sig", "replace"), at)
    elif lowered.endswith(_LINES) or system in {"claude-code", "codex"}:
        yield from _lines(file, name)
    else:
        for found in json_stream.entries(_chunks(file)):
            piece = Piece(name, found.key, found.number, None)
            if isinstance(found, json_stream.Fault):
                yield Broken(piece.where, found.what)
            else:
                yield piece._replace(value=found.value)


def _chunks(file: IO[bytes]) -> Iterator[str]:
    decode = codecs.getincrementaldecoder("utf-8-sig")("replace").decode
    while data := file.read(_CHUNK):
        if text := decode(data):
            yield text
    yield decode(b"", True)


def _lines(file: IO[bytes], name: str) -> Opened:
    """Yield one JSON value per line. If a line is too long, its rest is read in pieces and dropped."""
    buffered = io.BufferedReader(file, _CHUNK) if isinstance(file, io.RawIOBase) else file
    begin = number = 0
    while raw := buffered.readline(MAX_LINE_BYTES + 1):
        number += 1
        at, begin = begin, begin + len(raw)
        too_long = len(raw) > MAX_LINE_BYTES
        while too_long and not raw.endswith(b"\n") and (raw := buffered.readline(_CHUNK)):
            begin += len(raw)
        if too_long:
            yield Broken(f"{name}: line {number}", f"it has more than {MAX_LINE_BYTES:,} bytes")
            continue
        if not raw.strip():
            continue
        try:
            value = json.loads(raw)
        except (ValueError, RecursionError) as error:
            told = "it is nested too deeply" if isinstance(error, RecursionError) else f"it is not JSON: {error}"[:200]
            yield Broken(f"{name}: line {number}", told)
            continue
        yield Piece(name, "", number, value, begin=at)
