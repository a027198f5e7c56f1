"""Contexts note which memories they show; use raises the importance of a memory, and showing it in vain lowers it."""

from alembic import op

from slowwave_server.models.functions import apply_functions, run_sql

revision = "0125"
down_revision = "0124"
branch_labels = None
depends_on = None
# The oldest revision whose code works on what this one makes, so that an upgrade needs no pause.
serves = "0100"

_COLUMNS = """
ALTER TABLE slowwave.memory_uses
    ADD COLUMN shown_at timestamptz,
    DROP COLUMN first_used_at,
    ALTER COLUMN last_used_at DROP NOT NULL,
    ALTER COLUMN last_used_at DROP DEFAULT;
ALTER TABLE slowwave.memories ADD COLUMN use_gain double precision DEFAULT 0 NOT NULL;
CREATE INDEX memories_use_idx ON slowwave.memories (id) WHERE use_gain <> 0;
"""
_BY_IMPORTANCE = """
DROP INDEX slowwave.memories_important_idx;
CREATE INDEX memories_important_idx ON slowwave.memories (scope_id, {importance} DESC, valid_from DESC)
    WHERE status IN ('inbox', 'episode', 'active') AND valid_to IS NULL;
"""


def upgrade() -> None:
    run_sql(_COLUMNS)
    apply_functions("learned_importance")
    run_sql(_BY_IMPORTANCE.format(importance="slowwave.learned_importance(importance, use_gain)"))
    apply_functions("show_memories", "use_memories", "memory_record", "read_context", "search")


def downgrade() -> None:
    run_sql("DROP FUNCTION slowwave.show_memories(text, text, text, uuid[], timestamptz)")
    run_sql(_BY_IMPORTANCE.format(importance="importance"))
    run_sql("DROP FUNCTION slowwave.learned_importance(double precision, double precision)")
    run_sql(
        "DELETE FROM slowwave.memory_uses WHERE last_used_at IS NULL;"
        "ALTER TABLE slowwave.memory_uses DROP COLUMN shown_at,"
        " ADD COLUMN first_used_at timestamptz DEFAULT now() NOT NULL,"
        " ALTER COLUMN last_used_at SET DEFAULT now(), ALTER COLUMN last_used_at SET NOT NULL"
    )
    op.execute("ALTER TABLE slowwave.memories DROP COLUMN use_gain")
