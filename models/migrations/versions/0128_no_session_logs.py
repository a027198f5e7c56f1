"""No worker writes logs of sessions to files any more, so sessions store no place in them."""

from slowwave_server.models.functions import apply_functions, run_sql

revision = "0128"
down_revision = "0127"
branch_labels = None
depends_on = None
# The oldest revision whose code works on this schema: older code calls the functions with one more argument.
serves = "0128"


def upgrade() -> None:
    run_sql("""
        DROP FUNCTION IF EXISTS slowwave.remove_events(bigint, date, timestamptz, boolean, integer);
        DROP FUNCTION IF EXISTS slowwave.removable_events(bigint, date, timestamptz, boolean, integer);
        ALTER TABLE slowwave.sessions DROP COLUMN logged_until;
    """)
    apply_functions("removable_events", "remove_events")


def downgrade() -> None:
    run_sql("ALTER TABLE slowwave.sessions ADD COLUMN logged_until bigint DEFAULT 0 NOT NULL")
