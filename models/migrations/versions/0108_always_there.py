"""Put instructions and the speaker's profile into every context; pair search hits with related memories.

Instructions and profile attributes have their own indexes. The column `profile` holds the attributes of the speaker
that a memory states. A search shows the memories that replace a hit, that the hit replaces, or that contradict it.
"""

import json

from alembic import op
from sqlalchemy import text

from slowwave_server.domain.profile import profile_of
from slowwave_server.models.functions import apply_functions, run_sql

revision = "0108"
down_revision = "0107"
branch_labels = None
depends_on = None
# Code from this revision on works with the new schema. Older code stores memories with an empty profile.
serves = "0100"

BATCH = 500

_COLUMNS = """
ALTER TABLE slowwave.memories ADD COLUMN profile jsonb DEFAULT '[]' NOT NULL;
CREATE INDEX memories_instructions_idx ON slowwave.memories (scope_id, reaffirmed_at DESC)
    WHERE type = 'instruction' AND status IN ('inbox', 'episode', 'active') AND valid_to IS NULL;
CREATE INDEX memories_profile_0_idx ON slowwave.memories
    (scope_id, (profile -> 0 ->> 'person'), (profile -> 0 ->> 'attribute'), reaffirmed_at DESC)
    WHERE profile -> 0 IS NOT NULL AND status IN ('inbox', 'episode', 'active') AND valid_to IS NULL;
CREATE INDEX memories_profile_1_idx ON slowwave.memories
    (scope_id, (profile -> 1 ->> 'person'), (profile -> 1 ->> 'attribute'), reaffirmed_at DESC)
    WHERE profile -> 1 IS NOT NULL AND status IN ('inbox', 'episode', 'active') AND valid_to IS NULL;
"""
# Functions whose arguments or results change.
_CHANGED = """
DROP FUNCTION IF EXISTS slowwave.store_memory(bigint, bigint, bigint, text, bytea, text, text, double precision,
    double precision, text, text[], timestamptz, bigint[], text, timestamptz, text);
DROP FUNCTION IF EXISTS slowwave.read_context(text, text, text[], text[], text, timestamptz, integer, uuid[], integer,
    integer);
"""
_MEMORIES = text(
    "SELECT m.id, m.content, m.type FROM slowwave.memories m WHERE m.id > :after ORDER BY m.id LIMIT :batch"
)
_FILL = text("UPDATE slowwave.memories SET profile = CAST(:profile AS jsonb) WHERE id = :id")


def upgrade() -> None:
    run_sql(_COLUMNS)
    run_sql(_CHANGED)
    apply_functions("consolidate_notes", "pair_memories", "read_context", "store_candidates", "store_memory")
    connection = op.get_bind()
    after = "00000000-0000-0000-0000-000000000000"
    while rows := connection.execute(_MEMORIES, {"after": after, "batch": BATCH}).all():
        read = {row.id: [trait.to_json() for trait in profile_of(row.content, row.type)] for row in rows}
        told = [{"id": memory, "profile": json.dumps(traits)} for memory, traits in read.items() if traits]
        if told:
            connection.execute(_FILL, told)
        after = rows[-1].id


def downgrade() -> None:
    op.execute("DROP FUNCTION slowwave.pair_memories(bigint[], uuid[])")
    op.execute("ALTER TABLE slowwave.memories DROP COLUMN profile")
    op.execute("DROP INDEX slowwave.memories_instructions_idx")
