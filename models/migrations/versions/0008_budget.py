"""What calls of models cost: reserved before, settled after."""

from pathlib import Path

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

SQL = Path(__file__).parent.parent / "sql"
FUNCTIONS = ("release_call", "settle_call", "reserve_call", "settle_lost", "change_usage")


def _calls() -> None:
    op.create_table(
        "llm_calls",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("agent", sa.Text(), nullable=True),
        sa.Column("run_id", sa.BigInteger(), nullable=True),
        sa.Column("purpose", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("prompt", sa.Text(), nullable=False),
        sa.Column("tokens_reserved", sa.Integer(), nullable=False),
        sa.Column("tokens_settled", sa.Integer(), nullable=True),
        sa.Column("counted", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=True),
        sa.Column("reserved_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("settled_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "outcome IN ('answered', 'failed', 'unanswered', 'lost')", name=op.f("llm_calls_outcome_check")
        ),
        sa.CheckConstraint("(outcome IS NULL) = (tokens_settled IS NULL)", name=op.f("llm_calls_settled_check")),
        sa.CheckConstraint("tokens_reserved >= 0 AND tokens_settled >= 0", name=op.f("llm_calls_tokens_check")),
        sa.PrimaryKeyConstraint("id", name=op.f("llm_calls_pkey")),
        schema="slowwave",
    )
    for name, columns, where in (
        ("tenant", ["tenant", "reserved_at"], None),
        ("run", ["run_id"], "run_id IS NOT NULL"),
        ("open", ["tenant", "expires_at"], "outcome IS NULL"),
    ):
        op.create_index(
            f"llm_calls_{name}_idx",
            "llm_calls",
            columns,
            schema="slowwave",
            postgresql_where=None if where is None else sa.text(where),
        )


def upgrade() -> None:
    _calls()
    op.create_table(
        "llm_usage",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("agent", sa.Text(), nullable=False),
        sa.Column("period", sa.Text(), nullable=False),
        sa.Column("starts", sa.Date(), nullable=False),
        sa.Column("calls", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("failures", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("tokens_reserved", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("tokens_settled", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.CheckConstraint("period IN ('day', 'week')", name=op.f("llm_usage_period_check")),
        sa.CheckConstraint(
            "calls >= 0 AND failures >= 0 AND tokens_reserved >= 0 AND tokens_settled >= 0",
            name=op.f("llm_usage_counts_check"),
        ),
        sa.PrimaryKeyConstraint("tenant", "agent", "period", "starts", name=op.f("llm_usage_pkey")),
        schema="slowwave",
    )
    op.execute((SQL / "budget_1.sql").read_text(encoding="utf-8").replace(":", r"\:"))


def downgrade() -> None:
    for name in FUNCTIONS:
        op.execute(f"DROP FUNCTION slowwave.{name}")
    op.drop_table("llm_usage", schema="slowwave")
    op.drop_table("llm_calls", schema="slowwave")
