"""A question to an agent's memory: the hits with their reasons, and the next prompt."""

from collections.abc import Iterator
from http import HTTPStatus

from starlette.responses import Response

from slowwave import Hit
from slowwave.identity import shared_scope
from slowwave_server.services.lookup import find_agent
from slowwave_server.workers.console.app_state import Link
from slowwave_server.workers.console.request import PageError, PageRequest
from slowwave_server.workers.console.routing import Page, reads
from slowwave_server.workers.console.scope_params import read_scope_params

MOST_HITS = 12
MOST_SCOPES = 30


def recall(req: PageRequest) -> Response:
    """Show the hits of a question, and the prompt at this moment."""
    query, session, review = req.word("query"), req.word("session"), req.word("review") is not None
    scopes, days, tokens = _scopes(req), req.word("days"), req.word("max_tokens")
    with req.reading() as connection:
        place, agents = read_scope_params(req, connection)
        agent = None if place is None else place.agent
        if agent is not None:
            # The reader returns nothing for an unknown agent, but here a person may have mistyped the name.
            find_agent(connection, req.tenant, agent)
    hits = found = None
    if agent is not None and (query or req.word("agent")):
        if query:
            hits = req.memory.search(agent, query, MOST_HITS, scopes=scopes, include_review=review)
        found = req.memory.context(
            agent,
            session,
            query,
            None if days is None else req.number("days", 0, most=366),
            scopes=scopes,
            max_tokens=None if tokens is None else req.number("max_tokens", 0),
        )
    return req.page(
        "recall.html",
        place=place,
        agents=agents,
        agent=agent,
        given={"query": query, "session": session, "days": days, "max_tokens": tokens},
        review=review,
        scopes=scopes,
        hits=None if hits is None else [(hit, list(reasons(hit))) for hit in hits],
        found=found,
    )


def reasons(hit: Hit) -> Iterator[str]:
    """Explain why the ranking chose a hit, in sentences, with the figures of each part."""
    why = hit.why
    if why is None:
        return
    if why.coverage > 0:
        share = why.coverage * 100
        yield f"It holds {share:.0f} % of the question's words, weighted by rarity (words {why.words:+.2f})."
    elif why.words > 0:
        yield f"Its words are related to the question's (words {why.words:+.2f})."
    if why.cosine is not None and why.vector > 0:
        yield f"It means something close to the question (cosine {why.cosine:.2f}, vector {why.vector:+.2f})."
    if why.session > 0:
        yield f"Its session is about the question (session {why.session:+.2f})."
    if why.interval > 0:
        yield f"It lies in the period that the question names (interval {why.interval:+.2f})."


def _scopes(req: PageRequest) -> tuple[str, ...]:
    """Return rooms and teams besides the agent's own scope, separated by blanks or commas. Raises InvalidName."""
    given = tuple(dict.fromkeys((req.word("scopes") or "").replace(",", " ").split()))
    for scope in given:
        shared_scope(scope)
    if len(given) > MOST_SCOPES:
        raise PageError(HTTPStatus.BAD_REQUEST, f"scopes holds at most {MOST_SCOPES} names, got {len(given)}")
    return given


LINK = Link(
    title="Recall",
    group="Knowledge",
    place=6,
    icon="M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM15.5 15.5L21 21",
    shows="the hits of a query, why each was ranked there, and the context for the agent's next prompt",
    key="s",
)
ROUTES: list[Page] = [reads("/recall", recall, link=LINK)]
