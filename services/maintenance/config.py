"""Change the schedule and the settings of a maintenance job, from a person's words: "10:00", "sunday", "none"."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, time
from typing import Any
from zoneinfo import available_timezones

from sqlalchemy import Connection, update

from slowwave.errors import SlowwaveError
from slowwave_server.domain.schedule import CADENCES, InvalidSchedule, compute_next_due
from slowwave_server.models import MaintenanceJob
from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.maintenance.jobs import Job, lock_job, read_jobs

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
NONE = "none"
"""Takes a window, a weekday or a command away."""


class InvalidJob(SlowwaveError, ValueError):
    """The configuration of a job is invalid; the message names the error and the known values."""


@dataclass(frozen=True, slots=True)
class Wish:
    """The requested changes of a job. A field that is None stays unchanged."""

    cadence: str | None = None
    interval_minutes: int | None = None
    weekday: str | None = None
    window_start: str | None = None
    window_end: str | None = None
    time_zone: str | None = None
    enabled: bool | None = None
    llm_command: str | None = None


@dataclass(frozen=True, slots=True)
class Configured:
    """A job after its change. changed: the new values; rescheduled: whether the due time may have changed."""

    job: Job
    changed: Mapping[str, Any]
    rescheduled: bool


_SCHEDULE = frozenset({"cadence", "interval_minutes", "weekday", "window_start", "window_end", "time_zone"})


def find_job(connection: Connection, job_id: str) -> Job:
    """Return the job of this name. Raises UnknownName, which names the existing jobs."""
    jobs = {job.id: job for job in read_jobs(connection)}
    if job_id not in jobs:
        near = difflib.get_close_matches(job_id, jobs, n=3, cutoff=0.5)
        raise UnknownName(f"there is no job {job_id!r}; there are: {', '.join(jobs) or 'none'}", near)
    return jobs[job_id]


def configure(connection: Connection, job_id: str, wish: Wish, *, recompute: bool, now: datetime) -> Configured:
    """Change a job, in the caller's transaction. recompute: True to compute its due time again, from now.

    A job that is enabled again is always planned from now: runs missed while it was off are not repeated. Raises
    UnknownName, InvalidJob.
    """
    find_job(connection, job_id)
    before = lock_job(connection, job_id, wait=True)
    if before is None:
        raise UnknownName(f"the job {job_id!r} has just been removed")
    job = _wished(before, wish)
    try:
        due = compute_next_due(job.schedule, now)
    except InvalidSchedule as error:
        raise InvalidJob(str(error)) from None
    if recompute or (job.enabled and not before.enabled):
        job = replace(job, next_due_at=due)
    fields = (*sorted(_SCHEDULE), "enabled", "details", "next_due_at")
    changed = {name: getattr(job, name) for name in fields if getattr(job, name) != getattr(before, name)}
    if changed:
        statement = update(MaintenanceJob).where(MaintenanceJob.id == job.id)
        connection.execute(statement.values(**changed, updated_at=now))
    return Configured(job, changed, rescheduled=not _SCHEDULE.isdisjoint(changed))


def _wished(job: Job, wish: Wish) -> Job:
    cadence = _cadence(wish.cadence) or job.cadence
    values: dict[str, Any] = {"cadence": cadence}
    # Fields of another cadence are cleared with it.
    if cadence != "interval":
        values["interval_minutes"] = None
    if cadence != "weekly":
        values["weekday"] = None
    if wish.interval_minutes is not None:
        values["interval_minutes"] = wish.interval_minutes
    if wish.weekday is not None:
        values["weekday"] = _weekday(wish.weekday)
    if wish.window_start is not None:
        values["window_start"] = _time("window_start", wish.window_start)
    if wish.window_end is not None:
        values["window_end"] = _time("window_end", wish.window_end)
    if wish.time_zone is not None:
        values["time_zone"] = _zone(wish.time_zone)
    if wish.enabled is not None:
        values["enabled"] = wish.enabled
    if wish.llm_command is not None:
        values["details"] = _details(job.details, wish.llm_command)
    return replace(job, **values)


def _cadence(given: str | None) -> str | None:
    if given is not None and given not in CADENCES:
        raise InvalidJob(f"cadence: {given!r} is not one of {', '.join(CADENCES)}")
    return given


def _weekday(given: str) -> int | None:
    if given.lower() == NONE:
        return None
    found = [number for number, name in enumerate(WEEKDAYS) if len(given) > 1 and name.startswith(given.lower())]
    if len(found) != 1:
        raise InvalidJob(f"weekday: {given!r} is not one of {', '.join(WEEKDAYS)}, {NONE} (a week after the last run)")
    return found[0]


def _time(name: str, given: str) -> time | None:
    if given.lower() == NONE:
        return None
    try:
        found = time() if given == "24:00" else time.fromisoformat(given)
    except ValueError:
        found = None
    if found is None or found.tzinfo is not None or ":" not in given:
        raise InvalidJob(f"{name}: {given!r} is neither a time of day like 10:00 nor {NONE}; the zone is set by itself")
    return found


def _zone(given: str) -> str:
    if given not in available_timezones():
        near = difflib.get_close_matches(given, available_timezones(), n=1)
        raise InvalidJob(
            f"time_zone: {given!r} is not an IANA time zone" + (f"; did you mean {near[0]!r}?" if near else "")
        )
    return given


def _details(details: Mapping[str, Any], llm_command: str) -> dict[str, Any]:
    others = {name: value for name, value in details.items() if name != "llm_command"}
    return others if llm_command.lower() in {"", NONE} else others | {"llm_command": llm_command}
