"""Whether logins that are not the owner's may do here what this version of the schema needs of them.

Must not know: how findings are shown.
"""

from sqlalchemy import Connection

from slowwave_server.domain.spoken_time import count_words
from slowwave_server.services.access.grants import in_use, lacking
from slowwave_server.services.reports.check import Check, fine, problem

NAMED = 5


def check_roles(connection: Connection) -> Check:
    """Whether the roles are as old as the schema: `slowwave migrate` renews them, a restored dump or SQL does not."""
    if not in_use(connection):
        return fine("roles", "everybody logs in as the owner")
    found = lacking(connection)
    if not found:
        return fine("roles", "each may do its part with this schema")
    names = ", ".join(found[:NAMED]) + (" …" if len(found) > NAMED else "")
    finding = f"{count_words(len(found), 'thing')} that only the owner gets at: {names}"
    return problem("roles", "roles-outdated", finding)
