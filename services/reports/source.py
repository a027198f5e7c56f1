"""Check of `memory.source`: are conversations of another program read?"""

from datetime import datetime

from sqlalchemy import Connection

from slowwave_server.domain.spoken_time import duration_words, pluralize
from slowwave_server.services.reports.check import Check, fine, problem
from slowwave_server.services.reports.metrics.deliveries import read_sources
from slowwave_server.services.reports.metrics.sessions import age


def check_source(connection: Connection, source: str, *, now: datetime) -> Check:
    """Check for runs of all tenants that wait without a reader, or could not be read. No text is read."""
    if source == "events":
        return fine("source", "hooks record what is said (memory.source is events)")
    found = read_sources(connection, now=now)
    if found.failing:
        since = duration_words(age(found.failing_since, now))
        finding = f"{pluralize(found.failing, 'run')} could not be read, the first for {since}: {found.error}"
        return problem("source", "source-unreadable", finding)
    if found.late:
        since = duration_words(age(found.late_since, now))
        finding = f"{pluralize(found.late, 'run')} should have been looked at, the first for {since}"
        return problem("source", "source-late", finding, f"SLOWWAVE_MEMORY__SOURCE={source} for both")
    return fine("source", f"no run of {source} waits longer than it should")
