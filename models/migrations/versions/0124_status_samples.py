"""Figures of each tenant are kept over time: one row a minute, later one row an hour."""

from alembic import op

from slowwave_server.models.functions import run_sql

revision = "0124"
down_revision = "0123"
branch_labels = None
depends_on = None
# The oldest revision whose code works on what this one makes, so that an upgrade needs no pause.
serves = "0100"

_TABLE = """
CREATE TABLE slowwave.status_samples (
    tenant text DEFAULT slowwave.current_tenant() NOT NULL,
    taken_at timestamptz NOT NULL,
    hourly boolean DEFAULT false NOT NULL,
    seconds integer NOT NULL,
    sessions_waiting integer NOT NULL,
    events_waiting bigint NOT NULL,
    inbox_open integer NOT NULL,
    lag_p50_seconds double precision,
    lag_p95_seconds double precision,
    events bigint NOT NULL,
    decisions bigint NOT NULL,
    tokens bigint NOT NULL,
    failures bigint NOT NULL,
    CONSTRAINT status_samples_pkey PRIMARY KEY (tenant, taken_at)
);
CREATE INDEX status_samples_taken_idx ON slowwave.status_samples (taken_at);
CREATE INDEX status_samples_minutes_idx ON slowwave.status_samples (taken_at) WHERE NOT hourly;
ALTER TABLE slowwave.status_samples ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON slowwave.status_samples
    USING (tenant = (SELECT slowwave.current_tenant())) WITH CHECK (tenant = (SELECT slowwave.current_tenant()));
"""


def upgrade() -> None:
    run_sql(_TABLE)


def downgrade() -> None:
    op.execute("DROP TABLE slowwave.status_samples")
