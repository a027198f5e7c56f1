"""Memories weigh their sources; jobs of maintenance that every installation has."""

from pathlib import Path

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

FILES = ("weigh_1.sql", "store_2.sql", "jobs_1.sql", "working_1.sql", "find_2.sql")
SQL = Path(__file__).parent.parent / "sql"


NEW = (
    *("working_statistics", "keep_noted", "note_again", "remember"),
    *("hear_again", "add_source", "weigh_memory"),
)


def _run(name: str, *, again: bool = False) -> None:
    text = (SQL / name).read_text(encoding="utf-8").replace(":", r"\:")
    op.execute(text.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION") if again else text)


def upgrade() -> None:
    for name in FILES:
        _run(name)


def downgrade() -> None:
    op.execute("UPDATE slowwave.maintenance_runs SET job_id = NULL")
    op.execute("DELETE FROM slowwave.maintenance_jobs")
    op.execute("DROP FUNCTION slowwave.find")
    _run("find_1.sql", again=True)
    for name in NEW:
        op.execute(f"DROP FUNCTION slowwave.{name}")
    _run("flush_1.sql", again=True)
