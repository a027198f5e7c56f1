"""The list of agents."""

from starlette.responses import Response

from slowwave_server.services.reports.agents import list_agents
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


ROUTES: list[Page] = [reads("/agents", listing)]
