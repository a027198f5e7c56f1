"""Shared parts of both drills: the servers, the journals, and the check of every guarantee when all is quiet."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import redis
from celery import Celery
from sqlalchemy import Engine, text

from proof.chaos.checks import Finding, check_all
from proof.chaos.evidence import Evidence
from proof.chaos.journal import events_of, read
from proof.chaos.places import Places
from proof.chaos.quiet import NotQuiet, until_quiet
from proof.drills.processes import Process, Programs
from proof.servers import until
from slowwave.coordination.keys import DAYS_QUEUE
from slowwave_server.models.engine import make_engine

_FLUSHES = "SELECT count(*) FROM slowwave.flushes WHERE started_at > :since"
_TALK_SECONDS = 120.0
_POLL_SECONDS = 0.2
_FIRST_LOOK_SECONDS = 4.0


@dataclass(frozen=True, slots=True)
class Site:
    """The site of a drill. folder: an empty folder; database_url, broker_url: URLs of running servers."""

    folder: Path
    database_url: str
    broker_url: str

    @property
    def places(self) -> Places:
        return Places(self.folder)

    def programs(self) -> Programs:
        """Return an object that starts processes here."""
        self.places.logs.mkdir(exist_ok=True)
        return Programs(self.places, self.database_url, self.broker_url, [])

    def engine(self) -> Engine:
        """Return a new engine; the caller disposes of it."""
        return make_engine(self.database_url)

    def client(self) -> redis.Redis:
        """Return a new client of the broker."""
        return redis.Redis.from_url(self.broker_url, socket_timeout=30.0)

    def events(self) -> int:
        """Return the number of acknowledged events so far."""
        return events_of(read(self.folder))

    def until_said(self, events: int) -> None:
        """Wait until this many more events are acknowledged. Raises TimeoutError."""
        wanted = self.events() + events
        until(lambda: self.events() >= wanted, _TALK_SECONDS, f"{events} more events are recorded", poll=_POLL_SECONDS)

    def until_flushed(self, engine: Engine, flushes: int, since: datetime) -> None:
        """Wait until this many flushes that began after this moment are committed. Raises TimeoutError."""

        def enough() -> bool:
            with engine.connect() as connection:
                return int(connection.execute(text(_FLUSHES), {"since": since}).scalar_one()) >= flushes

        until(enough, _TALK_SECONDS, f"{flushes} flushes are committed", poll=_POLL_SECONDS)

    def end_talk(self, talkers: list[Process]) -> list[Finding]:
        """Let producers end by themselves, which they do when their disks have no more entries."""
        self.places.stop.touch()
        return [Finding("I1", "a producer could not deliver what it had promised") for one in talkers if one.ended()]

    def look(self, seconds: float) -> list[Finding]:
        """Wait until all work is done, then check every guarantee. Remaining work is a finding."""
        engine, found = self.engine(), list[Finding]()
        with self.client() as client:
            try:
                with suppress(NotQuiet):
                    until_quiet(engine, client, _FIRST_LOOK_SECONDS)
                self._ask_for_days()
                until_quiet(engine, client, seconds)
            except NotQuiet as error:
                found.append(Finding("I3", str(error)))
            found += check_all(Evidence(engine, client, self.folder, read(self.folder), datetime.now(UTC)))
        engine.dispose()
        return found

    def _ask_for_days(self) -> None:
        """Request what beat requests once a minute, because the days are quiet by now."""
        with Celery(broker=self.broker_url, set_as_current=False) as app:
            app.send_task("slowwave.summarize_due_days", queue=DAYS_QUEUE)
