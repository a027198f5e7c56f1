"""What a context says of contradictions, and what a sweep takes, is read by key, whatever the statistics say.

A young database has none of `memories`. Then a planner takes those that hold for next to none, and pairs all with all:
with 5,000 memories and 600 contradictions that took half a minute. And with a million sessions a sweep of twenty may
have read all that were due, to find the twenty again that it had chosen.
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


def _run(*files: str) -> None:
    for file in files:
        statement = (SQL / file).read_text(encoding="utf-8").replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION")
        op.execute(statement.replace(":", r"\:"))


def upgrade() -> None:
    _run("brief_4.sql", "take_due_2.sql")


def downgrade() -> None:
    _run("brief_3.sql", "take_due_1.sql")
