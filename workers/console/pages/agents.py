"""The list of agents."""

from starlette.responses import Response

from slowwave_server.services.reports.agents import list_agents
from slowwave_server.workers.console.app_state import Link
from slowwave_server.workers.console.request import PageRequest
from slowwave_server.workers.console.routing import Page, reads

SHOWN = 50


def listing(req: PageRequest) -> Response:
    """List agents by name."""
    after = req.word("after")
    with req.reading() as connection:
        found = list_agents(connection, req.tenant, after=after, limit=SHOWN + 1)
    older = req.link(after=found[SHOWN - 1].name) if len(found) > SHOWN else None
    return req.page("agents.html", agents=found[:SHOWN], newer=req.link(after=None) if after else None, older=older)


LINK = Link(
    title="Agents",
    group="Knowledge",
    place=1,
    icon="M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21c0-4 3.5-6 8-6s8 2 8 6",
    shows=(
        "one page for each agent, with the tabs `memories`, `sessions`, `days`, `notes`, `runs`, `inbox` and "
        "`settings`; a transcript: the turns of a session with the memories that each turn produced, 60 events a "
        "page, and why the session waits (as `slowwave session why`)"
    ),
    key="a",
    also=("/agent?agent=NAME&tab=TAB", "/session?agent=NAME&session=NAME&at=SEQ"),
)
ROUTES: list[Page] = [reads("/agents", listing, link=LINK)]
