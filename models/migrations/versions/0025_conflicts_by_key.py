"""What a context says of contradictions is read by key, whatever statistics there are.

A young or restored database has none of `memories`. Then a planner takes those that hold for next to none, and pairs
all with all: with 5,000 memories and 600 contradictions that took half a minute.
"""

from pathlib import Path

from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None
# The oldest revision whose code works on what this one makes, so that an upgrade needs no pause.
serves = "0021"

SQL = Path(__file__).parent.parent / "sql"


def _brief(file: str) -> None:
    op.execute((SQL / file).read_text(encoding="utf-8").replace(":", r"\:"))


def upgrade() -> None:
    _brief("brief_4.sql")


def downgrade() -> None:
    _brief("brief_3.sql")
