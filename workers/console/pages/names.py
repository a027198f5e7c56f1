"""Names that mean the same in a scope: where each alias comes from, and a form to add or remove one.

Must not know: SQL, how aliases are learned and searched with.
"""

from http import HTTPStatus

from sqlalchemy import Connection
from starlette.responses import Response

from slowwave.errors import InvalidMessage
from slowwave.identity import shared_scope
from slowwave_server.services.aliases.editing import AliasEdit, CannotRename, add_alias, remove_alias
from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.reports.aliases import ListedAlias, list_aliases
from slowwave_server.workers.console.places import Place, place_of
from slowwave_server.workers.console.routing import Page, changes, reads
from slowwave_server.workers.console.visit import Visit

SHOWN = 200


def listing(visit: Visit) -> Response:
    """The aliases of a scope, by name."""
    with visit.reading() as connection:
        place, agents = place_of(visit, connection)
        found = [] if place is None else _read(visit, connection, place)
    return _page(visit, place, agents, found)


def add(visit: Visit) -> Response:
    """Add an alias, in the person's name."""
    place, name, alias = _sent(visit)
    try:
        done = add_alias(visit.engine, visit.tenant, _scope(place), name, alias, by=visit.user.name, now=visit.now)
    except (CannotRename, InvalidMessage, UnknownName) as refused:
        return _refused(visit, place, refused)
    return _told(visit, place, done)


def remove(visit: Visit) -> Response:
    """Remove an alias, in the person's name: no flush learns it again."""
    place, name, alias = _sent(visit)
    try:
        done = remove_alias(visit.engine, visit.tenant, _scope(place), name, alias, by=visit.user.name, now=visit.now)
    except (InvalidMessage, UnknownName) as refused:
        return _refused(visit, place, refused)
    return _told(visit, place, done)


def _read(visit: Visit, connection: Connection, place: Place) -> list[ListedAlias]:
    try:
        return list_aliases(
            connection,
            visit.tenant,
            _scope(place),
            name=visit.word("name"),
            removed=visit.word("removed") is not None,
            limit=SHOWN,
        )
    except UnknownName:
        if place.shared is None:
            raise
        return []


def _sent(visit: Visit) -> tuple[Place, str, str]:
    """What a form names. Raises InvalidMessage, InvalidName."""
    agent = visit.field("agent")
    if not agent:
        raise InvalidMessage("the form names no agent; load the page again")
    return Place(agent, visit.field("scope") or None), visit.field("name"), visit.field("alias")


def _scope(place: Place) -> tuple[str, str]:
    return ("agent", place.agent) if place.scope is None else shared_scope(place.scope)


def _told(visit: Visit, place: Place, done: AliasEdit) -> Response:
    pairs = ", ".join(f"{name} · {alias}" for name, alias in done.pairs)
    say = f"{pairs}: {done.action}; run {done.run} did it, and can be undone."
    return visit.go("/names", say=say, agent=place.agent, scope=place.scope)


def _refused(visit: Visit, place: Place, refused: Exception) -> Response:
    with visit.reading() as connection:
        found = _read(visit, connection, place)
    return _page(visit, place, [], found, problem=f"Nothing was changed: {refused}")


def _page(
    visit: Visit, place: Place | None, agents: list[str], found: list[ListedAlias], problem: str | None = None
) -> Response:
    return visit.page(
        "names.html",
        status_code=HTTPStatus.OK if problem is None else HTTPStatus.CONFLICT,
        problem=problem,
        place=place,
        agents=agents,
        aliases=found,
        asked=visit.word("name") or "",
        removed=visit.word("removed") or "",
        typed={"name": visit.field("name"), "alias": visit.field("alias")},
        most=SHOWN,
    )


ROUTES: list[Page] = [
    reads("/names", listing),
    changes("/names/add", add, role="curator"),
    changes("/names/remove", remove, role="curator"),
]
