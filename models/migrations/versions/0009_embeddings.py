"""Vectors of memories and events."""

from pathlib import Path

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

SQL = Path(__file__).parent.parent / "sql"
TABLES = ("vector_progress", "passage_vectors", "memory_vectors", "vector_spaces")
FUNCTIONS = ("find_hybrid", "nearest", "index_space")


def _spaces() -> None:
    op.create_table(
        "vector_spaces",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("dimension", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("state IN ('building', 'serving', 'retired')", name=op.f("vector_spaces_state_check")),
        sa.CheckConstraint("dimension BETWEEN 1 AND 16000", name=op.f("vector_spaces_dimension_check")),
        sa.PrimaryKeyConstraint("id", name=op.f("vector_spaces_pkey")),
        schema="slowwave",
    )
    for name, column, where in (("model", "model", "state <> 'retired'"), ("serving", "state", "state = 'serving'")):
        op.create_index(
            f"vector_spaces_{name}_idx",
            "vector_spaces",
            [column],
            unique=True,
            schema="slowwave",
            postgresql_where=sa.text(where),
        )


def _space_key(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["space_id"], ["slowwave.vector_spaces.id"], name=op.f(f"{table}_space_id_fkey"), ondelete="CASCADE"
    )


def _memory_vectors() -> None:
    op.create_table(
        "memory_vectors",
        sa.Column("memory_id", sa.Uuid(), nullable=False),
        sa.Column("space_id", sa.BigInteger(), nullable=False),
        sa.Column("scope_id", sa.BigInteger(), nullable=False),
        sa.Column("content_hash", sa.LargeBinary(), nullable=False),
        sa.Column("said_on", sa.Date(), nullable=False),
        sa.Column("embedding", postgresql.ARRAY(sa.REAL()), nullable=True),
        sa.ForeignKeyConstraint(
            ["memory_id"], ["slowwave.memories.id"], name=op.f("memory_vectors_memory_id_fkey"), ondelete="CASCADE"
        ),
        _space_key("memory_vectors"),
        sa.PrimaryKeyConstraint("memory_id", "space_id", name=op.f("memory_vectors_pkey")),
        schema="slowwave",
    )


def _passage_vectors() -> None:
    op.create_table(
        "passage_vectors",
        sa.Column("session_id", sa.BigInteger(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("space_id", sa.BigInteger(), nullable=False),
        sa.Column("scope_id", sa.BigInteger(), nullable=False),
        sa.Column("embedding", postgresql.ARRAY(sa.REAL()), nullable=True),
        sa.ForeignKeyConstraint(
            ["session_id", "seq"],
            ["slowwave.passages.session_id", "slowwave.passages.seq"],
            name=op.f("passage_vectors_session_id_fkey"),
            ondelete="CASCADE",
        ),
        _space_key("passage_vectors"),
        sa.PrimaryKeyConstraint("session_id", "seq", "space_id", name=op.f("passage_vectors_pkey")),
        schema="slowwave",
    )
    op.create_table(
        "vector_progress",
        sa.Column("session_id", sa.BigInteger(), nullable=False),
        sa.Column("space_id", sa.BigInteger(), nullable=False),
        sa.Column("until_seq", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id"], ["slowwave.sessions.id"], name=op.f("vector_progress_session_id_fkey"), ondelete="CASCADE"
        ),
        _space_key("vector_progress"),
        sa.PrimaryKeyConstraint("session_id", "space_id", name=op.f("vector_progress_pkey")),
        schema="slowwave",
    )


def upgrade() -> None:
    _spaces()
    _memory_vectors()
    _passage_vectors()
    for table in ("memory_vectors", "passage_vectors"):
        op.create_index(f"{table}_scope_idx", table, ["space_id", "scope_id"], schema="slowwave")
        # Compressing numbers or counting them takes long and gains nothing.
        op.execute(
            f"ALTER TABLE slowwave.{table} ALTER embedding SET STORAGE EXTERNAL, ALTER embedding SET STATISTICS 0"
        )
    for name in ("vectors_1.sql", "find_hybrid_1.sql"):
        op.execute((SQL / name).read_text(encoding="utf-8").replace(":", r"\:"))


def downgrade() -> None:
    for name in FUNCTIONS:
        op.execute(f"DROP FUNCTION slowwave.{name}")
    for name in TABLES:
        op.drop_table(name, schema="slowwave")
