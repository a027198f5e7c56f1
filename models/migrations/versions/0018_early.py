"""A flush that comes too early leaves the time at which its session will be due."""

from pathlib import Path

from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

SQL = Path(__file__).parent.parent / "sql"


def upgrade() -> None:
    op.execute((SQL / "begin_1.sql").read_text(encoding="utf-8").replace(":", r"\:"))


def downgrade() -> None:
    text = (SQL / "flush_1.sql").read_text(encoding="utf-8")
    start = text.index("CREATE FUNCTION slowwave.begin_flush(")
    was = text[start : text.index("$$;", start) + len("$$;")]
    op.execute(was.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION").replace(":", r"\:"))
