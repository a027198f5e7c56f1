"""Days: the book of them, what a day's summary says and rests on, and what one version says that another does not.

Must not know: SQL, how summaries are made.
"""

from collections.abc import Iterable
from datetime import date
from http import HTTPStatus
from itertools import groupby
from typing import Any

from starlette.responses import Response

from slowwave_server.domain.summaries.differences import Differing, compare_lines
from slowwave_server.domain.summaries.lines import HEADINGS
from slowwave_server.services.days.book import day_book
from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.reports.days import DayStory, Told, read_day, said_for
from slowwave_server.workers.console.routing import Page, reads
from slowwave_server.workers.console.visit import Trouble, Visit

SHOWN = 50


def book(visit: Visit) -> Response:
    """The days of the tenant, or of one of its agents, the newest first."""
    agent, since, after = visit.word("agent"), visit.word("since"), visit.word("after")
    first = None if since is None else _day("since", since)
    last = None
    if after is not None:
        last = (_day("after", after), visit.word("after_agent") or "", visit.word("after_scope"))
    with visit.reading() as connection:
        found = day_book(connection, visit.tenant, agent, since=first, after=last, limit=SHOWN + 1)
    entries, older = found[:SHOWN], None
    if len(found) > SHOWN:
        ref = entries[-1].ref
        older = visit.link(after=ref.day.isoformat(), after_agent=ref.agent, after_scope=ref.scope)
    newer = None if after is None else visit.link(after=None, after_agent=None, after_scope=None)
    return visit.page("days.html", entries=entries, agent=agent, since=since, older=older, newer=newer)


def show(visit: Visit) -> Response:
    """One day: how it stands, and a version of its summary, or what differs between two."""
    agent, day = visit.word("agent"), visit.word("day")
    if agent is None or day is None:
        raise Trouble(HTTPStatus.BAD_REQUEST, "This page is of one day of one agent", "choose it in the book of days")
    which, scope = _day("day", day), visit.word("scope")
    version, against = visit.number("version", 0), visit.number("against", 0)
    with visit.reading() as connection:
        story = read_day(connection, visit.tenant, agent, which, scope=scope, version=version or None)
        if against and against not in story.versions:
            raise UnknownName(f"{agent}/{which} has no version {against} of its summary")
        older = read_day(connection, visit.tenant, agent, which, scope=scope, version=against) if against else None
        lines = _lines(older) + _lines(story)
        said = said_for(connection, visit.tenant, agent, lines)
    told = story.summary
    return visit.page(
        "day.html",
        story=story,
        parts=[] if told is None else _by_facet(_compared(older, told)),
        against=None if older is None else older.summary,
        said=said,
    )


def _day(name: str, given: str) -> date:
    try:
        return date.fromisoformat(given)
    except ValueError:
        raise Trouble(HTTPStatus.BAD_REQUEST, f"{name} is a day like 2026-03-05, not {given!r:.40}") from None


def _lines(story: DayStory | None) -> list[dict[str, Any]]:
    return [] if story is None or story.summary is None else story.summary.lines


def _compared(older: DayStory | None, told: Told) -> list[Differing]:
    """The lines of a version; beside an older one, also those that only that has."""
    if older is None or older.summary is None:
        return [Differing("same", line) for line in told.lines]
    return compare_lines(older.summary.lines, told.lines)


def _by_facet(lines: Iterable[Differing]) -> list[tuple[str, list[Differing]]]:
    """Under the headings that summaries have, in the order in which they stand."""

    def heading(one: Differing) -> str:
        facet = one.line.get("facet", "said")
        return str(HEADINGS.get(facet, facet))

    return [(title, list(group)) for title, group in groupby(lines, heading)]


ROUTES: list[Page] = [reads("/days", book), reads("/days/show", show)]
