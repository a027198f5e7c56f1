"""A run that moves conversations in owns their sessions, and what it brought can be forgotten as one thing."""

from slowwave_server.models.functions import run_sql

revision = "0121"
down_revision = "0120"
branch_labels = None
depends_on = None
# The oldest revision whose code works on what this one makes, so that an upgrade needs no pause.
serves = "0100"

_SESSIONS = """
ALTER TABLE slowwave.sessions ADD COLUMN import_run bigint, ADD COLUMN import_seq bigint;
CREATE INDEX sessions_import_idx ON slowwave.sessions (import_run) WHERE import_run IS NOT NULL;
"""
_KINDS = """
ALTER TABLE slowwave.erasures DROP CONSTRAINT erasures_kind_check;
ALTER TABLE slowwave.erasures ADD CONSTRAINT erasures_kind_check CHECK (kind IN ({kinds}));
"""


def upgrade() -> None:
    run_sql(_SESSIONS)
    run_sql(_KINDS.format(kinds="'agent', 'session', 'scope', 'memory', 'import'"))


def downgrade() -> None:
    run_sql("DELETE FROM slowwave.erasures WHERE kind = 'import'")
    run_sql(_KINDS.format(kinds="'agent', 'session', 'scope', 'memory'"))
    run_sql("ALTER TABLE slowwave.sessions DROP COLUMN import_run, DROP COLUMN import_seq")
