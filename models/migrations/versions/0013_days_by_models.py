"""Summaries of days tell whether a model made them."""

from pathlib import Path

from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

SQL = Path(__file__).parent.parent / "sql"


def upgrade() -> None:
    op.execute((SQL / "days_2.sql").read_text(encoding="utf-8").replace(":", r"\:"))


def downgrade() -> None:
    # The function as it was is the last one of its file.
    was = (SQL / "days_1.sql").read_text(encoding="utf-8").partition("CREATE FUNCTION slowwave.commit_day(")
    op.execute(f"CREATE OR REPLACE FUNCTION slowwave.commit_day({was[2]}".replace(":", r"\:"))
