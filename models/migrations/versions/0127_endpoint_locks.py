"""A lock of Postgres says which worker serves a webhook, so rows have no lease; the feed is read with less work."""

from slowwave_server.models.functions import apply_functions, run_sql

revision = "0127"
down_revision = "0126"
branch_labels = None
depends_on = None
# The oldest revision whose code works on what this one makes, so that an upgrade needs no pause. No release had the
# column.
serves = "0100"


def upgrade() -> None:
    run_sql("""
        DROP INDEX slowwave.webhook_deliveries_next_idx;
        ALTER TABLE slowwave.webhook_deliveries DROP COLUMN taken_until;
        CREATE INDEX webhook_deliveries_pending_idx
            ON slowwave.webhook_deliveries (endpoint_id, number) WHERE state = 'pending';
    """)
    apply_functions("read_changes")


def downgrade() -> None:
    run_sql("""
        DROP INDEX slowwave.webhook_deliveries_pending_idx;
        ALTER TABLE slowwave.webhook_deliveries ADD COLUMN taken_until timestamptz;
        CREATE INDEX webhook_deliveries_next_idx
            ON slowwave.webhook_deliveries (endpoint_id, next_attempt_at) WHERE state = 'pending';
    """)
