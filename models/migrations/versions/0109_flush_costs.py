"""Flushes keep their plans, and their commits do not wait for the disk."""

from slowwave_server.models.functions import apply_functions

revision = "0109"
down_revision = "0108"
branch_labels = None
depends_on = None
# The oldest revision whose code works on what this one makes, so that an upgrade needs no pause.
serves = "0100"


def upgrade() -> None:
    apply_functions("begin_flush", "commit_extraction")


def downgrade() -> None:
    """The functions of this revision serve the code of older ones too."""
