"""Index failed days, also final ones with late events, so that no query scans all days to find them."""

from alembic import op

from slowwave_server.models.functions import run_sql

revision = "0116"
down_revision = "0115"
branch_labels = None
depends_on = None
# The oldest revision whose code works on this schema, so that an upgrade needs no pause.
serves = "0100"


def upgrade() -> None:
    run_sql("CREATE INDEX days_failed_idx ON slowwave.days (scope_id) WHERE last_error IS NOT NULL;")


def downgrade() -> None:
    op.execute("DROP INDEX slowwave.days_failed_idx")
