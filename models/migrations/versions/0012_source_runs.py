"""Runs of conversations that another program keeps, named by its hooks and read by workers."""

from pathlib import Path

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

SQL = Path(__file__).parent.parent / "sql"


def _run(name: str) -> None:
    op.execute((SQL / name).read_text(encoding="utf-8").replace(":", r"\:"))


def _capture_before() -> str:
    """capture_session as it was: one function of its file."""
    text = (SQL / "capture_2.sql").read_text(encoding="utf-8").replace(":", r"\:")
    start = text.index("CREATE OR REPLACE FUNCTION slowwave.capture_session(")
    return text[start : text.index("$$;", start) + len("$$;")]


def upgrade() -> None:
    op.create_table(
        "source_runs",
        sa.Column("session_id", sa.BigInteger(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("looks", sa.SmallInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("missing_since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("outcome", sa.Text(), nullable=True),
        sa.Column("taken", postgresql.ARRAY(sa.Text()), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.CheckConstraint("outcome IN ('taken', 'private', 'gone', 'failed')", name=op.f("source_runs_outcome_check")),
        sa.ForeignKeyConstraint(
            ["session_id"],
            ["slowwave.sessions.id"],
            name=op.f("source_runs_session_id_fkey"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("session_id", "run_id", name=op.f("source_runs_pkey")),
        schema="slowwave",
    )
    op.create_index(
        "source_runs_due_idx",
        "source_runs",
        ["due_at"],
        schema="slowwave",
        postgresql_where=sa.text("due_at IS NOT NULL"),
    )
    _run("capture_3.sql")


def downgrade() -> None:
    op.execute(_capture_before())
    op.execute("DROP FUNCTION slowwave.note_unread")
    op.drop_table("source_runs", schema="slowwave")
