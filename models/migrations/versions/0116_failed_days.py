"""Days whose last summary failed are found without a look at all days, final ones with late events too."""

from alembic import op

from slowwave_server.models.functions import run_sql

revision = "0116"
down_revision = "0115"
branch_labels = None
depends_on = None
# The oldest revision whose code works on what this one makes, so that an upgrade needs no pause.
serves = "0100"


def upgrade() -> None:
    run_sql("CREATE INDEX days_failed_idx ON slowwave.days (scope_id) WHERE last_error IS NOT NULL;")


def downgrade() -> None:
    op.execute("DROP INDEX slowwave.days_failed_idx")
