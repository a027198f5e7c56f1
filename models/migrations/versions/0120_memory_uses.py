"""Programs list, read and explain memories, and tell which ones a reply used."""

from alembic import op

from slowwave_server.models.functions import apply_functions, run_sql

revision = "0120"
down_revision = "0119"
branch_labels = None
depends_on = None
# The oldest revision whose code works on what this one makes, so that an upgrade needs no pause.
serves = "0100"

_TABLE = """
CREATE TABLE slowwave.memory_uses (
    id bigint GENERATED ALWAYS AS IDENTITY,
    memory_id uuid NOT NULL,
    session_id bigint,
    first_used_at timestamptz DEFAULT now() NOT NULL,
    last_used_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT memory_uses_pkey PRIMARY KEY (id),
    CONSTRAINT memory_uses_key UNIQUE NULLS NOT DISTINCT (memory_id, session_id),
    CONSTRAINT memory_uses_memory_id_fkey FOREIGN KEY (memory_id) REFERENCES slowwave.memories(id) ON DELETE CASCADE,
    CONSTRAINT memory_uses_session_id_fkey FOREIGN KEY (session_id) REFERENCES slowwave.sessions(id) ON DELETE CASCADE
);
CREATE INDEX memory_uses_session_idx ON slowwave.memory_uses (session_id) WHERE session_id IS NOT NULL;
ALTER TABLE slowwave.memory_uses ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON slowwave.memory_uses
    USING (EXISTS (SELECT FROM slowwave.memories AS above WHERE above.id = memory_uses.memory_id))
    WITH CHECK (EXISTS (SELECT FROM slowwave.memories AS above WHERE above.id = memory_uses.memory_id));
"""


def upgrade() -> None:
    run_sql(_TABLE)
    apply_functions("memory_record", "read_memories", "explain_memory", "use_memories")


def downgrade() -> None:
    run_sql("DROP FUNCTION slowwave.use_memories(text, text, uuid[], text)")
    run_sql("DROP FUNCTION slowwave.explain_memory(text, uuid)")
    run_sql(
        "DROP FUNCTION slowwave.read_memories(text, text, text, text, uuid, text, text, timestamptz, date, timestamptz,"
        " uuid, integer)"
    )
    run_sql("DROP FUNCTION slowwave.memory_record(uuid)")
    op.execute("DROP TABLE slowwave.memory_uses")
