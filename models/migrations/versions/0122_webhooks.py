"""Changes are sent to URLs: endpoints, their secrets, and an outbox of the changes that each one wants."""

from alembic import op

from slowwave_server.models.functions import run_sql

revision = "0122"
down_revision = "0121"
branch_labels = None
depends_on = None
# The oldest revision whose code works on what this one makes, so that an upgrade needs no pause.
serves = "0100"

_ENDPOINTS = """
CREATE TABLE slowwave.webhook_endpoints (
    id uuid DEFAULT uuidv7() NOT NULL,
    tenant text DEFAULT slowwave.current_tenant() NOT NULL,
    url text NOT NULL,
    description text DEFAULT '' NOT NULL,
    agents text[] NOT NULL,
    scopes text[] NOT NULL,
    types text[] NOT NULL,
    cursor text NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    created_by text NOT NULL,
    disabled_at timestamptz,
    disabled_why text,
    failing_since timestamptz,
    failures integer DEFAULT 0 NOT NULL,
    paused_until timestamptz,
    last_success_at timestamptz,
    CONSTRAINT webhook_endpoints_pkey PRIMARY KEY (id)
);
CREATE INDEX webhook_endpoints_tenant_idx ON slowwave.webhook_endpoints (tenant, id);
ALTER TABLE slowwave.webhook_endpoints ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON slowwave.webhook_endpoints
    USING (tenant = (SELECT slowwave.current_tenant())) WITH CHECK (tenant = (SELECT slowwave.current_tenant()));
"""
_SECRETS = """
CREATE TABLE slowwave.webhook_secrets (
    id bigint GENERATED ALWAYS AS IDENTITY,
    endpoint_id uuid NOT NULL,
    secret text NOT NULL,
    made_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT webhook_secrets_pkey PRIMARY KEY (id),
    CONSTRAINT webhook_secrets_endpoint_id_fkey FOREIGN KEY (endpoint_id)
        REFERENCES slowwave.webhook_endpoints(id) ON DELETE CASCADE
);
CREATE INDEX webhook_secrets_endpoint_idx ON slowwave.webhook_secrets (endpoint_id, id);
ALTER TABLE slowwave.webhook_secrets ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON slowwave.webhook_secrets
    USING (EXISTS (SELECT FROM slowwave.webhook_endpoints AS above WHERE above.id = webhook_secrets.endpoint_id))
    WITH CHECK (EXISTS (SELECT FROM slowwave.webhook_endpoints AS above WHERE above.id = webhook_secrets.endpoint_id));
"""
_DELIVERIES = """
CREATE TABLE slowwave.webhook_deliveries (
    number bigint GENERATED ALWAYS AS IDENTITY,
    id uuid DEFAULT uuidv7() NOT NULL,
    endpoint_id uuid NOT NULL,
    change_id text NOT NULL,
    change_type text NOT NULL,
    memory_id uuid NOT NULL,
    state text DEFAULT 'pending' NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    next_attempt_at timestamptz NOT NULL,
    taken_until timestamptz,
    created_at timestamptz DEFAULT now() NOT NULL,
    finished_at timestamptz,
    response_status integer,
    error text,
    CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (number),
    CONSTRAINT webhook_deliveries_state_check CHECK (state IN ('pending', 'delivered', 'skipped', 'dead')),
    CONSTRAINT webhook_deliveries_endpoint_id_fkey FOREIGN KEY (endpoint_id)
        REFERENCES slowwave.webhook_endpoints(id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX webhook_deliveries_id_idx ON slowwave.webhook_deliveries (id);
CREATE UNIQUE INDEX webhook_deliveries_change_idx ON slowwave.webhook_deliveries (endpoint_id, change_id);
CREATE INDEX webhook_deliveries_listed_idx ON slowwave.webhook_deliveries (endpoint_id, number);
CREATE INDEX webhook_deliveries_due_idx
    ON slowwave.webhook_deliveries (endpoint_id, memory_id, number) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_next_idx
    ON slowwave.webhook_deliveries (endpoint_id, next_attempt_at) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_done_idx ON slowwave.webhook_deliveries (finished_at);
ALTER TABLE slowwave.webhook_deliveries ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON slowwave.webhook_deliveries
    USING (EXISTS (SELECT FROM slowwave.webhook_endpoints AS above WHERE above.id = webhook_deliveries.endpoint_id))
    WITH CHECK (
        EXISTS (SELECT FROM slowwave.webhook_endpoints AS above WHERE above.id = webhook_deliveries.endpoint_id));
"""


def upgrade() -> None:
    run_sql(_ENDPOINTS + _SECRETS + _DELIVERIES)


def downgrade() -> None:
    op.execute("DROP TABLE slowwave.webhook_deliveries, slowwave.webhook_secrets, slowwave.webhook_endpoints")
