"""Show an error as a page: the error and its fix, in the same words as the command line."""

import logging
import traceback
from http import HTTPStatus

from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, ProgrammingError
from starlette.responses import Response

from slowwave.errors import SlowwaveError
from slowwave_server.domain.health_issues import HEALTH_ISSUES
from slowwave_server.models.driver import WrongSchema
from slowwave_server.models.errors import first_line
from slowwave_server.models.schema import require_current
from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.reports.refusals import cure_of_refusal
from slowwave_server.workers.console.request import PageError, PageRequest
from slowwave_server.workers.shared.failures import UNAVAILABLE, explain_failure

log = logging.getLogger(__name__)


def trouble_of(req: PageRequest, error: Exception) -> PageError:
    """Turn any error, expected or unexpected, into the PageError to show."""
    if isinstance(error, PageError):
        return error
    if isinstance(error, UnknownName):
        return PageError(HTTPStatus.NOT_FOUND, str(error))
    if (known := _of_catalogue(req, error)) is not None:
        return PageError(
            HTTPStatus.SERVICE_UNAVAILABLE, HEALTH_ISSUES[known].title.rstrip("."), HEALTH_ISSUES[known].cure
        )
    tenant = req.state.settings.tenant if req.login is None else req.tenant
    expected = explain_failure(error, req.state.shell(tenant))
    if expected is None or (isinstance(error, OSError) and not isinstance(error, SlowwaveError)):
        # The error's text may quote a conversation, so the log gets only the type and the traceback.
        where = "".join(traceback.format_tb(error.__traceback__))
        log.error("a page failed: %s at %s\n%s", type(error).__name__, req.path, where)
        cure = "the console's log says where; `slowwave doctor` checks the rest"
        return PageError(HTTPStatus.INTERNAL_SERVER_ERROR, f"This page failed ({type(error).__name__})", cure)
    code, sentence, remedy = expected
    return PageError(
        HTTPStatus.SERVICE_UNAVAILABLE if code == UNAVAILABLE else HTTPStatus.BAD_REQUEST, sentence, remedy
    )


def _of_catalogue(req: PageRequest, error: Exception) -> str | None:
    """Return the id of the health issue behind a Postgres error, or None if the catalogue lists no such issue."""
    if isinstance(error, (OperationalError, InterfaceError)) and getattr(error.orig, "sqlstate", None) is None:
        return "postgres-away" if cure_of_refusal("postgres", first_line(error)) is None else "postgres-refuses"
    if isinstance(error, ProgrammingError):
        try:
            with req.state.reading() as connection:
                require_current(connection)
        except WrongSchema:
            return "schema-behind"
        except DBAPIError:
            return None
    return None


def answer_failure(req: PageRequest, error: Exception) -> Response:
    """Return the error page."""
    trouble = trouble_of(req, error)
    return req.page("error.html", status_code=trouble.status, trouble=trouble)
