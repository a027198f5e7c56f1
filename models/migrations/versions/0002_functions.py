"""The functions of the reply path and the sweep: capture, boost, take_due, and the stemming of search."""

from pathlib import Path

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

# A later change of a function is a new file with the next number and a new migration: these stay as they are.
FILES = ("capture_1.sql", "boost_1.sql", "take_due_1.sql")
SQL = Path(__file__).parent.parent / "sql"


def upgrade() -> None:
    for name in FILES:
        op.execute((SQL / name).read_text(encoding="utf-8").replace(":", r"\:"))


def downgrade() -> None:
    for function in ("take_due", "boost", "capture", "open_session", "count_day"):
        op.execute(f"DROP FUNCTION slowwave.{function}")
