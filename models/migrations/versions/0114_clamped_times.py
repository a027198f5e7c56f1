"""Events and notes that claim a time more than a day ahead are dated when they arrive."""

from slowwave_server.models.functions import apply_functions

revision = "0114"
down_revision = "0113"
branch_labels = None
depends_on = None
# The oldest revision whose code works on what this one makes, so that an upgrade needs no pause.
serves = "0100"


def upgrade() -> None:
    apply_functions("clamp_event_times", "capture_session", "remember")


def downgrade() -> None:
    """The functions of this revision serve the code of older ones too."""
