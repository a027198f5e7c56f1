"""A loss and a restore: a backup runs under load, later both servers lose all data.

    1  producers talk and workers run while `deploy/backup/backup.sh` runs 2  all continues for a while, then servers,
    their disks, workers and the broker's messages are lost 3  producers continue; their events wait in spools 4  an
    empty Postgres and an empty broker start at the same addresses; `deploy/backup/restore.sh` runs 5  workers start,
    spools are delivered; forgets since the backup are repeated 6  all end, and every guarantee is checked

Data committed between the start of the backup and the loss may be lost, as with any backup. A call in this time counts
as one that never returned. The guarantees of all other calls must hold: earlier ones, and those that waited on disks.
"""

import json
import os
import subprocess
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import Engine, text

from proof.chaos.checks import Finding
from proof.chaos.journal import forgets, read
from proof.drills import guest
from proof.drills.processes import Process, Programs
from proof.drills.site import Site
from proof.drills.versions import ROOT, THIS
from proof.servers import Servers, until
from slowwave.settings import load_settings
from slowwave.spool import spooled
from slowwave_server.models.schema import migrate

TALKERS = 2
SCRIPTS = ROOT / "deploy" / "backup"
_DELIVER_SECONDS = 60.0
_COUNTS = """
    SELECT (SELECT count(*) FROM slowwave.events) AS events, (SELECT count(*) FROM slowwave.memories) AS memories
"""


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan. rate: events per second of each producer; events: the number of events in each part; quiet_seconds: the
    time within which all work must be done.
    """

    rate: float = 10.0
    events: int = 30
    flushes: int = 5
    quiet_seconds: float = 120.0


@dataclass(slots=True)
class Restored:
    """The results. restored: the numbers of events and memories in the backup; lost: the number of acknowledged events
    after the backup began; waited: the number of calls that waited on disks; again: the number of repeated forgets.
    Seconds: of the two scripts.
    """

    events: int = 0
    restored: tuple[int, int] = (0, 0)
    lost: int = 0
    waited: int = 0
    again: int = 0
    backup_seconds: float = 0.0
    restore_seconds: float = 0.0
    findings: list[Finding] = field(default_factory=list)


class Restore:
    """One loss and its restore. pg: the folder of pg_dump, pg_restore and psql."""

    def __init__(self, site: Site, servers: Servers, pg: Path, plan: Plan) -> None:
        self._site = site
        self._servers = servers
        self._pg = pg
        self._plan = plan
        self._seen = Restored()

    def run(self) -> Restored:
        """Run the drill; only the servers are left running. Raises TimeoutError, subprocess.CalledProcessError."""
        programs, engine = self._site.programs(), self._site.engine()
        try:
            migrate(engine)
            talkers = self._start(programs, engine)
            settings = load_settings(programs.variables())
            guest.tell(self._site.places, settings)
            backup, began = self._back_up()
            guest.forget(self._site.places, settings)
            self._site.until_said(self._plan.events)
            lost_at = self._lose(programs, talkers, engine)
            self._bring_back(engine, backup)
            self._start_workers(programs)
            talkers = self._go_on(programs, talkers, began, lost_at)
            guest.forget_again(self._site.places, settings)
            self._site.until_said(self._plan.events)
            self._seen.findings += self._site.end_talk(talkers)
            self._seen.findings += self._site.look(self._plan.quiet_seconds)
            self._seen.events = self._site.events()
        finally:
            programs.kill_all()
            engine.dispose()
        return self._seen

    def _start(self, programs: Programs, engine: Engine) -> list[Process]:
        worker = self._start_workers(programs)
        talkers = [self._talker(programs, number) for number in range(TALKERS)]
        programs.until_ready(worker, "worker")
        self._site.until_said(self._plan.events)
        self._site.until_flushed(engine, self._plan.flushes, datetime.now(UTC))
        return talkers

    def _start_workers(self, programs: Programs) -> Process:
        programs.beat(THIS, "beat")
        return programs.worker(THIS, "worker")

    def _talker(self, programs: Programs, number: int) -> Process:
        return programs.talker(THIS, number, seed=2, rate=self._plan.rate)

    def _back_up(self) -> tuple[Path, float]:
        """Make a backup. Return its file, and the time at which it began."""
        folder = self._site.folder / "backups"
        began, clock = time.time(), time.monotonic()
        if self._waiting():
            self._seen.findings.append(Finding("I1", "a hook had to wait on a disk while all was well"))
        self._script("backup.sh", str(folder))
        self._seen.backup_seconds = time.monotonic() - clock
        (backup,) = folder.glob("slowwave-*.dump")
        return backup, began

    def _lose(self, programs: Programs, talkers: list[Process], engine: Engine) -> float:
        """Lose everything except the producers. Return the time of the loss."""
        for process in programs.all:
            if process not in talkers:
                process.kill()
        self._servers.lose()
        engine.dispose()
        lost_at = time.time()
        until(lambda: self._waiting() > 0, _DELIVER_SECONDS, "producers keep what they say on their disks")
        self._site.until_said(self._plan.events // 4)
        return lost_at

    def _waiting(self) -> int:
        """Count the producers with entries on their disks."""
        return sum(bool(spooled(self._site.places.spool(number)).files) for number in range(TALKERS))

    def _bring_back(self, engine: Engine, backup: Path) -> None:
        self._servers.replace()
        clock = time.monotonic()
        self._script("restore.sh", str(backup))
        self._seen.restore_seconds = time.monotonic() - clock
        with engine.connect() as connection:
            found = connection.execute(text(_COUNTS)).one()
        self._seen.restored = (int(found.events), int(found.memories))

    def _script(self, name: str, *arguments: str) -> None:
        names = {"host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "password": "PGPASSWORD", "dbname": "PGDATABASE"}
        given = conninfo_to_dict(self._site.database_url)
        environment = THIS.environment() | {names[key]: str(value) for key, value in given.items() if key in names}
        environment["PATH"] = os.pathsep.join((str(self._pg), environment["PATH"]))
        subprocess.run([str(SCRIPTS / name), *arguments], env=environment, check=True, capture_output=True, text=True)

    def _go_on(self, programs: Programs, talkers: list[Process], began: float, lost_at: float) -> list[Process]:
        """Wait until the spools are delivered; then restart the producers, with the list of lost events."""
        until(lambda: not self._waiting(), _DELIVER_SECONDS, "spools are delivered")
        for talker in talkers:
            talker.kill()
        self._seen.waited = sum(one.stored == "spool" for one in read(self._site.folder))
        self._seen.lost = self._unsay(began, lost_at)
        self._seen.again = sum(not one.done and not one.failed for one in forgets(read(self._site.folder)))
        return [self._talker(programs, number) for number in range(TALKERS)]

    def _unsay(self, began: float, lost_at: float) -> int:
        """Remove from the journals the returns of calls whose effect was lost with the servers. Return the number of
        events.

        A restarted producer repeats its forgets, as an operator must after a restore.
        """
        before = self._site.events()
        for journal in self._site.places.journals():
            lines = [json.loads(line) for line in journal.read_bytes().split(b"\n")[:-1]]
            kept = [line for line in lines if not _is_gone(line, began, lost_at)]
            journal.write_text("".join(json.dumps(line) + "\n" for line in kept), encoding="utf-8")
        return before - self._site.events()


def _is_gone(line: dict[str, object], began: float, lost_at: float) -> bool:
    """Return True if a line of a journal says that a call returned in the lost time."""
    moment = float(str(line["t"]))
    return line["state"] == "done" and began <= moment <= lost_at
