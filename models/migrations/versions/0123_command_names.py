"""Hints of database errors name the commands `slowwave admin roles` and `slowwave admin keys`."""

from slowwave_server.models.functions import apply_functions

revision = "0123"
down_revision = "0122"
branch_labels = None
depends_on = None
# The oldest revision whose code works with this one, so that an upgrade needs no pause.
serves = "0100"


def upgrade() -> None:
    apply_functions("require_scopes", "require_tenant", "use_key")


def downgrade() -> None:
    """The hints stay: earlier versions work with these functions."""
