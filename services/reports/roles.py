"""Whether logins that are not the owner's may do here what this version of the schema needs of them.

Must not know: how findings are shown.
"""

from sqlalchemy import Connection

from domain.spoken_time import count_words
from services.access.grants import in_use, lacking
from services.reports.doctor import Check

NAMED = 5


def check_roles(connection: Connection) -> Check:
    """Whether the roles are as old as the schema: `slowwave migrate` renews them, a restored dump or SQL does not."""
    if not in_use(connection):
        return Check("roles", "ok", "everybody logs in as the owner")
    found = lacking(connection)
    if not found:
        return Check("roles", "ok", "each may do its part with this schema")
    names = ", ".join(found[:NAMED]) + (" …" if len(found) > NAMED else "")
    finding = f"older than the schema: {count_words(len(found), 'thing')} that only the owner gets at ({names})"
    return Check("roles", "problem", finding, "run `slowwave roles apply` as the owner")
