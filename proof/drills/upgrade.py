"""An upgrade without a pause: producers talk while the schema is migrated and workers of this version replace the old
ones.

1  the previous release runs on its own schema: worker, beat, producers 2  this version migrates; the old worker
continues on the new schema 3  the old worker stops; requests of old producers and callers wait in the queues 4  this
version's worker takes the old messages; in the full form, it started before the old one stopped 5  a producer of this
version joins; all end, and every guarantee is checked
"""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import redis
from celery import Celery
from sqlalchemy import Engine, text

from proof.chaos.checks import Finding
from proof.chaos.journal import Call, Line, Told, Writer, read
from proof.chaos.words import word
from proof.drills.processes import Process, Programs
from proof.drills.site import Site
from proof.drills.versions import THIS, Version
from proof.servers import until
from slowwave.coordination.keys import CAPTURE_QUEUE, HIGH_QUEUE, NORMAL_QUEUE
from slowwave.messages import RECORD_TURN
from slowwave_server.models.schema import migrate

CALLER = 9
"""The number of the caller that has the broker alone."""
_CALLS = 5
_WAIT_SECONDS = 60.0
_RECORDED = "SELECT count(*) FROM slowwave.events WHERE key LIKE :keys"


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan. producers: the number of producers of the old version; rate: events per second of each; events: the
    number of events in each part; together: True if workers of both versions run side by side; quiet_seconds: the time
    within which all work must be done.
    """

    producers: int = 1
    rate: float = 10.0
    events: int = 30
    flushes: int = 5
    together: bool = False
    quiet_seconds: float = 120.0


@dataclass(slots=True)
class Upgraded:
    """The results. waited: the number of messages of the old version in queues when this version's worker started;
    taken: the number of those that its log lists as received (a forget removes the others); delayed: the number of
    hooks that failed or used their spool; longest: the seconds of the longest hook.
    """

    before: str | None = None
    after: str | None = None
    waited: int = 0
    taken: int = 0
    delayed: int = 0
    longest: float = 0.0
    events: int = 0
    findings: list[Finding] = field(default_factory=list)


class Upgrade:
    """One upgrade, from a release to this version, on a site with an empty database."""

    def __init__(self, site: Site, previous: Version, plan: Plan) -> None:
        self._site = site
        self._previous = previous
        self._plan = plan
        self._seen = Upgraded()

    def run(self) -> Upgraded:
        """Run the upgrade; no process is left. Raises TimeoutError if an expected state does not occur."""
        engine, programs = self._site.engine(), self._site.programs()
        try:
            self._previous.migrate(self._site.database_url)
            old, talkers = self._start_old(programs)
            self._move_schema(engine)
            new = self._replace(programs, engine, old)
            talkers.append(programs.talker(THIS, len(talkers), seed=1, rate=self._plan.rate))
            self._site.until_said(self._plan.events)
            self._seen.findings += self._site.end_talk(talkers)
            # The last queue that hooks fill: it waits while flushes wait.
            self._until_recorded(engine)
            self._seen.findings += self._site.look(self._plan.quiet_seconds)
            self._count(read(self._site.folder))
            new.stop()
        finally:
            programs.kill_all()
            engine.dispose()
        return self._seen

    def _start_old(self, programs: Programs) -> tuple[list[Process], list[Process]]:
        worker, beat = programs.worker(self._previous, "old"), programs.beat(self._previous, "old-beat")
        talkers = [
            programs.talker(self._previous, number, seed=1, rate=self._plan.rate)
            for number in range(self._plan.producers)
        ]
        programs.until_ready(worker, "old")
        self._site.until_said(self._plan.events)
        return [worker, beat], talkers

    def _move_schema(self, engine: Engine) -> None:
        """Migrate while the old version runs, and check that it continues."""
        self._seen.before, self._seen.after = migrate(engine)
        self._site.until_flushed(engine, self._plan.flushes, datetime.now(UTC))
        self._site.until_said(self._plan.events)

    def _replace(self, programs: Programs, engine: Engine, old: list[Process]) -> Process:
        """Stop the old workers and start new ones. Return the new worker."""
        if self._plan.together:
            new = self._start_new(programs)
            self._site.until_said(self._plan.events)
            self._call_by_message()
            self._stop(old)
        else:
            self._stop(old)
            self._call_by_message()
            self._site.until_said(self._plan.events)
            with self._site.client() as client:
                until(lambda: bool(client.llen(NORMAL_QUEUE)), _WAIT_SECONDS, "old messages wait")
                waiting = _waiting(client)
            new = self._start_new(programs)
            with self._site.client() as client:
                until(lambda: not waiting & _waiting(client), _WAIT_SECONDS, "old messages are taken")
            self._seen.waited, self._seen.taken = len(waiting), _took(new, waiting)
        self._site.until_flushed(engine, self._plan.flushes, datetime.now(UTC))
        return new

    def _start_new(self, programs: Programs) -> Process:
        new = programs.worker(THIS, "new")
        programs.beat(THIS, "new-beat")
        programs.until_ready(new, "new")
        return new

    def _stop(self, old: list[Process]) -> None:
        codes = [process.stop() for process in old]
        if any(codes):
            self._seen.findings.append(Finding("I3", f"the old version ended with the codes {codes}"))

    def _call_by_message(self) -> None:
        """Send messages as other services do: by the contract of docs/tasks.md at the old version."""
        app = Celery(broker=self._site.broker_url, set_as_current=False)
        with Writer(self._site.folder, CALLER) as writer:
            for serial in range(_CALLS):
                said = word(CALLER, serial)
                line = Line("lasting", "user", f"My aunt {said} keeps two goats.", said)
                call = Call(CALLER, serial, "turn", "default", "desk", "by-message", None, (line,))
                writer.tried(call)
                message = {"role": line.role, "content": line.text}
                arguments = {"agent": call.agent, "session": call.session, "messages": [message], "key": call.key}
                app.send_task(RECORD_TURN, kwargs=arguments, queue=CAPTURE_QUEUE)
                writer.done(call, "queued")
        app.close()

    def _until_recorded(self, engine: Engine) -> None:
        def all_there() -> bool:
            with engine.connect() as connection:
                found = connection.execute(text(_RECORDED), {"keys": f"{CALLER}-%"}).scalar_one()
                return int(found) == _CALLS

        until(all_there, _WAIT_SECONDS, "what came by message is recorded")

    def _count(self, told: list[Told]) -> None:
        hooks = [one for one in told if one.call.kind in {"turn", "task", "note"} and one.call.producer != CALLER]
        self._seen.delayed = sum(one.failed or one.stored != "postgres" for one in hooks)
        self._seen.longest = max(one.done_at - one.at for one in hooks if one.tries == 1)
        self._seen.events = self._site.events()


def _waiting(client: redis.Redis) -> set[str]:
    """Return the ids of all flush messages in queues."""
    entries: list[Any] = [entry for queue in (HIGH_QUEUE, NORMAL_QUEUE) for entry in client.lrange(queue, 0, -1)]
    return {json.loads(entry)["headers"]["id"] for entry in entries}


def _took(worker: Process, ids: set[str]) -> int:
    """Return how many of these a worker's log lists as received."""
    log = worker.log
    return sum(f"[{one}] received" in log for one in ids)
