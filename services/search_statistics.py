"""Which words are common in a scope: search lets only rare ones name its candidates.

Counted in the background, when a scope has become large or has grown by a tenth and a hundred events. In between the
figures are a little old, which moves a weight by a hair and never hides a document: a word that is not listed counts as
rare, and a scope that was never counted is searched by every word.

Must not know: when it is called, or how documents are ranked.
"""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from sqlalchemy import Connection, Engine, text

# A scope smaller than this is searched whole. From here on leaving common words aside finds the same in half the time.
# That, and a growth by a tenth and a hundred events, is what the column scopes.grown says.
COUNT_FROM_EVENTS = 200
FLUSHES_AT_ONCE = 10_000
# A word in fewer documents than this may name all of them as candidates.
COMMON_FROM_DOCUMENTS = 64
# Every how-manieth document of a larger scope is counted, so that a count stays a matter of a second or two.
SAMPLE_DOCUMENTS = 40_000

_NOTE = text("SELECT slowwave.update_scope_counters(:limit)")
_GROWN = text((Path(__file__).parent / "search_grown.sql").read_text(encoding="utf-8"))
_REFRESH = text((Path(__file__).parent / "search_refresh.sql").read_text(encoding="utf-8"))


def scopes_to_refresh(connection: Connection, *, limit: int = 20) -> Sequence[int]:
    """Answer the ids of scopes whose statistics are missing or old, those that have grown most first.

    Notes what was flushed since the last call: that is all that is read, however much there is.
    """
    while connection.execute(_NOTE, {"limit": FLUSHES_AT_ONCE}).scalar_one() == FLUSHES_AT_ONCE:
        pass
    return connection.execute(_GROWN, {"limit": limit}).scalars().all()


def refresh_statistics(connection: Connection, scope_id: int, now: datetime) -> int:
    """Count the words of a scope anew; answer how many are common. One statement: readers see the old or the new.

    A scope that somebody else counts or forgets is left alone: 0, as for one that is unknown.
    """
    values = {
        "scope": scope_id,
        "now": now,
        "common_from": COMMON_FROM_DOCUMENTS,
        "sample": SAMPLE_DOCUMENTS,
    }
    return int(connection.execute(_REFRESH, values).scalar_one())


def refresh_grown_scopes(engine: Engine, now: datetime) -> int:
    """Count anew wherever a scope has grown by a tenth; answers how many were. Each scope is its own transaction."""
    with engine.connect() as connection:
        grown = list(scopes_to_refresh(connection))
        for scope_id in grown:
            refresh_statistics(connection, scope_id, now)
    return len(grown)
