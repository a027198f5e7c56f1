"""Learn importance from use: note which memories replies cite, and compute the gain or loss of importance.

    show_memories (SQL)    a context showed memories to a conversation
    use_memories (SQL)     a program says that a reply used memories
    note_citations         after a flush: which of the memories shown do the replies repeat?
    learn_from_use         in the consolidation jobs: all uses of a memory -> its gain (domain.learned_importance)

A repeated step counts no use twice.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import SQLAlchemyError

from slowwave_server.domain.citations import cites
from slowwave_server.domain.events import Event
from slowwave_server.domain.learned_importance import KEPT, Use, use_gain
from slowwave_server.services.memories.use_counts import OF_MEMORIES

log = logging.getLogger(__name__)

PAGE = 500
# A conversation that states a memory is no witness to its use.
_SHOWN = text(
    "SELECT m.id, m.content FROM slowwave.memory_uses u JOIN slowwave.memories m ON m.id = u.memory_id"
    " WHERE u.session_id = :session AND u.last_used_at IS NULL AND NOT EXISTS ("
    "  SELECT FROM slowwave.memory_sources x WHERE x.memory_id = m.id AND x.session_id = :session)"
)
_CITED = text(
    "UPDATE slowwave.memory_uses u SET last_used_at = :at"
    " WHERE u.session_id = :session AND u.memory_id = :memory AND u.last_used_at IS NULL"
)
_PAGE = text(
    "SELECT h.id FROM ("
    " (SELECT DISTINCT u.memory_id AS id FROM slowwave.memory_uses u"
    "  WHERE u.memory_id > :after AND :learn ORDER BY 1 LIMIT :most)"
    " UNION"
    " (SELECT m.id FROM slowwave.memories m WHERE m.use_gain <> 0 AND m.id > :after ORDER BY m.id LIMIT :most)"
    ") AS h ORDER BY h.id LIMIT :most"
)
_USES = text(f"SELECT w.id, u.session_id, u.shown_at, u.last_used_at {OF_MEMORIES.format(ids=':ids')}")
_WITH_SURVIVORS = text(
    "SELECT m.id FROM slowwave.memories m WHERE m.id = ANY (:ids)"
    " UNION SELECT m.merged_into FROM slowwave.memories m WHERE m.id = ANY (:ids) AND m.merged_into IS NOT NULL"
)
# The next pass looks again at a memory whose importance moved by about a tenth: it may be promoted now, or no more.
_GAIN = text(
    "UPDATE slowwave.memories m SET use_gain = g.gain, checked_at = CASE"
    "  WHEN round(CAST(m.use_gain AS numeric), 1) = round(CAST(g.gain AS numeric), 1) THEN m.checked_at END"
    " FROM unnest(CAST(:ids AS uuid[]), CAST(:gains AS float8[])) AS g (id, gain)"
    " WHERE m.id = g.id AND m.use_gain <> g.gain"
)
_OLD = text("DELETE FROM slowwave.memory_uses u WHERE u.last_used_at IS NULL AND u.shown_at < :before")


def note_citations(engine: Engine, session_id: int, events: Sequence[Event]) -> int:
    """Note which shown memories a session's replies repeat. Return their number. Database errors are not raised.

    events: the session's events in order; an event may be given twice.
    """
    replies = [event for event in events if event.kind == "assistant"]
    if not replies:
        return 0
    others = [event.content for event in events if event.kind != "assistant"]
    cited: list[dict[str, Any]] = []
    try:
        with engine.connect() as connection:
            for row in connection.execute(_SHOWN, {"session": session_id}).all():
                at = [one.happened_at for one in replies if cites(one.content, row.id, row.content, others)]
                if at:
                    cited.append({"session": session_id, "memory": row.id, "at": max(at)})
            if cited:
                connection.execute(_CITED, cited)
                connection.commit()
    except SQLAlchemyError as error:
        log.warning("the memories that replies cite were not noted: %s", type(error).__name__)
        return 0
    return len(cited)


def learn_from_use(engine: Engine, *, on: bool, now: datetime, go_on: Callable[[], bool] = lambda: True) -> int:
    """Learn the importance of all memories from their uses. Return the number of changed ones. on: False to remove all
    gains.

    go_on: a function that is called before each page; if it returns False, the call stops.
    """
    changed, after = 0, UUID(int=0)
    while go_on():
        with engine.begin() as connection:
            page = connection.execute(_PAGE, {"after": after, "learn": on, "most": PAGE}).scalars().all()
            changed += relearn(connection, page, now=now, on=on)
        if len(page) < PAGE:
            break
        after = page[-1]
    with engine.begin() as connection:
        connection.execute(_OLD, {"before": now - KEPT})
    return changed


def relearn(connection: Connection, memories: Sequence[UUID], *, now: datetime, on: bool = True) -> int:
    """Learn the importance of these memories, and of their survivors. Return the number of changed ones."""
    if not memories:
        return 0
    ids = connection.execute(_WITH_SURVIVORS, {"ids": list(memories)}).scalars().all()
    uses: dict[UUID, list[Use]] = defaultdict(list)
    for row in connection.execute(_USES, {"ids": ids}) if on else ():
        uses[row.id].append(Use(row.session_id, row.shown_at, row.last_used_at))
    gains = [use_gain(uses[memory], now) for memory in ids]
    return connection.execute(_GAIN, {"ids": ids, "gains": gains}).rowcount
