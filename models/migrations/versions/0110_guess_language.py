"""A question of one word keeps it, though another language of the scope takes the word for a stop word."""

from slowwave_server.models.functions import apply_functions

revision = "0110"
down_revision = "0109"
branch_labels = None
depends_on = None
# The oldest revision whose code works on what this one makes, so that an upgrade needs no pause.
serves = "0100"


def upgrade() -> None:
    apply_functions("guess_language")


def downgrade() -> None:
    """The function of this revision serves the code of older ones too."""
