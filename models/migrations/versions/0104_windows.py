"""Windows in which tool events have room of their own. Revision 0105 indexes long events whole."""

from slowwave_server.models.functions import apply_functions

revision = "0104"
down_revision = "0103"
branch_labels = None
depends_on = None
# The oldest revision whose code works on what this one makes, so that an upgrade needs no pause.
serves = "0100"


def upgrade() -> None:
    apply_functions("begin_flush")


def downgrade() -> None:
    """The functions of this revision serve the code of older ones too."""
