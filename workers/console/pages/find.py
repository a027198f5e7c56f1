"""Search over everything: pages by title, agents by name, memories by their words. The dialog of Ctrl-K reads parts."""

from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response

from slowwave_server.services.reports.find import Found, find_anything
from slowwave_server.workers.console.request import PageRequest
from slowwave_server.workers.console.routing import Page, reads

LONGEST = 200
PAGES_SHOWN = 4
Result = tuple[str, str, str]
"""A title, a note beside it, an address."""


def find(req: PageRequest) -> Response:
    """Show the results for `q`: the whole page, or the part for the dialog."""
    words = (req.word("q") or "")[:LONGEST]
    found = Found((), ())
    if words:
        with req.reading() as connection:
            found = find_anything(connection, req.tenant, words)
    values: dict[str, Any] = {"words": words, "groups_found": _groups(req, words, found)}
    return req.part("parts/found.html", **values) if req.wants_part else req.page("find.html", **values)


def _groups(req: PageRequest, words: str, found: Found) -> list[tuple[str, list[Result]]]:
    """Return the results under their headings; headings without a result are omitted."""
    pages = [link for link in req.state.navigation if req.may(link.role)]
    fitting = [link for link in pages if words.casefold() in link.title.casefold()]
    groups: list[tuple[str, list[Result]]] = [
        ("Agents", [(name, "", f"/agent?{urlencode({'agent': name})}") for name in found.agents]),
        ("Memories", [(one.content, one.scope, f"/memories/{one.id}") for one in found.memories]),
        ("Pages", [(link.title, link.group, link.path) for link in (fitting[:PAGES_SHOWN] if words else pages)]),
    ]
    return [(title, results) for title, results in groups if results]


ROUTES: list[Page] = [reads("/find", find)]
