"""Check that the logins besides the owner's have the privileges that this version of the schema needs."""

from collections.abc import Iterator

from sqlalchemy import Connection

from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.services.access.bounds import lacking_bounds
from slowwave_server.services.access.grants import in_use, lacking
from slowwave_server.services.reports.check import Check, fine, problem

NAMED = 5


def check_roles(connection: Connection) -> Iterator[Check]:
    """Check that the roles' grants are as new as the schema (`slowwave admin migrate` renews them, a restored dump or
    SQL does not), and that each login of an agent's host is limited.
    """
    if not in_use(connection):
        yield fine("roles", "everybody logs in as the owner")
        return
    found = lacking(connection)
    if found:
        finding = f"{pluralize(len(found), 'thing')} that only the owner can access: {_named(found, ', ')}"
        yield problem("roles", "roles-outdated", finding)
    else:
        yield fine("roles", "each may do its part with this schema")
    unbounded = lacking_bounds(connection)
    if unbounded:
        yield problem("logins", "producers-unbounded", _named(unbounded, "; "))
    else:
        yield fine("logins", "no login of an agent's host can take all connections or hold our locks")


def _named(found: list[str], separator: str) -> str:
    return separator.join(found[:NAMED]) + (" …" if len(found) > NAMED else "")
