"""Keys of an HTTP gateway, whose login sees the tenant of a key alone; requests that a worker answers."""

from alembic import op

from slowwave_server.models.functions import apply_functions, run_sql

revision = "0118"
down_revision = "0117"
branch_labels = None
depends_on = None
# The oldest revision whose code works on what this one makes, so that an upgrade needs no pause.
serves = "0100"

_LOGINS = """
ALTER TABLE slowwave.logins
    DROP CONSTRAINT logins_role_check, DROP CONSTRAINT logins_tenant_check,
    ADD CONSTRAINT logins_role_check CHECK (role IN ('producer', 'console', 'worker', 'gateway')),
    ADD CONSTRAINT logins_tenant_check CHECK ((role IN ('worker', 'gateway')) = (tenant IS NULL));
"""
_AUDIT = """
ALTER TABLE slowwave.audit_log
    DROP CONSTRAINT audit_log_action_check, DROP CONSTRAINT audit_log_via_check,
    ADD CONSTRAINT audit_log_action_check
        CHECK (action IN ('login', 'failed login', 'export', 'reveal', 'role', 'key')),
    ADD CONSTRAINT audit_log_via_check CHECK (via IN ('console', 'shell', 'http'));
"""
_KEYS = """
CREATE TABLE slowwave.api_keys (
    id uuid DEFAULT uuidv7() NOT NULL,
    tenant text DEFAULT slowwave.current_tenant() NOT NULL,
    name text NOT NULL,
    prefix text NOT NULL,
    digest bytea NOT NULL,
    agents text[] DEFAULT '{}' NOT NULL,
    scopes text[] DEFAULT '{}' NOT NULL,
    rights text[] NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    created_by text NOT NULL,
    expires_at timestamptz,
    revoked_at timestamptz,
    last_used_at timestamptz,
    CONSTRAINT api_keys_pkey PRIMARY KEY (id),
    CONSTRAINT api_keys_digest_check CHECK (octet_length(digest) = 32),
    CONSTRAINT api_keys_rights_check CHECK (
        cardinality(rights) > 0 AND rights <@ ARRAY['record', 'read', 'decide', 'forget', 'administer'])
);
CREATE UNIQUE INDEX api_keys_digest_idx ON slowwave.api_keys (digest);
CREATE UNIQUE INDEX api_keys_prefix_idx ON slowwave.api_keys (prefix);
CREATE INDEX api_keys_tenant_idx ON slowwave.api_keys (tenant, created_at);
ALTER TABLE slowwave.api_keys ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON slowwave.api_keys
    USING (tenant = (SELECT slowwave.current_tenant())) WITH CHECK (tenant = (SELECT slowwave.current_tenant()));
"""
# Who asks is written by Postgres: a worker does what the row says in the name of whoever wrote it.
_REQUESTS = """
CREATE TABLE slowwave.requests (
    id uuid DEFAULT uuidv7() NOT NULL,
    tenant text DEFAULT slowwave.current_tenant() NOT NULL,
    key_id uuid,
    asked_by text DEFAULT SESSION_USER NOT NULL,
    kind text NOT NULL,
    arguments jsonb NOT NULL,
    state text DEFAULT 'waiting' NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    result jsonb,
    error text,
    created_at timestamptz DEFAULT now() NOT NULL,
    started_at timestamptz,
    finished_at timestamptz,
    CONSTRAINT requests_pkey PRIMARY KEY (id),
    CONSTRAINT requests_kind_check CHECK (kind IN ('correct', 'archive', 'forget_preview', 'forget', 'undo')),
    CONSTRAINT requests_state_check CHECK (state IN ('waiting', 'running', 'done', 'failed'))
);
CREATE INDEX requests_open_idx ON slowwave.requests (created_at) WHERE state IN ('waiting', 'running');
CREATE INDEX requests_created_idx ON slowwave.requests (created_at);
ALTER TABLE slowwave.requests ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON slowwave.requests
    USING (tenant = (SELECT slowwave.current_tenant()))
    WITH CHECK (
        tenant = (SELECT slowwave.current_tenant()) AND asked_by = SESSION_USER
        AND (key_id IS NULL OR EXISTS (SELECT FROM slowwave.api_keys AS above WHERE above.id = requests.key_id)));
"""


def upgrade() -> None:
    run_sql(_LOGINS + _AUDIT + _KEYS + _REQUESTS)
    apply_functions("current_tenant", "require_tenant", "require_scopes", "use_key")


def downgrade() -> None:
    """The functions of this revision serve the code of older ones too; a login of a gateway has no part there."""
    op.execute("DROP TABLE slowwave.requests, slowwave.api_keys")
    op.execute("DELETE FROM slowwave.logins WHERE role = 'gateway'")
    run_sql(
        "ALTER TABLE slowwave.logins DROP CONSTRAINT logins_role_check, DROP CONSTRAINT logins_tenant_check,"
        " ADD CONSTRAINT logins_role_check CHECK (role IN ('producer', 'console', 'worker')),"
        " ADD CONSTRAINT logins_tenant_check CHECK ((role = 'worker') = (tenant IS NULL));"
        # Acts that were noted stay.
        " ALTER TABLE slowwave.audit_log DROP CONSTRAINT audit_log_action_check, DROP CONSTRAINT audit_log_via_check,"
        " ADD CONSTRAINT audit_log_action_check"
        " CHECK (action IN ('login', 'failed login', 'export', 'reveal', 'role')) NOT VALID,"
        " ADD CONSTRAINT audit_log_via_check CHECK (via IN ('console', 'shell')) NOT VALID;"
    )
