"""A feed of changes that loses none: changes know their transaction, deleted memories leave tombstones."""

from alembic import op

from slowwave_server.models.functions import apply_functions, run_sql

revision = "0119"
down_revision = "0118"
branch_labels = None
depends_on = None
# The oldest revision whose code works on what this one makes, so that an upgrade needs no pause.
serves = "0100"

# The default is stable, so existing rows get the number of this transaction without being written.
_COLUMN = """
ALTER TABLE slowwave.memory_changes ADD COLUMN xid xid8 DEFAULT pg_current_xact_id() NOT NULL;
CREATE INDEX memory_changes_xid_idx ON slowwave.memory_changes (xid, id);
"""
_TABLES = """
CREATE TABLE slowwave.memory_tombstones (
    id bigint DEFAULT nextval('slowwave.memory_changes_id_seq') NOT NULL,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    memory_id uuid,
    scope_id bigint NOT NULL,
    cause text NOT NULL,
    made_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT memory_tombstones_pkey PRIMARY KEY (id),
    CONSTRAINT memory_tombstones_cause_check CHECK (cause IN ('forgotten', 'removed')),
    CONSTRAINT memory_tombstones_scope_id_fkey FOREIGN KEY (scope_id) REFERENCES slowwave.scopes(id)
);
CREATE INDEX memory_tombstones_xid_idx ON slowwave.memory_tombstones (xid, id);
CREATE INDEX memory_tombstones_scope_idx ON slowwave.memory_tombstones (scope_id);
CREATE INDEX memory_tombstones_made_idx ON slowwave.memory_tombstones (made_at);
ALTER TABLE slowwave.memory_tombstones ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON slowwave.memory_tombstones
    USING (EXISTS (SELECT FROM slowwave.scopes AS above WHERE above.id = memory_tombstones.scope_id))
    WITH CHECK (EXISTS (SELECT FROM slowwave.scopes AS above WHERE above.id = memory_tombstones.scope_id));

CREATE TABLE slowwave.change_listeners (
    tenant text NOT NULL,
    channel text DEFAULT ('slowwave_' || replace(gen_random_uuid()::text, '-', '')) NOT NULL,
    until timestamptz NOT NULL,
    CONSTRAINT change_listeners_pkey PRIMARY KEY (tenant)
);
ALTER TABLE slowwave.change_listeners ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON slowwave.change_listeners
    USING (tenant = (SELECT slowwave.current_tenant())) WITH CHECK (tenant = (SELECT slowwave.current_tenant()));
"""
_FUNCTIONS = ("change_type", "read_changes", "await_changes", "announce_changes", "keep_tombstones")


def upgrade() -> None:
    run_sql(_COLUMN)
    run_sql(_TABLES)
    apply_functions(*_FUNCTIONS)


def downgrade() -> None:
    op.execute("DROP TRIGGER memories_tombstones ON slowwave.memories")
    op.execute("DROP TRIGGER memory_changes_announced ON slowwave.memory_changes")
    op.execute("DROP FUNCTION slowwave.keep_tombstones()")
    op.execute("DROP FUNCTION slowwave.announce_changes()")
    op.execute("DROP FUNCTION slowwave.await_changes(text, double precision)")
    op.execute("DROP FUNCTION slowwave.read_changes(text, text, text[], integer, integer)")
    op.execute("DROP FUNCTION slowwave.change_type(boolean, text, jsonb, jsonb)")
    op.execute("DROP TABLE slowwave.change_listeners")
    op.execute("DROP TABLE slowwave.memory_tombstones")
    op.execute("ALTER TABLE slowwave.memory_changes DROP COLUMN xid")
