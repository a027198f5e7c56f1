"""Reading a large scope costs no more than reading a small one: what very many hold is looked for among the latest."""

from pathlib import Path

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

SQL = Path(__file__).parent.parent / "sql"
# Each is made anew with further columns: (name, table, columns before, columns now, condition).
INDEXES = (
    ("passages_scope_idx", "passages", ["scope_id"], ["scope_id", "session_id", "seq"], None),
    ("sessions_scope_dirty_idx", "sessions", ["scope_id"], ["scope_id", "last_seen_at"], "dirty_since IS NOT NULL"),
    (
        "session_days_pending_idx",
        "session_days",
        ["scope_id", "day", "agent_id"],
        ["scope_id", "day", "session_id"],
        "pending",
    ),
    (
        "day_summaries_scope_idx",
        "day_summaries",
        ["scope_id", "day DESC", "version DESC"],
        ["scope_id", "day DESC", "agent_id", "version DESC"],
        None,
    ),
)


def _run(file: str) -> None:
    op.execute((SQL / file).read_text(encoding="utf-8").replace(":", r"\:"))


def _index(name: str, table: str, columns: list[str], condition: str | None) -> None:
    op.drop_index(name, table, schema="slowwave")
    where = None if condition is None else sa.text(condition)
    op.create_index(name, table, [sa.text(column) for column in columns], schema="slowwave", postgresql_where=where)


def upgrade() -> None:
    for name, table, _, columns, condition in INDEXES:
        _index(name, table, columns, condition)
    for file in ("find_4.sql", "find_hybrid_3.sql", "brief_3.sql"):
        _run(file)


def downgrade() -> None:
    for function in ("find_hybrid", "find"):
        op.execute(f"DROP FUNCTION slowwave.{function}")
    for file in ("find_3.sql", "find_hybrid_2.sql", "brief_2.sql"):
        _run(file)
    for name, table, columns, _, condition in INDEXES:
        _index(name, table, columns, condition)
