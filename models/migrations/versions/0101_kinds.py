"""Memories of three more types: instructions, results and lessons."""

from alembic import op

revision = "0101"
down_revision = "0100"
branch_labels = None
depends_on = None
# The oldest revision whose code works on what this one makes, so that an upgrade needs no pause.
serves = "0100"

_BEFORE = "'fact', 'preference', 'decision', 'task', 'event', 'summary'"
_NEW = "'instruction', 'result', 'lesson'"


def _allow(types: str) -> None:
    # Rows are looked through without blocking readers and writers.
    op.execute("ALTER TABLE slowwave.memories DROP CONSTRAINT memories_type_check")
    op.execute(f"ALTER TABLE slowwave.memories ADD CONSTRAINT memories_type_check CHECK (type IN ({types})) NOT VALID")
    op.execute("ALTER TABLE slowwave.memories VALIDATE CONSTRAINT memories_type_check")


def upgrade() -> None:
    _allow(f"{_BEFORE}, {_NEW}")


def downgrade() -> None:
    op.execute(f"UPDATE slowwave.memories SET type = 'fact' WHERE type IN ({_NEW})")
    _allow(_BEFORE)
