"""mem0 beside files: what it was told of, what its vectors are made by, where its rows stand in this Postgres."""

from pathlib import Path

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

SQL = Path(__file__).parent.parent / "sql"
REPLACED = ("register_backend", "unregister_backend")


def _text(name: str) -> str:
    return (SQL / name).read_text(encoding="utf-8").replace(":", r"\:")


def _function(text: str, name: str) -> str:
    """One function of a file, to put it back as it was."""
    begin = text.index(f"CREATE FUNCTION slowwave.{name}(")
    return text[begin : text.index("$$;", begin) + 3].replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION")


def upgrade() -> None:
    op.add_column("memory_backends", sa.Column("identity", sa.Text()), schema="slowwave")
    forgotten: sa.Column[bool] = sa.Column("forgotten", sa.Boolean(), nullable=False, server_default=sa.text("false"))
    op.add_column("outbox", forgotten, schema="slowwave")
    op.execute(_text("backends_1.sql"))


def downgrade() -> None:
    op.execute("DROP SCHEMA IF EXISTS slowwave_mem0 CASCADE")
    op.execute("DROP FUNCTION slowwave.prepare_mem0")
    before = _text("outbox_1.sql")
    for name in REPLACED:
        op.execute(_function(before, name))
    op.execute("DROP FUNCTION slowwave.queue_all")
    op.execute("DELETE FROM slowwave.outbox WHERE backend = 'mem0'")
    op.execute("DELETE FROM slowwave.memory_backends WHERE name = 'mem0'")
    op.drop_column("outbox", "forgotten", schema="slowwave")
    op.drop_column("memory_backends", "identity", schema="slowwave")
