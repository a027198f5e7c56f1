"""A pass after which search would find less evidence is rolled back, and kept as a run with a status of its own."""

from slowwave_server.models.functions import run_sql

revision = "0126"
down_revision = "0125"
branch_labels = None
depends_on = None
# The oldest revision whose code works on what this one makes, so that an upgrade needs no pause.
serves = "0100"

_STATUS = """
ALTER TABLE slowwave.maintenance_runs DROP CONSTRAINT maintenance_runs_status_check;
ALTER TABLE slowwave.maintenance_runs ADD CONSTRAINT maintenance_runs_status_check
    CHECK (status IN ({}));
"""
_INDEX = """
CREATE INDEX maintenance_runs_rolled_back_idx ON slowwave.maintenance_runs (started_at) WHERE status = 'rolled_back';
"""


def upgrade() -> None:
    run_sql(_STATUS.format("'running', 'completed', 'rolled_back', 'failed', 'stopped', 'undone'") + _INDEX)


def downgrade() -> None:
    run_sql("DROP INDEX slowwave.maintenance_runs_rolled_back_idx")
    run_sql("UPDATE slowwave.maintenance_runs SET status = 'stopped' WHERE status = 'rolled_back'")
    run_sql(_STATUS.format("'running', 'completed', 'failed', 'stopped', 'undone'"))
