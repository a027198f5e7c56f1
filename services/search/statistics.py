"""Count which words are common in a scope, because in a search only rare words select candidates.

The figures are counted in the background: when a scope has become large, when it has grown by a tenth and a hundred
events, and when it has been quiet for some minutes. While an agent talks, the figures are slightly outdated. This
changes weights but never hides a document: a word that is not listed counts as rare, and in a scope that was never
counted, every word selects candidates. When an agent is quiet, the figures are exact, so the same data give the same
answers, whatever the times of earlier counts. A scope of more than 20,000 documents keeps figures that are up to a
tenth old.
"""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from sqlalchemy import Connection, Engine, text

# A smaller scope is searched completely. In a larger one, a search without common words finds the same in half the
# time. The column scopes.grown becomes true at this size, and at a growth by a tenth and a hundred events.
COUNT_FROM_EVENTS = 200
FLUSHES_AT_ONCE = 10_000
SCOPES_AT_ONCE = 20
# A word in fewer documents than this may select all of them as candidates.
COMMON_FROM_DOCUMENTS = 64
# In a larger scope, every nth document is counted, so that a count takes at most a second or two.
SAMPLE_DOCUMENTS = 40_000
QUIET_SECONDS = 300
# A count of this many documents takes a fifth of a second; larger scopes are not counted after each conversation.
SETTLE_DOCUMENTS = 20_000
SETTLED_AT_ONCE = 100

_NOTE = text("SELECT slowwave.update_scope_counters(:limit)")
_GROWN = text((Path(__file__).parent / "grown.sql").read_text(encoding="utf-8"))
_SETTLED = text((Path(__file__).parent / "settled.sql").read_text(encoding="utf-8"))
_REFRESH = text((Path(__file__).parent / "refresh.sql").read_text(encoding="utf-8"))


def scopes_to_refresh(connection: Connection) -> Sequence[int]:
    """Return scopes with missing or old statistics, the most grown first; reads flushes since the last call."""
    while connection.execute(_NOTE, {"limit": FLUSHES_AT_ONCE}).scalar_one() == FLUSHES_AT_ONCE:
        pass
    return connection.execute(_GROWN, {"limit": SCOPES_AT_ONCE}).scalars().all()


def refresh_statistics(connection: Connection, scope_id: int, now: datetime) -> int:
    """Count the words of a scope again. Return the number of common ones. One statement: readers see the old or the new
    result.

    A scope that another transaction counts or forgets is skipped, with the result 0, as an unknown scope.
    """
    values = {
        "scope": scope_id,
        "now": now,
        "common_from": COMMON_FROM_DOCUMENTS,
        "sample": SAMPLE_DOCUMENTS,
    }
    return int(connection.execute(_REFRESH, values).scalar_one())


def settled_scopes(connection: Connection, now: datetime, *, quiet_seconds: float = QUIET_SECONDS) -> Sequence[int]:
    """Return the ids of quiet scopes with events that no count includes."""
    values = {
        "now": now,
        "quiet_seconds": quiet_seconds,
        "most_documents": SETTLE_DOCUMENTS,
        "limit": SETTLED_AT_ONCE,
    }
    return connection.execute(_SETTLED, values).scalars().all()


def refresh_grown_scopes(engine: Engine, now: datetime, *, quiet_seconds: float = QUIET_SECONDS) -> int:
    """Count each scope again that has grown by a tenth, or that has been quiet since its last change. Return their
    number.

    Each scope is its own transaction.
    """
    with engine.connect() as connection:
        due = dict.fromkeys(scopes_to_refresh(connection))
        due |= dict.fromkeys(settled_scopes(connection, now, quiet_seconds=quiet_seconds))
        for scope_id in due:
            refresh_statistics(connection, scope_id, now)
    return len(due)
