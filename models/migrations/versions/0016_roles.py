"""Logins that are not the owner: whose tenant each belongs to, policies on rows, and entrances that ask."""

from pathlib import Path

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

SQL = Path(__file__).parent.parent / "sql"
FILES = (
    "roles_1.sql",
    "library_1.sql",
    "capture_4.sql",
    "boost_2.sql",
    "remember_1.sql",
    "brief_2.sql",
    "find_3.sql",
    "find_hybrid_2.sql",
)
GROUPS = ("slowwave_producer", "slowwave_console", "slowwave_worker")


def _run(text: str) -> None:
    op.execute(text.replace(":", r"\:"))


def _before(file: str, *names: str) -> None:
    """Functions as they were, each one of its file."""
    text = (SQL / file).read_text(encoding="utf-8")
    for name in names:
        start = text.index(f"FUNCTION slowwave.{name}(")
        body = text[start : text.index("$$;", start) + len("$$;")]
        _run(f"CREATE OR REPLACE {body}")


def upgrade() -> None:
    op.create_table(
        "logins",
        sa.Column("login", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("tenant", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("role IN ('producer', 'console', 'worker')", name=op.f("logins_role_check")),
        sa.CheckConstraint("(role = 'worker') = (tenant IS NULL)", name=op.f("logins_tenant_check")),
        sa.PrimaryKeyConstraint("login", name=op.f("logins_pkey")),
        schema="slowwave",
    )
    for name in FILES:
        _run((SQL / name).read_text(encoding="utf-8"))


def downgrade() -> None:
    # Without policies nothing would keep tenants apart: whoever is not the owner loses all first.
    for group in GROUPS:
        _run(f"""
            DO $$ BEGIN
                IF to_regrole('{group}') IS NOT NULL THEN
                    REVOKE ALL ON ALL TABLES IN SCHEMA slowwave FROM {group};
                    REVOKE ALL ON ALL FUNCTIONS IN SCHEMA slowwave FROM {group};
                    REVOKE ALL ON SCHEMA slowwave FROM {group};
                END IF;
            END $$""")
    _run("""
        DO $$ DECLARE v_name text; v_policy text; BEGIN
            FOR v_name, v_policy IN SELECT tablename, policyname FROM pg_policies WHERE schemaname = 'slowwave' LOOP
                EXECUTE format('DROP POLICY %I ON slowwave.%I', v_policy, v_name);
            END LOOP;
            FOR v_name IN SELECT relname FROM pg_class
                WHERE relnamespace = 'slowwave'::regnamespace AND relrowsecurity
            LOOP
                EXECUTE format('ALTER TABLE slowwave.%I DISABLE ROW LEVEL SECURITY', v_name);
            END LOOP;
        END $$""")
    _before("capture_3.sql", "capture_session")
    _before("capture_2.sql", "capture")
    _before("boost_1.sql", "boost")
    _before("working_1.sql", "remember")
    _before("forget_1.sql", "remember_waited")
    _before("brief_1.sql", "brief")
    _before("find_2.sql", "find")
    _before("find_hybrid_1.sql", "find_hybrid")
    op.drop_column("maintenance_runs", "tenant", schema="slowwave")
    for function in ("library", "admit_scopes", "admit", "own_tenant"):
        op.execute(f"DROP FUNCTION slowwave.{function}")
    op.drop_table("logins", schema="slowwave")
