"""What ticks reads what changed since, however much there is: growing scopes, stale sessions, days that are over."""

from pathlib import Path

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

SQL = Path(__file__).parent.parent / "sql"
GROWN = "flushed_events >= 200 AND (counted_at IS NULL OR flushed_events * 10 >= counted_events * 11 + 1000)"
COUNT = """
UPDATE slowwave.scopes k SET flushed_events = n.events, flushed_through = (SELECT max(f.id) FROM slowwave.flushes f)
FROM (SELECT s.scope_id, sum(s.processed_until)::bigint AS events FROM slowwave.sessions s GROUP BY s.scope_id) AS n
WHERE n.scope_id = k.id AND n.events > 0
"""


def _run(text: str) -> None:
    op.execute(text.replace(":", r"\:"))


def _as_replacement(file: str, *names: str) -> None:
    """Functions of the schema as this file has them."""
    text = (SQL / file).read_text(encoding="utf-8")
    for name in names:
        start = text.index(f"FUNCTION slowwave.{name}(")
        _run(f"CREATE OR REPLACE {text[start : text.index('$$;', start) + len('$$;')]}")


def upgrade() -> None:
    for name in ("flushed_events", "flushed_through"):
        column = sa.Column(name, sa.BigInteger(), server_default=sa.text("0"), nullable=False)
        op.add_column("scopes", column, schema="slowwave")
    _run(COUNT)
    rule = sa.Computed(GROWN, persisted=True)
    op.add_column("scopes", sa.Column("grown", sa.Boolean(), rule, nullable=False), schema="slowwave")
    op.create_index("scopes_grown_idx", "scopes", ["id"], schema="slowwave", postgresql_where=sa.text("grown"))
    op.create_index("scopes_flushed_through_idx", "scopes", ["flushed_through"], schema="slowwave")
    dirty = sa.text("dirty_since IS NOT NULL")
    op.create_index("sessions_dirty_idx", "sessions", ["dirty_since"], schema="slowwave", postgresql_where=dirty)
    days = ["day", "agent_id", "scope_id"]
    pending = sa.text("pending")
    op.create_index("session_days_open_idx", "session_days", days, schema="slowwave", postgresql_where=pending)
    op.drop_index("days_unsettled_idx", "days", schema="slowwave")
    unsettled = sa.text("status <> 'final'")
    op.create_index("days_unsettled_idx", "days", days, schema="slowwave", postgresql_where=unsettled)
    _run((SQL / "growth_1.sql").read_text(encoding="utf-8"))
    _run((SQL / "retention_2.sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    _as_replacement("retention_1.sql", "close_sessions", "bound_sessions")
    op.execute("DROP FUNCTION slowwave.note_growth")
    op.drop_index("days_unsettled_idx", "days", schema="slowwave")
    unsettled = sa.text("status <> 'final'")
    op.create_index("days_unsettled_idx", "days", ["day"], schema="slowwave", postgresql_where=unsettled)
    op.drop_index("session_days_open_idx", "session_days", schema="slowwave")
    op.drop_index("sessions_dirty_idx", "sessions", schema="slowwave")
    for name in ("grown", "flushed_through", "flushed_events"):
        op.drop_column("scopes", name, schema="slowwave")
