"""Calls without an answer tell apart what they were about: a question that never gets one is given up."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("llm_calls", sa.Column("about", sa.Uuid(), nullable=True), schema="slowwave")
    op.create_index(
        "llm_calls_about_idx",
        "llm_calls",
        ["tenant", "about"],
        schema="slowwave",
        postgresql_where=sa.text("about IS NOT NULL"),
    )


def downgrade() -> None:
    op.drop_index("llm_calls_about_idx", "llm_calls", schema="slowwave")
    op.drop_column("llm_calls", "about", schema="slowwave")
