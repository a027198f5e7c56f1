"""The page of names with the same meaning in a scope: the source of each alias, and a form to add or remove one."""

from http import HTTPStatus

from sqlalchemy import Connection
from starlette.responses import Response

from slowwave.errors import InvalidMessage
from slowwave.identity import shared_scope
from slowwave_server.services.aliases.editing import AliasEdit, CannotRename, add_alias, remove_alias
from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.reports.aliases import ListedAlias, list_aliases
from slowwave_server.workers.console.app_state import Link
from slowwave_server.workers.console.request import PageRequest
from slowwave_server.workers.console.routing import Page, changes, reads
from slowwave_server.workers.console.scope_params import ScopeParams, read_scope_params

SHOWN = 200


def listing(req: PageRequest) -> Response:
    """List the aliases of a scope by name."""
    with req.reading() as connection:
        place, agents = read_scope_params(req, connection)
        found = [] if place is None else _read(req, connection, place)
    return _page(req, place, agents, found)


def add(req: PageRequest) -> Response:
    """Add an alias, in the person's name."""
    place, name, alias = _sent(req)
    try:
        done = add_alias(req.engine, req.tenant, _scope(place), name, alias, by=req.user.name, now=req.now)
    except (CannotRename, InvalidMessage, UnknownName) as refused:
        return _refused(req, place, refused)
    return _told(req, place, done)


def remove(req: PageRequest) -> Response:
    """Remove an alias, in the person's name: no flush learns it again."""
    place, name, alias = _sent(req)
    try:
        done = remove_alias(req.engine, req.tenant, _scope(place), name, alias, by=req.user.name, now=req.now)
    except (InvalidMessage, UnknownName) as refused:
        return _refused(req, place, refused)
    return _told(req, place, done)


def _read(req: PageRequest, connection: Connection, place: ScopeParams) -> list[ListedAlias]:
    try:
        return list_aliases(
            connection,
            req.tenant,
            _scope(place),
            name=req.word("name"),
            removed=req.word("removed") is not None,
            limit=SHOWN,
        )
    except UnknownName:
        if place.shared is None:
            raise
        return []


def _sent(req: PageRequest) -> tuple[ScopeParams, str, str]:
    """Return the names in a form. Raises InvalidMessage, InvalidName."""
    agent = req.field("agent")
    if not agent:
        raise InvalidMessage("the form names no agent; load the page again")
    return ScopeParams(agent, req.field("scope") or None), req.field("name"), req.field("alias")


def _scope(place: ScopeParams) -> tuple[str, str]:
    return ("agent", place.agent) if place.scope is None else shared_scope(place.scope)


def _told(req: PageRequest, place: ScopeParams, done: AliasEdit) -> Response:
    pairs = ", ".join(f"{name} · {alias}" for name, alias in done.pairs)
    say = f"{pairs}: {done.action}; run {done.run} did it, and can be undone."
    return req.go("/aliases", say=say, agent=place.agent, scope=place.scope)


def _refused(req: PageRequest, place: ScopeParams, refused: Exception) -> Response:
    with req.reading() as connection:
        found = _read(req, connection, place)
    return _page(req, place, [], found, problem=f"Nothing was changed: {refused}")


def _page(
    req: PageRequest, place: ScopeParams | None, agents: list[str], found: list[ListedAlias], problem: str | None = None
) -> Response:
    return req.page(
        "aliases.html",
        status_code=HTTPStatus.OK if problem is None else HTTPStatus.CONFLICT,
        problem=problem,
        place=place,
        agents=agents,
        aliases=found,
        asked=req.word("name") or "",
        removed=req.word("removed") or "",
        typed={"name": req.field("name"), "alias": req.field("alias")},
        most=SHOWN,
    )


LINK = Link(
    title="Aliases",
    group="Knowledge",
    place=5,
    icon="M4 12h16M14 6l6 6-6 6M10 6l-6 6 6 6",
    shows="names that mean the same in a scope, with the texts that say so",
)
ROUTES: list[Page] = [
    reads("/aliases", listing, link=LINK),
    changes("/aliases/add", add, role="curator"),
    changes("/aliases/remove", remove, role="curator"),
]
