"""Candidates that repeat or correct a memory, and the model's answer about a window, which is paid once."""

from alembic import op

from slowwave_server.models.functions import apply_functions, run_sql

revision = "0103"
down_revision = "0102"
branch_labels = None
depends_on = None
# The oldest revision whose code works on what this one makes, so that an upgrade needs no pause.
serves = "0100"

_TABLE = """
CREATE TABLE slowwave.window_answers (
    session_id bigint,
    from_seq bigint NOT NULL,
    to_seq bigint NOT NULL,
    digest bytea NOT NULL,
    owner uuid NOT NULL,
    known jsonb NOT NULL,
    answer jsonb,
    asked_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    answered_at timestamptz,
    CONSTRAINT window_answers_pkey PRIMARY KEY (session_id),
    CONSTRAINT window_answers_window_check CHECK (from_seq BETWEEN 1 AND to_seq),
    CONSTRAINT window_answers_answered_check CHECK ((answer IS NULL) = (answered_at IS NULL)),
    CONSTRAINT window_answers_session_id_fkey
        FOREIGN KEY (session_id) REFERENCES slowwave.sessions(id) ON DELETE CASCADE
);
ALTER TABLE slowwave.window_answers ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON slowwave.window_answers
    USING (EXISTS (SELECT FROM slowwave.sessions AS above WHERE above.id = window_answers.session_id))
    WITH CHECK (EXISTS (SELECT FROM slowwave.sessions AS above WHERE above.id = window_answers.session_id));
"""


def upgrade() -> None:
    run_sql(_TABLE)
    apply_functions("begin_flush", "commit_extraction", "correct_memory", "store_candidates")


def downgrade() -> None:
    op.execute("DROP TABLE slowwave.window_answers")
