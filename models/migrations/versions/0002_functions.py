"""The functions of capture, sweep, flush and search."""

from pathlib import Path

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

# A later change of a function is a new file with the next number and a new migration: these stay as they are.
FILES = ("search_1.sql", "find_1.sql", "capture_1.sql", "boost_1.sql", "take_due_1.sql", "flush_1.sql")
SQL = Path(__file__).parent.parent / "sql"

# There were no functions before this revision.
DROP_ALL = """
DO $$
DECLARE
    v_function regprocedure;
BEGIN
    FOR v_function IN SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'slowwave'::regnamespace LOOP
        EXECUTE 'DROP FUNCTION ' || v_function || ' CASCADE';
    END LOOP;
END
$$
"""


def upgrade() -> None:
    for name in FILES:
        op.execute((SQL / name).read_text(encoding="utf-8").replace(":", r"\:"))


def downgrade() -> None:
    op.execute(DROP_ALL.replace(":", r"\:"))
