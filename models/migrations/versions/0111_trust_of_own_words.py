"""A paraphrase that was merged into a memory no longer lowers the trust in the words that stay."""

from slowwave_server.models.functions import apply_functions, run_sql

revision = "0111"
down_revision = "0110"
branch_labels = None
depends_on = None
# The oldest revision whose code works on what this one makes, so that an upgrade needs no pause.
serves = "0100"

_SCORE_AGAIN = """
SELECT slowwave.score_memory(m.id, clock_timestamp())
FROM slowwave.memories m WHERE m.id IN (SELECT merged_into FROM slowwave.memories WHERE merged_into IS NOT NULL);
"""


def upgrade() -> None:
    apply_functions("score_memory")
    run_sql(_SCORE_AGAIN)


def downgrade() -> None:
    """The function of this revision serves the code of older ones too."""
