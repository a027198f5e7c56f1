"""Flushes keep their plans, and their commits do not wait for the disk. Memories that tell an ending have an index."""

from alembic import op

from slowwave_server.models.functions import apply_functions, run_sql

revision = "0109"
down_revision = "0108"
branch_labels = None
depends_on = None
# The oldest revision whose code works on what this one makes, so that an upgrade needs no pause.
serves = "0100"

_ENDINGS = """
CREATE INDEX memories_endings_idx ON slowwave.memories (scope_id)
    WHERE content ~ '^[^:]{1,80} (called off|lifted an instruction|corrected): ';
"""


def upgrade() -> None:
    run_sql(_ENDINGS)
    apply_functions("begin_flush", "commit_extraction", "holds_memories")


def downgrade() -> None:
    """The functions of this revision serve the code of older ones too."""
    op.execute("DROP FUNCTION slowwave.holds_memories(bigint, text[], bigint)")
    op.execute("DROP INDEX slowwave.memories_endings_idx")
