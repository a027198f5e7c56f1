"""People who may use the console, and their logins that last."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None
serves = "0021"

_NOW = sa.text("now()")


def upgrade() -> None:
    op.create_table(
        "console_users",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("password_hash", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("tenants", postgresql.ARRAY(sa.Text()), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=_NOW, nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), server_default=_NOW, nullable=False),
        sa.CheckConstraint("role IN ('viewer', 'curator', 'operator')", name=op.f("console_users_role_check")),
        sa.CheckConstraint("cardinality(tenants) > 0", name=op.f("console_users_tenants_check")),
        sa.PrimaryKeyConstraint("name", name=op.f("console_users_pkey")),
        schema="slowwave",
    )
    op.create_table(
        "console_sessions",
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("user_name", sa.Text(), nullable=False),
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=_NOW, nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_name"],
            ["slowwave.console_users.name"],
            name=op.f("console_sessions_user_name_fkey"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("digest", name=op.f("console_sessions_pkey")),
        schema="slowwave",
    )
    op.create_index("console_sessions_user_idx", "console_sessions", ["user_name"], schema="slowwave")
    op.create_index("console_sessions_expires_idx", "console_sessions", ["expires_at"], schema="slowwave")
    # A console's login sees the people of its tenant; those of every tenant are of no single one. Nobody but the owner
    # writes down who may come.
    op.execute("ALTER TABLE slowwave.console_users ENABLE ROW LEVEL SECURITY")
    op.execute("""
        CREATE POLICY own_tenant ON slowwave.console_users FOR SELECT
        USING ((SELECT slowwave.own_tenant()) = ANY (tenants))""")
    op.execute("ALTER TABLE slowwave.console_sessions ENABLE ROW LEVEL SECURITY")
    op.execute("""
        CREATE POLICY own_tenant ON slowwave.console_sessions USING (
            tenant = (SELECT slowwave.own_tenant())
            AND EXISTS (SELECT FROM slowwave.console_users AS above WHERE above.name = console_sessions.user_name))""")


def downgrade() -> None:
    op.drop_table("console_sessions", schema="slowwave")
    op.drop_table("console_users", schema="slowwave")
