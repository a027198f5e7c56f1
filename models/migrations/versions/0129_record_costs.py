"""A recorded turn costs less: one query checks the tenant of its key, and one statement counts its day."""

from slowwave_server.models.functions import apply_functions

revision = "0129"
down_revision = "0128"
branch_labels = None
depends_on = None
# The oldest revision whose code works on what this one makes, so that an upgrade needs no pause.
serves = "0128"


def upgrade() -> None:
    apply_functions("current_tenant", "require_tenant", "capture_session")


def downgrade() -> None:
    """The functions of this revision serve the code of older ones too."""
