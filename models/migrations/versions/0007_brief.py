"""What an agent wakes up with, read in one call."""

from pathlib import Path

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

SQL = Path(__file__).parent.parent / "sql"


def upgrade() -> None:
    op.execute((SQL / "brief_1.sql").read_text(encoding="utf-8").replace(":", r"\:"))


def downgrade() -> None:
    op.execute("DROP FUNCTION slowwave.brief")
