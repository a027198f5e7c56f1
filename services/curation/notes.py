"""Find the memories that may be curated, or the reason why there are none."""

from datetime import datetime

from sqlalchemy import Connection, text

from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.services.consolidation.world import NOT_AGAIN

_HOLDS = "m.superseded_by IS NULL AND (m.valid_to IS NULL OR m.valid_to > :now)"
_BORNE_OUT = (
    "m.trust NOT IN ('assistant', 'task') OR EXISTS ("
    "SELECT FROM slowwave.review_items r WHERE r.memory_id = m.id AND r.state = 'accepted')"
)
_UNCONTESTED = (
    "NOT EXISTS (SELECT FROM slowwave.review_items r WHERE r.memory_id = m.id AND r.state = 'open')"
    " AND NOT EXISTS (SELECT FROM slowwave.memory_conflicts k WHERE k.memory_id = m.id AND k.status = 'open')"
    " AND NOT EXISTS"
    " (SELECT FROM slowwave.memory_conflicts k WHERE k.conflicting_memory_id = m.id AND k.status = 'open')"
)
# A note whose promotion was undone waits until it is said again or a deep pass has checked it.
_NOT_UNDONE = (
    "NOT EXISTS (SELECT FROM slowwave.memory_changes c JOIN slowwave.maintenance_runs r ON r.id = c.run_id"
    f" WHERE c.memory_id = m.id AND c.action = 'curated' AND {NOT_AGAIN.replace(':again', 'false')})"
)
IMPORTANCE = "slowwave.learned_importance(m.importance, m.use_gain)"
"""Of a memory `m`, in SQL: with what its use adds."""
ELIGIBLE = (
    f"m.status IN ('inbox', 'episode') AND {_HOLDS} AND {IMPORTANCE} * m.confidence >= :least"
    f" AND ({_BORNE_OUT}) AND {_UNCONTESTED} AND {_NOT_UNDONE}"
)
"""Which memories `m` may be curated, in SQL, by :now and :least (what one is worth, about)."""

_OBSTACLES = {
    "ended": f"NOT ({_HOLDS})",
    "claimed by an assistant or a task alone": f"NOT ({_BORNE_OUT})",
    "contested or asked about": f"NOT ({_UNCONTESTED})",
    "curated and undone": f"NOT ({_NOT_UNDONE})",
}
"""What keeps a note from being curated, in words and in SQL; the first that holds counts."""
_FIRST = " ".join(f"WHEN {condition} THEN {place}" for place, condition in enumerate(_OBSTACLES.values()))
_WHY = text(
    f"SELECT o.place, count(*) AS notes FROM slowwave.memories m"
    f" CROSS JOIN LATERAL (SELECT CASE {_FIRST} ELSE {len(_OBSTACLES)} END AS place) AS o"
    " WHERE m.scope_id = :scope AND m.status IN ('inbox', 'episode') GROUP BY o.place ORDER BY o.place"
)


def why_none(connection: Connection, scope_id: int, *, passed_over: int, now: datetime) -> str:
    """Return in words why a scope has no note good enough. passed_over: notes that an active memory settles."""
    found = {row.place: row.notes for row in connection.execute(_WHY, {"scope": scope_id, "now": now})}
    if not found:
        return "the scope has no note that is not curated yet"
    little = found.get(len(_OBSTACLES), 0) - passed_over
    told = [f"{found[place]:,} {words}" for place, words in enumerate(_OBSTACLES) if place in found]
    if little > 0:
        told.append(f"{little:,} not important and certain enough")
    notes = pluralize(sum(found.values()), "note")
    return f"of {notes}, {', '.join(told)}" if told else f"of {notes}"
