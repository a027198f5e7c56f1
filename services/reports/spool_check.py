"""Check the spool of this host: waiting events on its disk, rejected events, and free disk space."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from slowwave.spool import Spooled
from slowwave_server.domain.health_limits import SPOOL_ROOM_BYTES
from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.services.reports.check import Check, fine, problem


@dataclass(frozen=True, slots=True)
class Spool:
    """The spool of this host, as metrics. spool_room_bytes: None if the disk can't be read."""

    spool_files: int
    spool_bytes: int
    spool_rejected_files: int
    spool_room_bytes: int | None


def measure_spool(spooled: Spooled, folder: Path) -> Spool:
    """Measure the spool. spooled: the backlog in `folder`, which may not exist yet."""
    return Spool(spooled.files, spooled.size_bytes, spooled.rejected_files, _room(folder.expanduser()))


def check_spool(spool: Spool, folder: Path) -> Iterator[Check]:
    """Return one finding about the backlog, and another one if disk space is low."""
    if spool.spool_files:
        size = f"{spool.spool_bytes:,} bytes of events"
        yield problem("spool", "spool-waits", f"{pluralize(spool.spool_files, 'file')} with {size} in {folder}")
    elif spool.spool_rejected_files:
        yield problem("spool", "spool-refused", f"{pluralize(spool.spool_rejected_files, 'file')} in {folder}")
    else:
        yield fine("spool", f"nothing waits in {folder}")
    if spool.spool_room_bytes is not None and spool.spool_room_bytes < SPOOL_ROOM_BYTES:
        yield problem("spool room", "spool-full", f"{spool.spool_room_bytes:,} bytes are left for {folder}")


def _room(folder: Path) -> int | None:
    there = next((place for place in (folder, *folder.parents) if place.exists()), None)
    try:
        return None if there is None else shutil.disk_usage(there).free
    except OSError:
        return None
