"""Exact local days, what is fed to other backends, evidence read from files, jobs of days and retention."""

from pathlib import Path

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

FILES = ("capture_2.sql", "days_1.sql", "weigh_2.sql", "outbox_1.sql", "retention_1.sql", "forget_1.sql", "jobs_2.sql")
SQL = Path(__file__).parent.parent / "sql"

NEW = ("local_day", "not_forgotten", "day_status", "settle_days", "commit_day")
OUTBOX = (
    ("queue_changed", "memory_changes_outbox", "memory_changes"),
    ("queue_weighed", "memories_outbox", "memories"),
    ("queue_summarized", "day_summaries_outbox", "day_summaries"),
)
OUTBOX_FUNCTIONS = ("look_at_day", "register_backend", "unregister_backend", "queue_for_backends")
RETENTION = ("remove_events", "removable_events", "bound_sessions", "close_sessions")
FORGET_INDEXES = (
    "memories_superseded_idx",
    "memory_changes_flush_idx",
    "memory_links_source_idx",
    "memory_links_ended_idx",
    "review_items_about_idx",
    "review_items_about_conflict_idx",
)
JOBS = ("finalize-days", "retention", "curation")


def _run(name: str, *, again: bool = False) -> None:
    text = (SQL / name).read_text(encoding="utf-8").replace(":", r"\:")
    op.execute(text.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION") if again else text)


def upgrade() -> None:
    for name in FILES:
        _run(name)


def downgrade() -> None:
    for job in JOBS:
        op.execute(f"UPDATE slowwave.maintenance_runs SET job_id = NULL WHERE job_id = '{job}'")
        op.execute(f"DELETE FROM slowwave.maintenance_jobs WHERE id = '{job}'")
    for function, trigger, table in OUTBOX:
        op.execute(f"DROP TRIGGER {trigger} ON slowwave.{table}")
        op.execute(f"DROP FUNCTION slowwave.{function}")
    for name in OUTBOX_FUNCTIONS:
        op.execute(f"DROP FUNCTION slowwave.{name}")
    for name in RETENTION:
        op.execute(f"DROP FUNCTION slowwave.{name}")
    for name in FORGET_INDEXES:
        op.execute(f"DROP INDEX slowwave.{name}")
    op.execute("DROP FUNCTION slowwave.remember_waited")
    _run("capture_1.sql", again=True)
    _run("weigh_1.sql", again=True)
    for name in NEW:
        op.execute(f"DROP FUNCTION slowwave.{name}")
