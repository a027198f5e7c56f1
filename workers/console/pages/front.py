"""The first page: what is wrong and what to do, and how things stand.

Must not know: how anything is measured.
"""

from starlette.responses import Response

from services.reports.status import read_status
from workers.console.routing import Page, reads
from workers.console.visit import Visit


def overview(visit: Visit) -> Response:
    """How things stand for this tenant."""
    with visit.reading() as connection:
        status = read_status(connection, visit.queue, visit.tenant, visit.now)
    return visit.page("front.html", status=status, flower=visit.desk.settings.console.flower_url)


ROUTES: list[Page] = [reads("/", overview)]
