"""Aliases: names that mean the same within a scope, learned by flushes or written by people, and searched with."""

from alembic import op

from slowwave_server.models.functions import apply_functions, run_sql

revision = "0107"
down_revision = "0106"
branch_labels = None
depends_on = None
# The oldest revision whose code works on what this one makes. Older workers learn no aliases.
serves = "0100"

_TABLES = """
CREATE TABLE slowwave.aliases (
    id bigint GENERATED ALWAYS AS IDENTITY,
    scope_id bigint NOT NULL,
    name text NOT NULL,
    alias text NOT NULL,
    name_key text NOT NULL,
    alias_key text NOT NULL,
    status text NOT NULL,
    decided_by text,
    decided_at timestamptz,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT aliases_pkey PRIMARY KEY (id),
    CONSTRAINT aliases_scope_id_name_key_alias_key_key UNIQUE (scope_id, name_key, alias_key),
    CONSTRAINT aliases_status_check CHECK (status IN ('learned', 'added', 'removed')),
    CONSTRAINT aliases_two_names_check CHECK (name_key <> alias_key),
    CONSTRAINT aliases_scope_id_fkey FOREIGN KEY (scope_id) REFERENCES slowwave.scopes(id)
);
CREATE INDEX aliases_alias_idx ON slowwave.aliases (scope_id, alias_key);
CREATE TABLE slowwave.alias_sources (
    alias_id bigint NOT NULL,
    session_id bigint NOT NULL,
    seq bigint NOT NULL,
    CONSTRAINT alias_sources_pkey PRIMARY KEY (alias_id, session_id, seq),
    CONSTRAINT alias_sources_alias_id_fkey FOREIGN KEY (alias_id) REFERENCES slowwave.aliases(id) ON DELETE CASCADE,
    CONSTRAINT alias_sources_session_id_fkey FOREIGN KEY (session_id) REFERENCES slowwave.sessions(id)
);
CREATE INDEX alias_sources_session_idx ON slowwave.alias_sources (session_id);
CREATE TABLE slowwave.alias_changes (
    id bigint GENERATED ALWAYS AS IDENTITY,
    alias_id bigint NOT NULL,
    scope_id bigint NOT NULL,
    run_id bigint NOT NULL,
    action text NOT NULL,
    before jsonb,
    after jsonb,
    made_by text,
    made_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT alias_changes_pkey PRIMARY KEY (id),
    CONSTRAINT alias_changes_scope_id_fkey FOREIGN KEY (scope_id) REFERENCES slowwave.scopes(id),
    CONSTRAINT alias_changes_run_id_fkey FOREIGN KEY (run_id) REFERENCES slowwave.maintenance_runs(id)
);
CREATE INDEX alias_changes_alias_idx ON slowwave.alias_changes (alias_id, id);
CREATE INDEX alias_changes_run_idx ON slowwave.alias_changes (run_id);
"""
_OF_SCOPE = """
ALTER TABLE slowwave.{table} ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON slowwave.{table}
    USING (EXISTS (SELECT FROM slowwave.{above} AS above WHERE above.id = {table}.{column}))
    WITH CHECK (EXISTS (SELECT FROM slowwave.{above} AS above WHERE above.id = {table}.{column}));
"""
_CHANGED = """
DROP FUNCTION IF EXISTS slowwave.scope_stats(text, text[], text[], text);
DROP FUNCTION IF EXISTS slowwave.commit_extraction(bigint, bigint, bigint, bigint, text, text, text, integer, jsonb,
    jsonb, integer, integer, text, integer, double precision, double precision, timestamptz, timestamptz, bigint, text,
    text, jsonb, integer);
"""


def upgrade() -> None:
    run_sql(_TABLES)
    for table, above, column in (
        ("aliases", "scopes", "scope_id"),
        ("alias_sources", "aliases", "alias_id"),
        ("alias_changes", "scopes", "scope_id"),
    ):
        run_sql(_OF_SCOPE.format(table=table, above=above, column=column))
    # Their arguments or their answers change.
    run_sql(_CHANGED)
    apply_functions("alias_terms", "commit_extraction", "learn_aliases", "scope_stats")


def downgrade() -> None:
    for table in ("alias_changes", "alias_sources", "aliases"):
        op.execute(f"DROP TABLE slowwave.{table}")
