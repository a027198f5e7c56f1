"""Logins, failed logins, exports, revealed secrets and roles that were given leave a row."""

from alembic import op

from slowwave_server.models.functions import run_sql

revision = "0117"
down_revision = "0116"
branch_labels = None
depends_on = None
# The oldest revision whose code works on what this one makes, so that an upgrade needs no pause.
serves = "0100"

# A console that serves one tenant adds rows of that tenant, and can't change what was written.
_TABLE = """
CREATE TABLE slowwave.audit_log (
    id bigint GENERATED ALWAYS AS IDENTITY,
    done_at timestamptz DEFAULT now() NOT NULL,
    tenant text DEFAULT slowwave.current_tenant(),
    action text NOT NULL,
    actor text,
    via text NOT NULL,
    what text NOT NULL,
    CONSTRAINT audit_log_pkey PRIMARY KEY (id),
    CONSTRAINT audit_log_action_check CHECK (action IN ('login', 'failed login', 'export', 'reveal', 'role')),
    CONSTRAINT audit_log_via_check CHECK (via IN ('console', 'shell'))
);
CREATE INDEX audit_log_tenant_idx ON slowwave.audit_log (tenant, id);
CREATE INDEX audit_log_done_idx ON slowwave.audit_log (done_at);
ALTER TABLE slowwave.audit_log ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON slowwave.audit_log
    USING (tenant = (SELECT slowwave.current_tenant())) WITH CHECK (tenant = (SELECT slowwave.current_tenant()));
"""


def upgrade() -> None:
    run_sql(_TABLE)


def downgrade() -> None:
    op.execute("DROP TABLE slowwave.audit_log")
