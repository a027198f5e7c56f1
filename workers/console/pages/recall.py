"""Search and context, as an agent would get them.

Must not know: ranking, SQL.
"""

from http import HTTPStatus

from starlette.responses import Response

from slowwave_server.services.lookup import find_agent
from slowwave_server.workers.cli.options import scope_parts
from slowwave_server.workers.console.routing import Page, reads
from slowwave_server.workers.console.visit import Trouble, Visit

MOST_HITS = 30


def search(visit: Visit) -> Response:
    """What a search of an agent finds, best first."""
    agent, query, review = visit.word("agent"), visit.word("query"), visit.word("review") is not None
    scopes = _scopes(visit)
    hits = None
    if agent and query:
        _known(visit, agent)
        hits = visit.memory.search(agent, query, MOST_HITS, scopes=scopes, include_review=review)
    return visit.page("search.html", agent=agent, query=query, review=review, scopes=scopes, hits=hits)


def context(visit: Visit) -> Response:
    """What would stand in an agent's next prompt."""
    agent, session, query = visit.word("agent"), visit.word("session"), visit.word("query")
    scopes, days, tokens = _scopes(visit), visit.word("days"), visit.word("max_tokens")
    found = None
    if agent:
        _known(visit, agent)
        found = visit.memory.context(
            agent,
            session,
            query,
            None if days is None else visit.number("days", 0, most=366),
            scopes=scopes,
            max_tokens=None if tokens is None else visit.number("max_tokens", 0),
        )
    given = {"agent": agent, "session": session, "query": query, "days": days, "max_tokens": tokens}
    return visit.page("context.html", given=given, scopes=scopes, found=found)


def _known(visit: Visit, agent: str) -> None:
    """Raises UnknownName: a reader answers with nothing for an agent that is not there, and a person mistypes."""
    with visit.reading() as connection:
        find_agent(connection, visit.tenant, agent)


def _scopes(visit: Visit) -> tuple[str, ...]:
    """Rooms and teams beside the agent's own, with blanks or commas between. Raises InvalidName."""
    given = tuple(dict.fromkeys((visit.word("scopes") or "").replace(",", " ").split()))
    for scope in given:
        scope_parts(scope)
    if len(given) > MOST_HITS:
        raise Trouble(HTTPStatus.BAD_REQUEST, f"At most {MOST_HITS} scopes at once")
    return given


ROUTES: list[Page] = [reads("/search", search), reads("/context", context)]
