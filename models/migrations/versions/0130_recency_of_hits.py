"""A message that continues recent talk ranks recent documents higher, and a hit says how much it gained by that."""

from slowwave_server.models.functions import apply_functions, run_sql

revision = "0130"
down_revision = "0129"
branch_labels = None
depends_on = None
# The oldest revision whose code works on what this one makes, so that an upgrade needs no pause.
serves = "0128"

_SIGNATURE = (
    "bigint[], tsquery, tsquery[], float8[], text[], float8, float8, boolean, integer, jsonb, boolean, tsquery, text, "
    "real[], timestamptz, timestamptz"
)


def upgrade() -> None:
    # The result has a new column.
    run_sql(f"DROP FUNCTION IF EXISTS slowwave.search({_SIGNATURE})")
    apply_functions("search")


def downgrade() -> None:
    """The function of this revision serves the code of older ones too."""
