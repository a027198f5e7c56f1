"""What was changed since a moment is read from there on, and not from the first change there ever was."""

from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None
# The oldest revision whose code works on what this one makes, so that an upgrade needs no pause.
serves = "0021"


def upgrade() -> None:
    op.execute(
        "CREATE INDEX memory_changes_made_idx ON slowwave.memory_changes USING brin (made_at)"
        " WITH (pages_per_range = 32, autosummarize = on)"
    )


def downgrade() -> None:
    op.drop_index("memory_changes_made_idx", "memory_changes", schema="slowwave")
