"""The schema of version 0.1.0."""

from pathlib import Path

from alembic import op

from slowwave_server.models.functions import apply_functions, run_sql

revision = "0100"
down_revision = None
branch_labels = None
depends_on = None

BASELINE = Path(__file__).parent.parent / "baseline"

DROP_ALL = """
DO $$
DECLARE
    v_name text;
BEGIN
    FOR v_name IN SELECT oid::regclass FROM pg_class WHERE relnamespace = 'slowwave'::regnamespace
        AND relkind IN ('r', 'p') AND NOT relispartition AND relname <> 'alembic_version'
    LOOP
        EXECUTE 'DROP TABLE ' || v_name || ' CASCADE';
    END LOOP;
    FOR v_name IN SELECT oid::regprocedure FROM pg_proc WHERE pronamespace = 'slowwave'::regnamespace LOOP
        EXECUTE 'DROP FUNCTION ' || v_name || ' CASCADE';
    END LOOP;
END
$$;
"""


def upgrade() -> None:
    run_sql((BASELINE / "tables.sql").read_text(encoding="utf-8"))
    apply_functions()
    run_sql((BASELINE / "access.sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    op.execute("DROP SCHEMA IF EXISTS slowwave_mem0 CASCADE")
    run_sql(DROP_ALL)
