"""Events lie in partitions, by ranges of session ids; what was there becomes the first of them, and is not copied.

Captures wait while its rows are looked through once.
"""

from pathlib import Path

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

SQL = Path(__file__).parent.parent / "sql"
WIDTH = 1_000_000

UP = f"""
LOCK TABLE slowwave.events IN ACCESS EXCLUSIVE MODE;
DO $$
DECLARE
    v_held bigint := (SELECT coalesce(max(e.session_id), 0) FROM slowwave.events e);
    v_bound bigint := (v_held / {WIDTH} + 1) * {WIDTH};
BEGIN
    EXECUTE format('ALTER TABLE slowwave.events RENAME TO events_%s', v_bound);
    EXECUTE format('ALTER INDEX slowwave.events_pkey RENAME TO events_%s_pkey', v_bound);
    EXECUTE format('ALTER INDEX slowwave.events_key_idx RENAME TO events_%s_session_id_key_idx', v_bound);
    EXECUTE format('CREATE TABLE slowwave.events (LIKE slowwave.events_%s INCLUDING CONSTRAINTS)'
                   ' PARTITION BY RANGE (session_id)', v_bound);
    ALTER TABLE slowwave.events ADD CONSTRAINT events_pkey PRIMARY KEY (session_id, seq);
    CREATE UNIQUE INDEX events_key_idx ON slowwave.events (session_id, key) WHERE key IS NOT NULL;
    EXECUTE format('ALTER TABLE slowwave.events ATTACH PARTITION slowwave.events_%s FOR VALUES FROM (MINVALUE) TO (%s)',
                   v_bound, v_bound);
    EXECUTE format('CREATE TABLE slowwave.events_rest PARTITION OF slowwave.events FOR VALUES FROM (%s) TO (MAXVALUE)',
                   v_bound);
END
$$;
ANALYZE ONLY slowwave.events;
"""

# The first partition becomes the table again, and takes in what the others hold.
DOWN = """
LOCK TABLE slowwave.events IN ACCESS EXCLUSIVE MODE;
DO $$
DECLARE
    v_first text := (SELECT p.name FROM slowwave.event_partitions() AS p ORDER BY p.bound LIMIT 1);
BEGIN
    EXECUTE format('ALTER TABLE slowwave.events DETACH PARTITION slowwave.%I', v_first);
    EXECUTE format('INSERT INTO slowwave.%I SELECT * FROM slowwave.events', v_first);
    DROP TABLE slowwave.events;
    EXECUTE format('ALTER TABLE slowwave.%I RENAME TO events', v_first);
    EXECUTE format('ALTER INDEX slowwave.%I RENAME TO events_pkey', v_first || '_pkey');
    EXECUTE format('ALTER INDEX slowwave.%I RENAME TO events_key_idx', v_first || '_session_id_key_idx');
END
$$;
DROP FUNCTION slowwave.analyze_events();
DROP FUNCTION slowwave.empty_events();
DROP FUNCTION slowwave.extend_events(bigint);
DROP FUNCTION slowwave.event_partitions();
"""


def upgrade() -> None:
    op.execute(UP.replace(":", r"\:"))
    op.create_index(
        "days_final_idx",
        "days",
        ["day", "agent_id", "scope_id"],
        schema="slowwave",
        postgresql_where=sa.text("status = 'final'"),
    )
    op.execute((SQL / "partitions_1.sql").read_text(encoding="utf-8").replace(":", r"\:"))


def downgrade() -> None:
    op.drop_index("days_final_idx", "days", schema="slowwave")
    op.execute(DOWN.replace(":", r"\:"))
