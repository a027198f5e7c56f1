"""Search and context, as an agent would get them.

Must not know: ranking, SQL.
"""

from http import HTTPStatus

from starlette.responses import Response

from slowwave_server.services.lookup import find_agent
from slowwave_server.workers.cli.options import scope_parts
from slowwave_server.workers.console.request import PageError, PageRequest
from slowwave_server.workers.console.routing import Page, reads

MOST_HITS = 30


def search(req: PageRequest) -> Response:
    """What a search of an agent finds, best first."""
    agent, query, review = req.word("agent"), req.word("query"), req.word("review") is not None
    scopes = _scopes(req)
    hits = None
    if agent and query:
        _known(req, agent)
        hits = req.memory.search(agent, query, MOST_HITS, scopes=scopes, include_review=review)
    return req.page("search.html", agent=agent, query=query, review=review, scopes=scopes, hits=hits)


def context(req: PageRequest) -> Response:
    """What would stand in an agent's next prompt."""
    agent, session, query = req.word("agent"), req.word("session"), req.word("query")
    scopes, days, tokens = _scopes(req), req.word("days"), req.word("max_tokens")
    found = None
    if agent:
        _known(req, agent)
        found = req.memory.context(
            agent,
            session,
            query,
            None if days is None else req.number("days", 0, most=366),
            scopes=scopes,
            max_tokens=None if tokens is None else req.number("max_tokens", 0),
        )
    given = {"agent": agent, "session": session, "query": query, "days": days, "max_tokens": tokens}
    return req.page("context.html", given=given, scopes=scopes, found=found)


def _known(req: PageRequest, agent: str) -> None:
    """Raises UnknownName: a reader answers with nothing for an agent that is not there, and a person mistypes."""
    with req.reading() as connection:
        find_agent(connection, req.tenant, agent)


def _scopes(req: PageRequest) -> tuple[str, ...]:
    """Rooms and teams beside the agent's own, with blanks or commas between. Raises InvalidName."""
    given = tuple(dict.fromkeys((req.word("scopes") or "").replace(",", " ").split()))
    for scope in given:
        scope_parts(scope)
    if len(given) > MOST_HITS:
        raise PageError(HTTPStatus.BAD_REQUEST, f"At most {MOST_HITS} scopes at once")
    return given


ROUTES: list[Page] = [reads("/search", search), reads("/context", context)]
