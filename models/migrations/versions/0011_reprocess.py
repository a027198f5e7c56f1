"""What models make of windows, in the ledger; another extractor's answers to the kept events, beside the live ones."""

from pathlib import Path

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

SQL = Path(__file__).parent.parent / "sql"
KINDS = "'working', 'light', 'deep', 'review', 'undo', 'import', 'files', 'curation', 'other'"


def _kinds(kinds: str) -> None:
    op.drop_constraint(op.f("maintenance_runs_kind_check"), "maintenance_runs", schema="slowwave")
    op.create_check_constraint(
        op.f("maintenance_runs_kind_check"), "maintenance_runs", f"kind IN ({kinds})", schema="slowwave"
    )


def _ledger() -> None:
    for column in (
        sa.Column("tokens", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("fallback", sa.Text(), nullable=True),
        sa.Column("fallback_why", sa.Text(), nullable=True),
        sa.Column("dropped", postgresql.JSONB(), nullable=True),
    ):
        op.add_column("flushes", column, schema="slowwave")
    op.create_check_constraint(
        op.f("flushes_fallback_check"), "flushes", "fallback IN ('budget', 'failed')", schema="slowwave"
    )
    op.create_index(
        "flushes_fallback_idx",
        "flushes",
        ["session_id", "from_seq"],
        schema="slowwave",
        postgresql_where=sa.text("fallback IS NOT NULL"),
    )


def _key(table: str, column: str, target: str, ondelete: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        [column], [f"slowwave.{target}.id"], name=op.f(f"{table}_{column}_fkey"), ondelete=ondelete
    )


def _rebuilds() -> None:
    op.create_table(
        "rebuilds",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("agent_id", sa.BigInteger(), nullable=False),
        sa.Column("extractor", sa.Text(), nullable=False),
        sa.Column("extractor_version", sa.Text(), nullable=False),
        sa.Column("only_fallback", sa.Boolean(), nullable=False),
        sa.Column("state", sa.Text(), server_default=sa.text("'staging'"), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_by", sa.Text(), nullable=True),
        sa.Column("run_id", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("state IN ('staging', 'switched')", name=op.f("rebuilds_state_check")),
        _key("rebuilds", "agent_id", "agents", "CASCADE"),
        _key("rebuilds", "run_id", "maintenance_runs", "SET NULL"),
        sa.PrimaryKeyConstraint("id", name=op.f("rebuilds_pkey")),
        schema="slowwave",
    )
    op.create_index(
        "rebuilds_staging_idx",
        "rebuilds",
        ["agent_id"],
        unique=True,
        schema="slowwave",
        postgresql_where=sa.text("state = 'staging'"),
    )
    op.create_index(
        "rebuilds_run_idx",
        "rebuilds",
        ["run_id"],
        schema="slowwave",
        postgresql_where=sa.text("run_id IS NOT NULL"),
    )


def _windows() -> None:
    op.create_table(
        "rebuild_windows",
        sa.Column("rebuild_id", sa.BigInteger(), nullable=False),
        sa.Column("session_id", sa.BigInteger(), nullable=False),
        sa.Column("from_seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("to_seq", sa.BigInteger(), nullable=False),
        sa.Column("candidates", postgresql.JSONB(), nullable=False),
        sa.Column("extractor", sa.Text(), nullable=False),
        sa.Column("extractor_version", sa.Text(), nullable=False),
        sa.Column("tokens", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("dropped", postgresql.JSONB(), nullable=True),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("was", postgresql.JSONB(), nullable=True),
        _key("rebuild_windows", "rebuild_id", "rebuilds", "CASCADE"),
        _key("rebuild_windows", "session_id", "sessions", "CASCADE"),
        sa.PrimaryKeyConstraint("rebuild_id", "session_id", "from_seq", name=op.f("rebuild_windows_pkey")),
        schema="slowwave",
    )
    op.create_index("rebuild_windows_session_idx", "rebuild_windows", ["session_id"], schema="slowwave")


def _evidence() -> None:
    op.create_table(
        "rebuild_evidence",
        sa.Column("run_id", sa.BigInteger(), nullable=False),
        sa.Column("memory_id", sa.Uuid(), nullable=False),
        sa.Column("session_id", sa.BigInteger(), nullable=False),
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("before", sa.Boolean(), nullable=False),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("importance", sa.Float(), nullable=False),
        sa.Column("trust", sa.Text(), nullable=False),
        sa.Column("holds_from", sa.DateTime(timezone=True), nullable=False),
        _key("rebuild_evidence", "run_id", "maintenance_runs", "CASCADE"),
        _key("rebuild_evidence", "memory_id", "memories", "CASCADE"),
        _key("rebuild_evidence", "session_id", "sessions", "CASCADE"),
        sa.PrimaryKeyConstraint(
            "run_id", "memory_id", "session_id", "seq", "before", name=op.f("rebuild_evidence_pkey")
        ),
        schema="slowwave",
    )
    for column in ("memory", "session"):
        op.create_index(f"rebuild_evidence_{column}_idx", "rebuild_evidence", [f"{column}_id"], schema="slowwave")


def upgrade() -> None:
    _kinds(f"{KINDS}, 'rebuild'")
    _ledger()
    _rebuilds()
    _windows()
    _evidence()
    op.execute((SQL / "extraction_1.sql").read_text(encoding="utf-8").replace(":", r"\:"))


def downgrade() -> None:
    op.execute("DROP FUNCTION slowwave.commit_extraction")
    for table in ("rebuild_evidence", "rebuild_windows", "rebuilds"):
        op.drop_table(table, schema="slowwave")
    op.drop_index("flushes_fallback_idx", "flushes", schema="slowwave")
    op.drop_constraint(op.f("flushes_fallback_check"), "flushes", schema="slowwave")
    for column in ("dropped", "fallback_why", "fallback", "tokens"):
        op.drop_column("flushes", column, schema="slowwave")
    op.execute("UPDATE slowwave.maintenance_runs SET kind = 'other' WHERE kind = 'rebuild'")
    _kinds(KINDS)
