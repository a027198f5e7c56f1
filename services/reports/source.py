"""Whether conversations that another program keeps are read: what the doctor says of `memory.source`.

Must not know: that program, what is said there.
"""

from datetime import datetime, timedelta

from sqlalchemy import Connection, func, select

from domain.spoken_time import count_words, duration_words
from models import SourceRun
from services.reports.doctor import Check

LATE_SECONDS = 60.0
"""Ticks come every few seconds: what is due for longer is read by nobody."""


def check_source(connection: Connection, source: str, *, now: datetime) -> Check:
    """Whether runs wait that nobody reads, or that could not be read when they were looked at.

    Counts those of every tenant, and reads no text of any.
    """
    if source == "events":
        return Check("source", "ok", "hooks hand over what is said (memory.source is events)")
    failing, problem, asked = connection.execute(
        select(func.count(), func.max(SourceRun.last_error), func.min(SourceRun.asked_at)).where(
            SourceRun.due_at.is_not(None), SourceRun.last_error.is_not(None)
        )
    ).one()
    if failing:
        finding = f"{count_words(failing, 'run')} could not be read, {_since(now, asked)}: {problem}"
        return Check(
            "source", "problem", finding, f"bring the store of {source} back: they are tried again by themselves"
        )
    late, due = connection.execute(
        select(func.count(), func.min(SourceRun.due_at)).where(SourceRun.due_at < now - timedelta(seconds=LATE_SECONDS))
    ).one()
    if late:
        finding = f"{count_words(late, 'run')} should have been looked at, {_since(now, due)}"
        cure = f"start beat and a worker on the queue 'capture', both with SLOWWAVE_MEMORY__SOURCE={source}"
        return Check("source", "problem", finding, cure)
    return Check("source", "ok", f"no run of {source} waits longer than it should")


def _since(now: datetime, moment: datetime | None) -> str:
    seconds = (now - (moment or now)).total_seconds()
    return f"the first for {duration_words(max(0.0, seconds))}"
