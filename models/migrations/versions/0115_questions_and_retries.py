"""A list of statements of one form raises one question, and notes that could not be kept are tried again."""

from alembic import op

from slowwave_server.models.functions import run_sql

revision = "0115"
down_revision = "0114"
branch_labels = None
depends_on = None
# The oldest revision whose code works on what this one makes, so that an upgrade needs no pause.
serves = "0100"

_INDEXES = """
CREATE INDEX memory_conflicts_form_idx ON slowwave.memory_conflicts (scope_id, (evidence ->> 'form'))
    WHERE (evidence ->> 'form') IS NOT NULL;
CREATE INDEX working_memory_failed_idx ON slowwave.working_memory (scope_id, settled_at) WHERE outcome = 'failed';
"""


def upgrade() -> None:
    run_sql(_INDEXES)


def downgrade() -> None:
    op.execute("DROP INDEX slowwave.memory_conflicts_form_idx, slowwave.working_memory_failed_idx")
