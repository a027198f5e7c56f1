"""Passages: long events are indexed in parts, and one function ranks by words, vectors and time.

Rows from before this revision hold a whole event each, with `ends` NULL. They are searched as they are until the sweep
cuts them (services/passages.py).
"""

from slowwave_server.models.functions import apply_functions, run_sql

revision = "0106"
down_revision = "0105"
branch_labels = None
depends_on = None
# The oldest revision whose code works on what this one makes: older code calls functions that are gone.
serves = "0106"

_TABLES = """
ALTER TABLE slowwave.passage_vectors DROP CONSTRAINT passage_vectors_session_id_fkey;
ALTER TABLE slowwave.passage_vectors ADD COLUMN part integer DEFAULT 0 NOT NULL;
ALTER TABLE slowwave.passage_vectors DROP CONSTRAINT passage_vectors_pkey;
ALTER TABLE slowwave.passage_vectors ADD CONSTRAINT passage_vectors_pkey PRIMARY KEY (session_id, seq, part, space_id);
ALTER TABLE slowwave.passages ADD COLUMN part integer DEFAULT 0 NOT NULL;
ALTER TABLE slowwave.passages ADD COLUMN begins integer DEFAULT 0 NOT NULL;
ALTER TABLE slowwave.passages ADD COLUMN ends integer;
ALTER TABLE slowwave.passages DROP CONSTRAINT passages_pkey;
ALTER TABLE slowwave.passages ADD CONSTRAINT passages_pkey PRIMARY KEY (session_id, seq, part);
ALTER TABLE slowwave.passage_vectors ADD CONSTRAINT passage_vectors_session_id_fkey
    FOREIGN KEY (session_id, seq, part) REFERENCES slowwave.passages(session_id, seq, part) ON DELETE CASCADE;
DROP INDEX slowwave.passages_scope_idx;
CREATE INDEX passages_scope_idx ON slowwave.passages (scope_id, session_id, seq, part);
CREATE INDEX passages_uncut_idx ON slowwave.passages (session_id, seq) WHERE ends IS NULL;
"""
# A part is no whole event, so its rows go: revision 0105 rebuilds no index. Its vectors go with it.
_WHOLE = """
DELETE FROM slowwave.passages WHERE part > 0;
ALTER TABLE slowwave.passage_vectors DROP CONSTRAINT passage_vectors_session_id_fkey;
ALTER TABLE slowwave.passage_vectors DROP CONSTRAINT passage_vectors_pkey;
ALTER TABLE slowwave.passage_vectors DROP COLUMN part;
ALTER TABLE slowwave.passage_vectors ADD CONSTRAINT passage_vectors_pkey PRIMARY KEY (session_id, seq, space_id);
ALTER TABLE slowwave.passages DROP COLUMN part, DROP COLUMN begins, DROP COLUMN ends;
ALTER TABLE slowwave.passages ADD CONSTRAINT passages_pkey PRIMARY KEY (session_id, seq);
ALTER TABLE slowwave.passage_vectors ADD CONSTRAINT passage_vectors_session_id_fkey
    FOREIGN KEY (session_id, seq) REFERENCES slowwave.passages(session_id, seq) ON DELETE CASCADE;
CREATE INDEX passages_scope_idx ON slowwave.passages (scope_id, session_id, seq);
"""
# Their arguments or their answers change, or one function replaces them.
_CHANGED = """
DROP FUNCTION IF EXISTS slowwave.search_hybrid;
DROP FUNCTION IF EXISTS slowwave.search_text;
DROP FUNCTION IF EXISTS slowwave.nearest_vectors;
DROP FUNCTION IF EXISTS slowwave.passage_search_vectors;
"""


def upgrade() -> None:
    run_sql(_TABLES)
    run_sql(_CHANGED)
    apply_functions(
        "commit_flush",
        "nearest_vectors",
        "passage_search_vectors",
        "passages_around",
        "search",
        "stored_cosine",
    )


def downgrade() -> None:
    run_sql(_WHOLE)
