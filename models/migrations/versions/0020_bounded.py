"""What is pending, open or wrong is found by what there is of it: no look goes through all that there is beside it."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

INDEXES: tuple[tuple[str, str, Sequence[str], str | None], ...] = (
    ("session_days_look_idx", "session_days", ("look_at", "session_id", "day"), "pending"),
    ("sessions_timeless_idx", "sessions", ("id",), "dirty_since IS NOT NULL AND flush_due_at IS NULL"),
    ("memory_conflicts_newest_idx", "memory_conflicts", ("id",), "status = 'open'"),
    (
        "review_items_order_idx",
        "review_items",
        ("(CASE tier WHEN 'high'::text THEN 0 WHEN 'medium'::text THEN 1 ELSE 2 END)", "expires_at", "id"),
        "state = 'open'",
    ),
    ("working_memory_agent_idx", "working_memory", ("agent_id", "session"), None),
    (
        "memory_changes_noted_idx",
        "memory_changes",
        ("(after ->> 'noted'::text)",),
        "(after ->> 'noted'::text) IS NOT NULL",
    ),
    (
        "memory_changes_place_idx",
        "memory_changes",
        ("(before ->> 'scope_id'::text)",),
        "(before ->> 'scope_id'::text) IS NOT NULL",
    ),
    ("maintenance_runs_error_idx", "maintenance_runs", ("scope_id",), "error IS NOT NULL"),
)
"""Name, table, columns, and of which rows."""


def upgrade() -> None:
    # The past: each pending day is looked at once, and its time is noted then.
    past = sa.text("'1970-01-01 00:00:00+00'")
    look_at = sa.Column("look_at", sa.DateTime(timezone=True), server_default=past, nullable=False)
    op.add_column("session_days", look_at, schema="slowwave")
    for name, table, columns, which in INDEXES:
        where = "" if which is None else f" WHERE {which}"
        op.execute(f"CREATE INDEX {name} ON slowwave.{table} ({', '.join(columns)}){where}")


def downgrade() -> None:
    for name, table, _columns, _which in reversed(INDEXES):
        op.drop_index(name, table, schema="slowwave")
    op.drop_column("session_days", "look_at", schema="slowwave")
