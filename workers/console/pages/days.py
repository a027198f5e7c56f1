"""Days: the list of days, and one version of a day's summary with its evidence."""

from collections.abc import Iterable
from datetime import date
from http import HTTPStatus
from itertools import groupby
from typing import Any

from starlette.responses import Response

from slowwave_server.domain.summaries.lines import HEADINGS
from slowwave_server.services.days.book import day_book
from slowwave_server.services.reports.days import read_day, said_for
from slowwave_server.workers.console.app_state import Link
from slowwave_server.workers.console.request import PageError, PageRequest
from slowwave_server.workers.console.routing import Page, reads

SHOWN = 50


def book(req: PageRequest) -> Response:
    """List the days of the tenant, or of one of its agents, newest first."""
    agent, since, after = req.word("agent"), req.word("since"), req.word("after")
    first = None if since is None else _day("since", since)
    last = None
    if after is not None:
        last = (_day("after", after), req.word("after_agent") or "", req.word("after_scope"))
    with req.reading() as connection:
        found = day_book(connection, req.tenant, agent, since=first, after=last, limit=SHOWN + 1)
    entries, older = found[:SHOWN], None
    if len(found) > SHOWN:
        ref = entries[-1].ref
        older = req.link(after=ref.day.isoformat(), after_agent=ref.agent, after_scope=ref.scope)
    newer = None if after is None else req.link(after=None, after_agent=None, after_scope=None)
    return req.page("days.html", entries=entries, agent=agent, since=since, older=older, newer=newer)


def show(req: PageRequest) -> Response:
    """Show one day: its status, and a version of its summary."""
    agent, day = req.word("agent"), req.word("day")
    if agent is None or day is None:
        raise PageError(HTTPStatus.BAD_REQUEST, "This page is of one day of one agent", "choose it in the book of days")
    which, scope = _day("day", day), req.word("scope")
    with req.reading() as connection:
        story = read_day(connection, req.tenant, agent, which, scope=scope, version=req.number("version", 0) or None)
        lines = [] if story.summary is None else story.summary.lines
        said = said_for(connection, req.tenant, agent, lines)
    return req.page("day.html", story=story, parts=_by_facet(lines), said=said)


def _day(name: str, given: str) -> date:
    try:
        return date.fromisoformat(given)
    except ValueError:
        raise PageError(HTTPStatus.BAD_REQUEST, f"{name} is a day like 2026-03-05, not {given!r:.40}") from None


def _by_facet(lines: Iterable[dict[str, Any]]) -> list[tuple[str, list[dict[str, Any]]]]:
    """Group lines under the headings of summaries, in order."""

    def heading(line: dict[str, Any]) -> str:
        facet = line.get("facet", "said")
        return str(HEADINGS.get(facet, facet))

    return [(title, list(group)) for title, group in groupby(lines, heading)]


LINK = Link(
    title="Days",
    group="History",
    place=1,
    icon="M4 6h16v14H4zM4 10h16M8 3v5M16 3v5",
    shows="days with their summaries and versions",
    key="d",
)
ROUTES: list[Page] = [reads("/days", book, link=LINK), reads("/days/show", show)]
