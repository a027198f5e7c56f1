"""Choose the contradictions about which a pass asks a person: one of a group at a time, and a limited number per pass.

a pair contradicts ── another pair of its form is open or settled ──▶ not registered: one question covers the form
│
registered: both stay readable ── one of the two has an open question, or the pass asked enough ──▶ waits
│
a person is asked, at once or by a later pass, as soon as the group's question is answered
"""

from collections.abc import Iterable
from uuid import UUID

from sqlalchemy import Connection, Row, text

MOST_ASKED = 20
"""The largest number of questions that one pass adds for one scope, so that a person can answer them in one sitting."""

_GROUP_ASKED = """
    EXISTS (SELECT FROM slowwave.memory_conflicts o JOIN slowwave.review_items i ON i.conflict_id = o.id
            WHERE o.memory_id = ANY({pair}) AND i.state = 'open')
    OR EXISTS (SELECT FROM slowwave.memory_conflicts o JOIN slowwave.review_items i ON i.conflict_id = o.id
               WHERE o.conflicting_memory_id = ANY({pair}) AND i.state = 'open')
"""
_ASKED = text("SELECT " + _GROUP_ASKED.format(pair="CAST(:pair AS uuid[])"))
_FORM = text(
    "SELECT EXISTS (SELECT FROM slowwave.memory_conflicts k WHERE k.scope_id = :scope"
    " AND k.evidence ->> 'form' = :form AND k.status IN ('open', 'dismissed'))"
    " OR EXISTS (SELECT FROM slowwave.undone_rows u JOIN slowwave.maintenance_runs r ON r.id = u.run_id"
    "  WHERE u.scope_id = :scope AND u.table_name = 'memory_conflicts' AND u.row -> 'evidence' ->> 'form' = :form"
    "  AND r.no_repeat AND r.status <> 'undone')"
)
_NEVER_ASKED = f"""
    k.status = 'open' AND a.status IN ('inbox', 'episode', 'active') AND b.status IN ('inbox', 'episode', 'active')
    AND NOT EXISTS (SELECT FROM slowwave.review_items i WHERE i.conflict_id = k.id)
    AND NOT EXISTS (SELECT FROM slowwave.review_items i WHERE i.memory_id IN (k.memory_id, k.conflicting_memory_id))
    AND NOT ({_GROUP_ASKED.format(pair="ARRAY[k.memory_id, k.conflicting_memory_id]")})
"""
_SIDES = (
    " FROM slowwave.memory_conflicts k JOIN slowwave.memories a ON a.id = k.memory_id"
    " JOIN slowwave.memories b ON b.id = k.conflicting_memory_id"
)
WAITING = f"SELECT {_SIDES} WHERE k.scope_id = s.id AND {_NEVER_ASKED}"
"""The contradictions of scope `s` that a pass may ask about now, in SQL, as the query of an EXISTS."""
_NEXT = text(
    f"SELECT k.id, k.memory_id, k.conflicting_memory_id, k.reason {_SIDES}"
    f" WHERE k.scope_id = :scope AND k.id > :after AND {_NEVER_ASKED} ORDER BY k.id LIMIT 1"
)
_ANY = text(f"SELECT EXISTS (SELECT FROM slowwave.scopes s WHERE s.id = :scope AND EXISTS ({WAITING}))")


def is_asked(connection: Connection, pair: Iterable[UUID]) -> bool:
    """Return True if an open question is about a contradiction of one of these memories."""
    return bool(connection.execute(_ASKED, {"pair": list(pair)}).scalar())


def is_settled_form(connection: Connection, scope_id: int, form: str) -> bool:
    """Return True if a contradiction of this form is open, or a person decided that such statements can both be true.

    The form is also settled if a person undid such a conflict and forbade passes to register it again.
    """
    return bool(connection.execute(_FORM, {"scope": scope_id, "form": form}).scalar())


def next_unasked(connection: Connection, scope_id: int, after: int) -> Row[tuple[int, UUID, UUID, str]] | None:
    """Return the oldest contradiction after `after` that has no question yet and about which a pass may ask now."""
    return connection.execute(_NEXT, {"scope": scope_id, "after": after}).first()


def any_unasked(connection: Connection, scope_id: int) -> bool:
    """Return True if the scope has a contradiction about which a pass may ask a person now."""
    return bool(connection.execute(_ANY, {"scope": scope_id}).scalar())
