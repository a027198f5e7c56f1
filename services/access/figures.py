"""The columns that the exporter's login may read to count its figures, for all tenants.

These columns contain no text of conversations or memories and no names of sessions. The first exporter's login creates
the group. No table of Slowwave lists this login, because it belongs to no tenant.
"""

from collections.abc import Iterator, Mapping

from sqlalchemy import Connection, text

EXPORTER = "slowwave_exporter"
"""The group of the logins of exporters. Groups belong to the whole server, and who may enter stands at the database."""

COLUMNS: Mapping[str, str] = {
    "alembic_version": "version_num",
    "agents": "id, deleted_at",
    "sessions": "id, agent_id, dirty_since, flush_due_at, not_before, failures, last_seq, processed_until",
    "events": "session_id, seq, quarantined_at",
    "flushes": "session_id, from_seq, to_seq, outcome, fallback, attempt, oldest_recorded_at, started_at, committed_at",
    "dead_letters": "id, state",
    "scopes": "id",
    "memories": "id",
    "memory_conflicts": "id, status, created_at",
    "review_items": "id, state, tier, created_at",
    "maintenance_jobs": "id, enabled, next_due_at, created_at, last_summary",
    "maintenance_runs": "id, job_id, kind, status, lease_until, started_at, completed_at",
    "working_memory": "id, outcome",
    "outbox": "backend, changes, delivered, queued_at, last_error",
    "memory_backends": "name",
    "memory_files": "held",
    "source_runs": "asked_at, due_at, last_error",
    "llm_usage": "tenant, agent, period, starts, calls, failures, tokens_settled, tokens_reserved",
}

_EXISTS = text("SELECT to_regrole(:group) IS NOT NULL")
_MISSING = text(
    "SELECT t FROM unnest(CAST(:tables AS text[]), CAST(:columns AS text[])) AS wanted (t, c)"
    " WHERE NOT has_column_privilege(:group, format('slowwave.%I', t), c, 'SELECT') GROUP BY t ORDER BY t"
)
_MEMBERS = text(
    "SELECT r.rolname FROM pg_auth_members m JOIN pg_roles r ON r.oid = m.member"
    " WHERE m.roleid = to_regrole(:group) AND has_database_privilege(r.oid, current_database(), 'CONNECT')"
    " ORDER BY r.rolname"
)


def exporters(connection: Connection) -> list[str]:
    """List the exporters' logins that may connect to this database, sorted by name."""
    return list(connection.execute(_MEMBERS, {"group": EXPORTER}).scalars())


def has_group(connection: Connection) -> bool:
    """Return True if this server has the group."""
    return bool(connection.execute(_EXISTS, {"group": EXPORTER}).scalar_one())


def lacking_figures(connection: Connection) -> list[str]:
    """List tables of which the group may not read all needed columns; [] if the group does not exist."""
    if not has_group(connection):
        return []
    pairs = [(table, column) for table, columns in COLUMNS.items() for column in columns.split(", ")]
    values = {"group": EXPORTER, "tables": [table for table, _ in pairs], "columns": [column for _, column in pairs]}
    return list(connection.execute(_MISSING, values).scalars())


def figure_statements() -> Iterator[str]:
    """Return statements that grant the group these columns of every row, and revoke all else. Each may be run again."""
    yield f"REVOKE ALL ON SCHEMA slowwave FROM {EXPORTER}"
    yield f"REVOKE ALL ON ALL TABLES IN SCHEMA slowwave FROM {EXPORTER}"
    yield f"REVOKE ALL ON ALL FUNCTIONS IN SCHEMA slowwave FROM {EXPORTER}"
    yield f"GRANT USAGE ON SCHEMA slowwave TO {EXPORTER}"
    for table, columns in COLUMNS.items():
        yield f"GRANT SELECT ({columns}) ON slowwave.{table} TO {EXPORTER}"
        # An always-true policy, like the workers'; a table without row-level security needs none.
        yield (
            f"DO $$ BEGIN IF (SELECT relrowsecurity FROM pg_class WHERE oid = 'slowwave.{table}'::regclass)"
            " AND NOT EXISTS (SELECT FROM pg_policy p WHERE p.polname = 'exporters'"
            f" AND p.polrelid = 'slowwave.{table}'::regclass) THEN"
            f" CREATE POLICY exporters ON slowwave.{table} FOR SELECT TO {EXPORTER} USING (true);"
            " END IF; END $$"
        )
    # The other policies call this function; for this login it answers that the login has no tenant.
    yield f"GRANT EXECUTE ON FUNCTION slowwave.current_tenant() TO {EXPORTER}"
