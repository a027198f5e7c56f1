"""An undo can be undone, an undo of a job's run covers the runs that it started, and a person may forbid a repeat."""

from alembic import op

from slowwave_server.models.functions import run_sql

revision = "0112"
down_revision = "0111"
branch_labels = None
depends_on = None
# The oldest revision whose code works on what this one makes. Older workers save no rows, so their undos stay.
serves = "0100"

_TABLE = """
CREATE TABLE slowwave.undone_rows (
    id bigint GENERATED ALWAYS AS IDENTITY,
    run_id bigint NOT NULL,
    scope_id bigint NOT NULL,
    table_name text NOT NULL,
    changed boolean NOT NULL,
    row jsonb NOT NULL,
    CONSTRAINT undone_rows_pkey PRIMARY KEY (id),
    CONSTRAINT undone_rows_run_id_fkey FOREIGN KEY (run_id) REFERENCES slowwave.maintenance_runs(id),
    CONSTRAINT undone_rows_scope_id_fkey FOREIGN KEY (scope_id) REFERENCES slowwave.scopes(id)
);
CREATE INDEX undone_rows_run_idx ON slowwave.undone_rows (run_id, id);
CREATE INDEX undone_rows_scope_idx ON slowwave.undone_rows (scope_id);
ALTER TABLE slowwave.undone_rows ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON slowwave.undone_rows
    USING (EXISTS (SELECT FROM slowwave.scopes AS above WHERE above.id = undone_rows.scope_id))
    WITH CHECK (EXISTS (SELECT FROM slowwave.scopes AS above WHERE above.id = undone_rows.scope_id));
"""
_COLUMNS = """
ALTER TABLE slowwave.maintenance_runs
    ADD COLUMN part_of bigint,
    ADD COLUMN no_repeat boolean DEFAULT false NOT NULL,
    ADD CONSTRAINT maintenance_runs_part_of_fkey FOREIGN KEY (part_of) REFERENCES slowwave.maintenance_runs(id);
CREATE INDEX maintenance_runs_part_idx ON slowwave.maintenance_runs (part_of) WHERE part_of IS NOT NULL;
"""
# Runs of jobs named the run that started them in words alone.
_PARTS = """
UPDATE slowwave.maintenance_runs r SET part_of = p.id FROM slowwave.maintenance_runs p
WHERE r.started_by ~ '^[^ ]+, run [0-9]{1,18}$' AND r.scope_id IS NOT NULL
  AND p.id = CAST(substring(r.started_by FROM '[0-9]+$') AS bigint)
  AND p.job_id = substring(r.started_by FROM '^([^ ]+), run');
"""


def upgrade() -> None:
    run_sql(_TABLE)
    run_sql(_COLUMNS)
    run_sql(_PARTS)


def downgrade() -> None:
    op.execute("DROP TABLE slowwave.undone_rows")
    op.execute("ALTER TABLE slowwave.maintenance_runs DROP COLUMN part_of, DROP COLUMN no_repeat")
