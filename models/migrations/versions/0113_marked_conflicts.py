"""A contradiction that opens or ends delivers both memories to the backends again: memory files mark open ones."""

from alembic import op

from slowwave_server.models.functions import apply_functions

revision = "0113"
down_revision = "0112"
branch_labels = None
depends_on = None
# The oldest revision whose code works on what this one makes, so that an upgrade needs no pause.
serves = "0100"


def upgrade() -> None:
    apply_functions("enqueue_on_conflict", "enqueue_on_change")


def downgrade() -> None:
    op.execute("DROP FUNCTION slowwave.enqueue_on_conflict() CASCADE")
