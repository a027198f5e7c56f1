"""Candidates that repeat or correct a memory, and the answer of a model that a window waits for."""

from slowwave_server.models.functions import apply_functions

revision = "0103"
down_revision = "0101"
branch_labels = None
depends_on = None
# The oldest revision whose code works on what this one makes, so that an upgrade needs no pause.
serves = "0100"


def upgrade() -> None:
    apply_functions("correct_memory", "store_candidates")


def downgrade() -> None:
    pass
