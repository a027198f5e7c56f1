"""Bring logs up to date: from the last event in a log to the last event of its session.

lock the session's row ─▶ lock the file ─▶ repair ─▶ append ─▶ fsync ─▶ move logged_until, commit

If a crash happens between the last two steps, the event numbers in the file show it, so no event is written twice and
none is missing. A forget waits for the row and then removes the file; or it has already deleted the row, and nothing is
written.
"""

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, RowMapping, text

from slowwave_server.services.session_logs.file import Disk, mend, open_log
from slowwave_server.services.session_logs.folders import log_path

log = logging.getLogger(__name__)

PAGE = 200
"""So many events are written in one transaction."""
SESSIONS_PAGE = 500
MOST = 100_000
"""So many events a call, about; the next call goes on."""

_BEHIND = text(
    "SELECT s.id FROM slowwave.sessions s WHERE s.id > :after AND s.last_seq > s.logged_until ORDER BY s.id LIMIT :most"
)
# This lock stops a forget, which deletes the row, but not capture, which only changes it.
_HOLD = text(
    "SELECT a.tenant, a.name AS agent, s.name AS session, s.last_seq, s.logged_until"
    " FROM slowwave.sessions s JOIN slowwave.agents a ON a.id = s.agent_id"
    " WHERE s.id = :session FOR KEY SHARE OF s"
)
_ALONE = text("SELECT pg_try_advisory_xact_lock(hashtextextended('slowwave.session_log ' || :session, 0))")
_EVENTS = text(
    "SELECT e.seq, e.turn, e.kind, e.role, e.name, e.content, e.happened_at AS at, e.recorded_at, e.day, e.key,"
    "  e.metadata"
    " FROM slowwave.events e WHERE e.session_id = :session AND e.seq > :after ORDER BY e.seq LIMIT :most"
)
_MOVE = text("UPDATE slowwave.sessions SET logged_until = :until WHERE id = :session AND logged_until < :until")


@dataclass(frozen=True, slots=True)
class LogReport:
    """The result. sessions: the number of logs that grew; events: the number of written lines; failed: the number of
    sessions whose log could not be written.
    """

    sessions: int
    events: int
    failed: int


def write_session_logs(engine: Engine, root: Path, *, disk: Disk | None = None) -> LogReport:
    """Bring the logs of all sessions up to date. root: the folder of memory files (`memory.files.root`).

    If a log can't be written, the others still are; a later call writes its events.
    """
    disk = disk or Disk()
    sessions = events = failed = after = 0
    while events < MOST:
        with engine.connect() as connection:
            page = connection.execute(_BEHIND, {"after": after, "most": SESSIONS_PAGE}).scalars().all()
        for session_id in page:
            try:
                written = _write_session(engine, root, session_id, disk)
            except OSError as error:
                failed += 1
                log.warning("the log of session %d can't be written: %s", session_id, error.strerror or error)
                continue
            sessions += written > 0
            events += written
        if len(page) < SESSIONS_PAGE:
            break
        after = page[-1]
    return LogReport(sessions, events, failed)


def _write_session(engine: Engine, root: Path, session_id: int, disk: Disk) -> int:
    written = 0
    while True:
        # Start a transaction even if the engine is in autocommit, because the row must be locked until the lines are on
        # the disk.
        with engine.connect().execution_options(isolation_level="READ COMMITTED") as connection, connection.begin():
            count = _write_page(connection, root, session_id, disk)
        written += count
        if count < PAGE:
            return written


def _write_page(connection: Connection, root: Path, session_id: int, disk: Disk) -> int:
    if not connection.execute(_ALONE, {"session": str(session_id)}).scalar_one():
        return 0  # another worker writes it
    held = connection.execute(_HOLD, {"session": session_id}).one_or_none()
    if held is None or held.last_seq <= held.logged_until:
        return 0
    path = log_path(root, held.tenant, held.agent, held.session)
    with open_log(path) as descriptor:
        after = mend(descriptor, held.logged_until, disk)
        page = {"session": session_id, "after": after, "most": PAGE}
        events = connection.execute(_EVENTS, page).mappings().all()
        if events:
            disk.append(descriptor, _lines(events))
        if events or after > held.logged_until:
            disk.sync(descriptor, path.parent)
    # If no event is left to write, it was removed, or the file already contains it.
    until = events[-1]["seq"] if events else max(after, held.last_seq)
    connection.execute(_MOVE, {"session": session_id, "until": until})
    return len(events)


def _lines(events: Sequence[RowMapping]) -> bytes:
    return "".join(f"{json.dumps(dict(event), default=_plain, ensure_ascii=False)}\n" for event in events).encode()


def _plain(value: Any) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no form in a log")
