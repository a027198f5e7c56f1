"""Forget aliases: a pair of names is deleted with the last event that says it, even if a person had removed the pair.

A pair that a person added stays, unless its whole scope is forgotten.
"""

from sqlalchemy import Connection, text

from slowwave_server.services.forget.gather import Step, count_rows

_GONE = (
    "CREATE TEMP TABLE gone_aliases ON COMMIT DROP AS"
    " SELECT p.id FROM slowwave.aliases p JOIN gone_scopes k ON k.id = p.scope_id"
    " UNION SELECT p.id FROM slowwave.aliases p JOIN slowwave.alias_sources x ON x.alias_id = p.id"
    "  JOIN gone_sessions s ON s.id = x.session_id"
    "  WHERE p.status <> 'added' AND NOT EXISTS (SELECT FROM slowwave.alias_sources o WHERE o.alias_id = p.id"
    "   AND o.session_id NOT IN (SELECT id FROM gone_sessions))"
)
# A run whose changes are deleted can't be undone.
_TOUCHED = (
    "INSERT INTO touched_runs SELECT DISTINCT c.run_id, CAST(NULL AS text) FROM gone_aliases g"
    " JOIN slowwave.alias_changes c ON c.alias_id = g.id JOIN slowwave.maintenance_runs r ON r.id = c.run_id"
    " WHERE NOT EXISTS (SELECT FROM gone_scopes k WHERE k.id = r.scope_id)"
)

ALIASES: tuple[Step, ...] = (
    Step("DELETE FROM slowwave.alias_sources x USING gone_sessions s WHERE s.id = x.session_id"),
    Step(
        "DELETE FROM slowwave.alias_changes c WHERE c.alias_id IN (SELECT id FROM gone_aliases)"
        " OR c.scope_id IN (SELECT id FROM gone_scopes)"
    ),
    Step("DELETE FROM slowwave.aliases p USING gone_aliases g WHERE g.id = p.id", "aliases"),
)
"""What goes, before the sessions that said it."""


def mark_aliases(connection: Connection) -> None:
    """Find the pairs to delete, and the runs of people that had changed them. Call this before anything is deleted."""
    connection.execute(text(_GONE))
    count_rows(connection, "gone_aliases")
    connection.execute(text(_TOUCHED))
