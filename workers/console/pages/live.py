"""Parts of pages that an open page reloads at intervals: the counts beside entries of the sidebar."""

from starlette.responses import Response

from slowwave_server.services.access.whole_installation import sees_everything
from slowwave_server.services.reports.dead_letters import count_open
from slowwave_server.services.reports.inbox import KEYS_READ, count_kinds
from slowwave_server.services.reports.quarantine import count_quarantined
from slowwave_server.workers.console.request import PageRequest
from slowwave_server.workers.console.routing import Page, reads


def badges(req: PageRequest) -> Response:
    """Return the number of items in the inbox and in quarantine."""
    with req.reading() as connection:
        nobodys = sees_everything(connection, req.user)
        counts = {
            "inbox": min(KEYS_READ, sum(count_kinds(connection, req.tenant).values())),
            "quarantine": count_quarantined(connection, req.tenant)
            + count_open(connection, req.tenant, nobodys=nobodys),
        }
    return req.part("parts/badges.html", counts=counts)


ROUTES: list[Page] = [reads("/live/badges", badges)]
