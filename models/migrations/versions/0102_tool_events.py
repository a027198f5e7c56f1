"""Events of a fourth kind: calls of tools and their results."""

from alembic import op

from slowwave_server.models.functions import apply_functions, run_sql

revision = "0102"
down_revision = "0101"
branch_labels = None
depends_on = None
# Code of 0101 takes such events for noise: their role is "tool", or their metadata hold a tool_call_id.
serves = "0100"

_BEFORE = "'user', 'assistant', 'task'"


def _allow(kinds: str) -> None:
    # Postgres validates the rows without blocking readers and writers.
    op.execute("ALTER TABLE slowwave.events DROP CONSTRAINT events_kind_check")
    op.execute(f"ALTER TABLE slowwave.events ADD CONSTRAINT events_kind_check CHECK (kind IN ({kinds})) NOT VALID")
    op.execute("ALTER TABLE slowwave.events VALIDATE CONSTRAINT events_kind_check")


def upgrade() -> None:
    _allow(f"{_BEFORE}, 'tool'")
    run_sql("DROP FUNCTION IF EXISTS slowwave.passage_search_vectors(bigint, jsonb)")
    # read_context answers more since revision 0108, which applies it.
    apply_functions("passage_search_vectors")


def downgrade() -> None:
    # A task event without a milestone is noise to every reader, and the day counts stay equal to the events (I5).
    op.execute("UPDATE slowwave.events SET kind = 'task' WHERE kind = 'tool'")
    _allow(_BEFORE)
