"""A flush finds its session by index from the first day on.

A worker's connection plans a function's statements once, at its first flushes. In a new database these see a handful of
sessions and read them all; by the time the statistics say otherwise each flush has read thousands.
"""

from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None
# The oldest revision whose code works on what this one makes, so that an upgrade needs no pause.
serves = "0021"

_BEGIN = (
    "slowwave.begin_flush(text, text, text, integer, integer, double precision, double precision, double precision,"
    " timestamptz)"
)


def upgrade() -> None:
    op.execute(f"ALTER FUNCTION {_BEGIN} SET enable_seqscan = off")


def downgrade() -> None:
    op.execute(f"ALTER FUNCTION {_BEGIN} RESET enable_seqscan")
