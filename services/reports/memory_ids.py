"""Find a memory by the whole UUID or, as contexts show it, by the end of the UUID."""

import re
from uuid import UUID

from slowwave.errors import InvalidQuery, shown
from slowwave_server.models.driver import Reads, read_rows
from slowwave_server.services.lookup import UnknownName

_END = re.compile(r"[0-9a-f]{8,12}")
_CALLED = (
    "SELECT m.id FROM slowwave.memories m JOIN slowwave.scopes k ON k.id = m.scope_id"
    " WHERE k.tenant = %(tenant)s AND right(CAST(m.id AS text), length(%(end)s)) = %(end)s LIMIT 2"
)


def check_memory_name(name: str) -> UUID | None:
    """Return the id of a whole UUID; None for the end of one. Raises InvalidQuery for anything else."""
    if _END.fullmatch(name):
        return None
    try:
        return UUID(name)
    except ValueError:
        raise InvalidQuery(f"a memory must be its id or its last 8 to 12 characters, got {shown(name)}") from None


def memory_called(connection: Reads, tenant: str, name: str) -> UUID:
    """Return the id of a memory by its whole UUID, which need not exist, or by its last 8 to 12 characters.

    Raises InvalidQuery for another name, UnknownName if no memory of the tenant or several have this end.
    """
    if (whole := check_memory_name(name)) is not None:
        return whole
    found = read_rows(connection, _CALLED, {"tenant": tenant, "end": name})
    if not found:
        raise UnknownName(
            f"tenant {tenant!r} has no memory whose id ends in {name}; `slowwave memory list AGENT` lists them"
        )
    if len(found) > 1:
        raise UnknownName(f"several memories of tenant {tenant!r} have ids that end in {name}: give the whole id")
    called: UUID = found[0]["id"]
    return called
