"""The page of the audit log: logins, failed logins, exports, revealed secrets, and changes of roles and keys."""

from typing import get_args

from starlette.responses import Response

from slowwave.errors import InvalidQuery
from slowwave_server.services.access.audit_log import AUDIT_DAYS, Action, list_acts
from slowwave_server.services.access.whole_installation import sees_everything
from slowwave_server.workers.console.app_state import Link
from slowwave_server.workers.console.request import PageRequest
from slowwave_server.workers.console.routing import Page, reads

SHOWN = 50
ACTIONS: tuple[Action, ...] = get_args(Action)


def listing(req: PageRequest) -> Response:
    """List this tenant's audit entries, newest first; users who see all tenants also get entries without a tenant."""
    action, before = req.word("action"), req.number("before", 0, most=2**63 - 1)
    if action is not None and action not in ACTIONS:
        raise InvalidQuery(f"action is one of {', '.join(ACTIONS)}, not {action!r:.60}")
    with req.reading() as connection:
        nobodys = sees_everything(connection, req.user)
        found = list_acts(
            connection, req.tenant, nobodys=nobodys, action=action, before=before or None, limit=SHOWN + 1
        )
    acts = found[:SHOWN]
    return req.page(
        "audit.html",
        acts=acts,
        days=AUDIT_DAYS,
        action=action or "",
        actions=[("", "all"), *((one, one) for one in ACTIONS)],
        newer=req.link(before=None) if before else None,
        older=req.link(before=acts[-1].id) if len(found) > SHOWN else None,
    )


LINK = Link(
    title="Audit log",
    group="History",
    place=3,
    icon="M12 3l8 3v6c0 5-3.500 8-8 9-4.500-1-8-4-8-9V6zM9 12l2 2 4-4",
    shows="[logins, exports, revealed secrets, roles and keys](#the-audit-log), for operators",
)
ROUTES: list[Page] = [reads("/audit", listing, role="operator", link=LINK)]
