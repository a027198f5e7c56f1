"""Forgetting in a spool folder: delete entries of the target from segments and from files of rejected entries.

A segment that a running process has locked is skipped: its entries are older than the forget, and the fence discards
them when they arrive.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from slowwave.capture import Entry
from slowwave.spool import database_digest, hold_segment, replace_file
from slowwave_server.services.forget.forgotten import Forgotten


class SpoolCleared(NamedTuple):
    """The result: deleted entries; held: segments of running processes, which were not read."""

    entries: int
    held: int


def clear_spool(folder: Path, database_url: str, forgotten: Forgotten, *, dry_run: bool = False) -> SpoolCleared:
    """Delete entries from this host's folder for this database. Raises OSError."""
    folder, entries, held = folder.expanduser(), 0, 0
    prefix = database_digest(database_url)
    for path in sorted(folder.glob(f"{prefix}-*.jsonl")):
        segment = hold_segment(path)
        if segment is None:
            held += path.exists()
            continue
        try:
            entries += _clear(path, lambda line: _of_segment(line, forgotten), dry_run=dry_run)
        finally:
            segment.close()
    # Hidden files were being written when their process died.
    for path in sorted(folder.glob(f".{prefix}-*.jsonl")):
        entries += _clear(path, lambda line: _of_segment(line, forgotten), dry_run=dry_run)
    for pattern in (f"{prefix}-*.jsonl.rejected", f".{prefix}-*.jsonl.rejected"):
        for path in sorted(folder.glob(pattern)):
            entries += _clear(path, lambda line: _of_rejected(line, forgotten), dry_run=dry_run)
    return SpoolCleared(entries, held)


def _clear(path: Path, gone: Callable[[bytes], bool], *, dry_run: bool) -> int:
    try:
        lines = path.read_bytes().splitlines(keepends=True)
    except FileNotFoundError:  # delivered in between
        return 0
    kept = [line for line in lines if not gone(line)]
    if len(kept) < len(lines) and not dry_run:
        if kept:
            replace_file(path, b"".join(kept))
        else:
            path.unlink(missing_ok=True)
    return len(lines) - len(kept)


def _of_segment(line: bytes, forgotten: Forgotten) -> bool:
    try:
        return forgotten.covers_entry(Entry(**json.loads(line)))
    except (ValueError, TypeError):
        return forgotten.may_be_in(line.decode(errors="replace"))


def _of_rejected(line: bytes, forgotten: Forgotten) -> bool:
    try:
        return forgotten.covers_entry(Entry(**json.loads(line)["entry"]))
    except (ValueError, TypeError, LookupError):
        # Unreadable lines are stored as text, in which a backslash precedes each quotation mark.
        return forgotten.may_be_in(line.decode(errors="replace").replace('\\"', '"'))
