"""Make ended days final: all that are due, or one by name. A failure is stored on its day; the others continue."""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import chain

from sqlalchemy import Connection, Engine

from slowwave.errors import SlowwaveError
from slowwave.settings import Days
from slowwave_server.services.days.book import (
    DayRef,
    day_book,
    days_for_want_of_budget,
    ended_days,
    find_days,
    mark_settling,
)
from slowwave_server.services.days.model_summarizer import ChooseSummarizer, by_rules
from slowwave_server.services.days.store import describe, read_day
from slowwave_server.services.days.summarize import DayReport, summarize_day

log = logging.getLogger(__name__)

_PAGE = 100


class NoSuchDay(SlowwaveError):
    """The agent has no events on this day; the message names the newest day with events."""


class DayNotOver(SlowwaveError):
    """The local day has not ended: it can be summarised, but not made final."""


@dataclass(frozen=True, slots=True)
class FinalizeReport:
    """The result for each day, in the order of processing.

    failed: the reports of the days whose summary failed. finalized: the number of days that became final.
    """

    days: tuple[DayReport, ...]

    @property
    def failed(self) -> tuple[DayReport, ...]:
        return tuple(report for report in self.days if report.outcome == "failed")

    @property
    def finalized(self) -> int:
        return sum(report.outcome == "summarized" and report.status == "final" for report in self.days)


def settle_ended(connection: Connection, *, now: datetime, limit: int, after: DayRef | None = None) -> list[DayRef]:
    """Return ended days that are not final, oldest first, and mark them as settling. The caller must request their
    summaries.

    after: only days after this one.
    """
    days = ended_days(connection, now=now, limit=limit, after=after)
    mark_settling(connection, days)
    return days


def finalize_ended(
    engine: Engine,
    settings: Days,
    *,
    now: datetime,
    limit: int = 1000,
    go_on: Callable[[], bool] = lambda: True,
    choose: ChooseSummarizer = by_rules,
) -> FinalizeReport:
    """Finalize all days that have ended in their agents' zones, one by one, at most `limit`. If a model summarizes,
    also repeat recent days that the rules summarized because a budget was used up.

    go_on: a function that is called before each day; if it returns False, the call ends early.
    """
    reports: list[DayReport] = []
    for day in chain(_ended(engine, now, limit), _waiting(engine, now, limit) if choose is not by_rules else ()):
        if not go_on():
            break
        reports.append(make_final(engine, day, settings, now, choose))
    return FinalizeReport(tuple(reports))


def finalize_day(
    engine: Engine,
    tenant: str,
    agent: str,
    day: date,
    *,
    settings: Days,
    now: datetime,
    scope: str | None = None,
    force: bool = False,
    choose: ChooseSummarizer = by_rules,
) -> FinalizeReport:
    """Make one day of an agent final, in each scope in which it has events, or in `scope` ("agent", "room:NAME" …).

    force: True to summarise also a day that has not ended; it stays open. Raises UnknownName for the agent, NoSuchDay,
    DayNotOver.
    """
    with engine.connect() as connection:
        days = find_days(connection, tenant, agent, day, scope=scope)
        if not days:
            raise NoSuchDay(_no_such_day(connection, tenant, agent, day, scope))
    reading = read_day(engine, days[0], now)
    if reading is not None and not reading.over and not force:
        raise DayNotOver(f"{day} is not over for agent {agent!r}: it can be summarised now and made final when it is")
    return FinalizeReport(tuple(make_final(engine, ref, settings, now, choose) for ref in days))


def make_final(
    engine: Engine, day: DayRef, settings: Days, now: datetime, choose: ChooseSummarizer = by_rules
) -> DayReport:
    """Summarize a day and make it final if it has ended. After any error the outcome is "failed"."""
    try:
        return summarize_day(engine, day, settings=settings, now=now, final=True, summarizer=choose(day), again=True)
    except Exception as error:  # noqa: BLE001 - not even the failure could be noted; the other days go on
        said = describe(error)
        log.warning("a day of agent %d could not be made final: %s", day.agent_id, said)
        return DayReport(day, "failed", error=said)


def _ended(engine: Engine, now: datetime, limit: int) -> Iterator[DayRef]:
    """Read ended days in pages, each day once, so that a day whose failure was not stored does not delay later days."""
    engine = engine.execution_options(isolation_level="READ COMMITTED")
    last: DayRef | None = None
    while limit > 0:
        with engine.begin() as connection:
            page = settle_ended(connection, now=now, limit=min(limit, _PAGE), after=last)
        yield from page
        if len(page) < _PAGE:
            return
        limit, last = limit - len(page), page[-1]


def _waiting(engine: Engine, now: datetime, limit: int) -> Sequence[DayRef]:
    with engine.connect() as connection:
        return days_for_want_of_budget(connection, now=now, limit=limit)


def _no_such_day(connection: Connection, tenant: str, agent: str, day: date, scope: str | None) -> str:
    where = "" if scope is None else f" in scope {scope!r}"
    newest = day_book(connection, tenant, agent, limit=1)
    hint = f"; its newest day is {newest[0].ref.day}" if newest else "; it has none at all"
    return f"agent {agent!r} has no events on {day}{where}{hint}"
