"""Days and their summaries, memory files and the outbox, receipts of what was forgotten."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def _fill() -> None:
    """What was counted before has no summary yet: its first and last events are looked up."""
    op.execute(
        "UPDATE slowwave.session_days d SET agent_id = s.agent_id, scope_id = s.scope_id,"
        " from_seq = e.from_seq, to_seq = e.to_seq"
        " FROM slowwave.sessions s, ("
        "  SELECT session_id, day, min(seq) AS from_seq, max(seq) AS to_seq FROM slowwave.events GROUP BY 1, 2) e"
        " WHERE s.id = d.session_id AND e.session_id = d.session_id AND e.day = d.day"
    )
    for column in ("agent_id", "scope_id", "from_seq", "to_seq"):
        op.alter_column("session_days", column, nullable=False, schema="slowwave")
    op.create_check_constraint(
        op.f("session_days_pending_check"), "session_days", "pending = (total_messages > summarized)", schema="slowwave"
    )
    op.create_check_constraint(
        op.f("session_days_removed_check"), "session_days", "removed <= total_messages", schema="slowwave"
    )


def _kinds(kinds: str) -> None:
    op.drop_constraint(op.f("maintenance_runs_kind_check"), "maintenance_runs", schema="slowwave")
    op.create_check_constraint(
        op.f("maintenance_runs_kind_check"), "maintenance_runs", f"kind IN ({kinds})", schema="slowwave"
    )


def upgrade() -> None:
    op.create_table(
        "erased_names",
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("agent", sa.Text(), nullable=False),
        sa.Column("session", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("erased_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("erasure_id", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "agent", "session", name=op.f("erased_names_pkey")),
        schema="slowwave",
    )
    op.create_table(
        "erasures",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("agent", sa.Text(), nullable=True),
        sa.Column("session", sa.Text(), nullable=True),
        sa.Column("scope", sa.Text(), nullable=True),
        sa.Column("memory_id", sa.Uuid(), nullable=True),
        sa.Column("erased_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("erased_by", sa.Text(), nullable=True),
        sa.Column("counts", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.CheckConstraint("kind IN ('agent', 'session', 'scope', 'memory')", name=op.f("erasures_kind_check")),
        sa.PrimaryKeyConstraint("id", name=op.f("erasures_pkey")),
        schema="slowwave",
    )
    op.create_index("erasures_tenant_idx", "erasures", ["tenant", "id"], unique=False, schema="slowwave")
    op.create_table(
        "memory_backends",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("memory_backends_pkey")),
        schema="slowwave",
    )
    op.create_table(
        "day_summaries",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("agent_id", sa.BigInteger(), nullable=False),
        sa.Column("scope_id", sa.BigInteger(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("final", sa.Boolean(), nullable=False),
        sa.Column("messages", sa.Integer(), nullable=False),
        sa.Column("segments", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("lines", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("made_by", sa.Text(), nullable=False),
        sa.Column("summarizer", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("run_id", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("made_by IN ('rules', 'model', 'import')", name=op.f("day_summaries_made_by_check")),
        sa.ForeignKeyConstraint(["agent_id"], ["slowwave.agents.id"], name=op.f("day_summaries_agent_id_fkey")),
        sa.ForeignKeyConstraint(["run_id"], ["slowwave.maintenance_runs.id"], name=op.f("day_summaries_run_id_fkey")),
        sa.ForeignKeyConstraint(["scope_id"], ["slowwave.scopes.id"], name=op.f("day_summaries_scope_id_fkey")),
        sa.PrimaryKeyConstraint("id", name=op.f("day_summaries_pkey")),
        schema="slowwave",
    )
    op.create_index(
        "day_summaries_run_idx",
        "day_summaries",
        ["run_id"],
        unique=False,
        schema="slowwave",
        postgresql_where=sa.text("run_id IS NOT NULL"),
    )
    op.create_index(
        "day_summaries_scope_idx",
        "day_summaries",
        ["scope_id", sa.literal_column("day DESC"), sa.literal_column("version DESC")],
        unique=False,
        schema="slowwave",
    )
    op.create_index(
        "day_summaries_version_idx",
        "day_summaries",
        ["agent_id", "scope_id", "day", "version"],
        unique=True,
        schema="slowwave",
    )
    op.create_table(
        "days",
        sa.Column("agent_id", sa.BigInteger(), nullable=False),
        sa.Column("scope_id", sa.BigInteger(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("status", sa.Text(), server_default=sa.text("'open'"), nullable=False),
        sa.Column("version", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("last_summarized_total", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("summarized_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finalized_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("attempts", sa.SmallInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("not_before", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.CheckConstraint("status IN ('open', 'settling', 'final')", name=op.f("days_status_check")),
        sa.ForeignKeyConstraint(["agent_id"], ["slowwave.agents.id"], name=op.f("days_agent_id_fkey")),
        sa.ForeignKeyConstraint(["scope_id"], ["slowwave.scopes.id"], name=op.f("days_scope_id_fkey")),
        sa.PrimaryKeyConstraint("agent_id", "scope_id", "day", name=op.f("days_pkey")),
        schema="slowwave",
    )
    op.create_index(
        "days_unsettled_idx",
        "days",
        ["day"],
        unique=False,
        schema="slowwave",
        postgresql_where=sa.text("status <> 'final'"),
    )
    op.create_table(
        "memory_file_lines",
        sa.Column("scope_id", sa.BigInteger(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("memory_id", sa.Uuid(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["scope_id"], ["slowwave.scopes.id"], name=op.f("memory_file_lines_scope_id_fkey")),
        sa.PrimaryKeyConstraint("scope_id", "path", "memory_id", name=op.f("memory_file_lines_pkey")),
        schema="slowwave",
    )
    op.create_index("memory_file_lines_memory_idx", "memory_file_lines", ["memory_id"], unique=False, schema="slowwave")
    op.create_table(
        "memory_files",
        sa.Column("scope_id", sa.BigInteger(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("modified_ns", sa.BigInteger(), nullable=False),
        sa.Column("writing", sa.LargeBinary(), nullable=True),
        sa.Column("held", sa.Text(), nullable=True),
        sa.Column("checked_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["scope_id"], ["slowwave.scopes.id"], name=op.f("memory_files_scope_id_fkey")),
        sa.PrimaryKeyConstraint("scope_id", "path", name=op.f("memory_files_pkey")),
        schema="slowwave",
    )
    op.create_table(
        "outbox",
        sa.Column("memory_id", sa.Uuid(), nullable=False),
        sa.Column("backend", sa.Text(), nullable=False),
        sa.Column("scope_id", sa.BigInteger(), nullable=False),
        sa.Column("changes", sa.Integer(), server_default=sa.text("1"), nullable=False),
        sa.Column("delivered", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("attempts", sa.SmallInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("not_before", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.Column("queued_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("delivered_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("delivered <= changes", name=op.f("outbox_delivered_check")),
        sa.ForeignKeyConstraint(["scope_id"], ["slowwave.scopes.id"], name=op.f("outbox_scope_id_fkey")),
        sa.PrimaryKeyConstraint("memory_id", "backend", name=op.f("outbox_pkey")),
        schema="slowwave",
    )
    op.create_index("outbox_scope_idx", "outbox", ["scope_id"], unique=False, schema="slowwave")
    op.create_index(
        "outbox_waiting_idx",
        "outbox",
        ["backend", "scope_id"],
        unique=False,
        schema="slowwave",
        postgresql_where=sa.text("delivered < changes"),
    )
    op.create_table(
        "day_segments",
        sa.Column("agent_id", sa.BigInteger(), nullable=False),
        sa.Column("scope_id", sa.BigInteger(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("session_id", sa.BigInteger(), nullable=False),
        sa.Column("from_seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("to_seq", sa.BigInteger(), nullable=False),
        sa.Column("messages", sa.Integer(), nullable=False),
        sa.Column("lines", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("summarizer", sa.Text(), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["agent_id"], ["slowwave.agents.id"], name=op.f("day_segments_agent_id_fkey")),
        sa.ForeignKeyConstraint(["scope_id"], ["slowwave.scopes.id"], name=op.f("day_segments_scope_id_fkey")),
        sa.ForeignKeyConstraint(["session_id"], ["slowwave.sessions.id"], name=op.f("day_segments_session_id_fkey")),
        sa.PrimaryKeyConstraint(
            "agent_id", "scope_id", "day", "session_id", "from_seq", name=op.f("day_segments_pkey")
        ),
        schema="slowwave",
    )
    op.create_index("day_segments_session_idx", "day_segments", ["session_id"], unique=False, schema="slowwave")
    op.create_table(
        "memory_imports",
        sa.Column("memory_id", sa.Uuid(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("file", sa.Text(), nullable=False),
        sa.Column("sources", postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'[]'"), nullable=False),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("importance", sa.Float(), nullable=False),
        sa.Column("trust", sa.Text(), nullable=False),
        sa.Column("holds_from", sa.DateTime(timezone=True), nullable=False),
        sa.Column("reaffirmed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("via", sa.Uuid(), nullable=True),
        sa.Column("run_id", sa.BigInteger(), nullable=True),
        sa.CheckConstraint(
            "trust IN ('hand', 'user', 'assistant', 'task', 'import')", name=op.f("memory_imports_trust_check")
        ),
        sa.ForeignKeyConstraint(["memory_id"], ["slowwave.memories.id"], name=op.f("memory_imports_memory_id_fkey")),
        sa.ForeignKeyConstraint(["run_id"], ["slowwave.maintenance_runs.id"], name=op.f("memory_imports_run_id_fkey")),
        sa.PrimaryKeyConstraint("memory_id", "digest", name=op.f("memory_imports_pkey")),
        schema="slowwave",
    )
    op.create_index("memory_imports_run_idx", "memory_imports", ["run_id"], unique=False, schema="slowwave")
    op.create_index(
        "memory_imports_via_idx",
        "memory_imports",
        ["via"],
        unique=False,
        schema="slowwave",
        postgresql_where=sa.text("via IS NOT NULL"),
    )
    op.add_column("session_days", sa.Column("agent_id", sa.BigInteger(), nullable=True), schema="slowwave")
    op.add_column("session_days", sa.Column("scope_id", sa.BigInteger(), nullable=True), schema="slowwave")
    op.add_column("session_days", sa.Column("from_seq", sa.BigInteger(), nullable=True), schema="slowwave")
    op.add_column("session_days", sa.Column("to_seq", sa.BigInteger(), nullable=True), schema="slowwave")
    op.add_column(
        "session_days",
        sa.Column("summarized", sa.Integer(), server_default=sa.text("0"), nullable=False),
        schema="slowwave",
    )
    op.add_column(
        "session_days",
        sa.Column("removed", sa.Integer(), server_default=sa.text("0"), nullable=False),
        schema="slowwave",
    )
    op.add_column(
        "session_days",
        sa.Column("pending", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        schema="slowwave",
    )
    _fill()
    op.create_index("session_days_agent_idx", "session_days", ["agent_id", "day"], unique=False, schema="slowwave")
    op.create_index(
        "session_days_pending_idx",
        "session_days",
        ["scope_id", "day", "agent_id"],
        unique=False,
        schema="slowwave",
        postgresql_where=sa.text("pending"),
    )
    op.create_foreign_key(
        op.f("session_days_agent_id_fkey"),
        "session_days",
        "agents",
        ["agent_id"],
        ["id"],
        source_schema="slowwave",
        referent_schema="slowwave",
    )
    op.create_foreign_key(
        op.f("session_days_scope_id_fkey"),
        "session_days",
        "scopes",
        ["scope_id"],
        ["id"],
        source_schema="slowwave",
        referent_schema="slowwave",
    )
    op.add_column(
        "sessions",
        sa.Column("logged_until", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        schema="slowwave",
    )
    op.execute("ALTER TABLE slowwave.session_days SET (fillfactor = 70)")
    _kinds("'working', 'light', 'deep', 'review', 'undo', 'import', 'files', 'curation', 'other'")


def downgrade() -> None:
    op.execute("UPDATE slowwave.maintenance_runs SET kind = 'other' WHERE kind IN ('import', 'files', 'curation')")
    _kinds("'working', 'light', 'deep', 'review', 'undo', 'other'")
    # What was removed is not counted here, and a day of which all was removed has no row.
    op.execute(
        "UPDATE slowwave.session_days SET total_messages = total_messages - removed, summarized = 0, removed = 0,"
        " pending = total_messages > removed WHERE removed > 0"
    )
    op.execute("DELETE FROM slowwave.session_days WHERE total_messages = 0")
    op.execute("ALTER TABLE slowwave.session_days RESET (fillfactor)")
    op.drop_column("sessions", "logged_until", schema="slowwave")
    op.drop_constraint(op.f("session_days_scope_id_fkey"), "session_days", schema="slowwave", type_="foreignkey")
    op.drop_constraint(op.f("session_days_agent_id_fkey"), "session_days", schema="slowwave", type_="foreignkey")
    op.drop_index(
        "session_days_pending_idx", table_name="session_days", schema="slowwave", postgresql_where=sa.text("pending")
    )
    op.drop_index("session_days_agent_idx", table_name="session_days", schema="slowwave")
    op.drop_column("session_days", "pending", schema="slowwave")
    op.drop_column("session_days", "removed", schema="slowwave")
    op.drop_column("session_days", "summarized", schema="slowwave")
    op.drop_column("session_days", "to_seq", schema="slowwave")
    op.drop_column("session_days", "from_seq", schema="slowwave")
    op.drop_column("session_days", "scope_id", schema="slowwave")
    op.drop_column("session_days", "agent_id", schema="slowwave")
    op.drop_index(
        "memory_imports_via_idx",
        table_name="memory_imports",
        schema="slowwave",
        postgresql_where=sa.text("via IS NOT NULL"),
    )
    op.drop_index("memory_imports_run_idx", table_name="memory_imports", schema="slowwave")
    op.drop_table("memory_imports", schema="slowwave")
    op.drop_index("day_segments_session_idx", table_name="day_segments", schema="slowwave")
    op.drop_table("day_segments", schema="slowwave")
    op.drop_index(
        "outbox_waiting_idx", table_name="outbox", schema="slowwave", postgresql_where=sa.text("delivered < changes")
    )
    op.drop_index("outbox_scope_idx", table_name="outbox", schema="slowwave")
    op.drop_table("outbox", schema="slowwave")
    op.drop_table("memory_files", schema="slowwave")
    op.drop_index("memory_file_lines_memory_idx", table_name="memory_file_lines", schema="slowwave")
    op.drop_table("memory_file_lines", schema="slowwave")
    op.drop_index(
        "days_unsettled_idx", table_name="days", schema="slowwave", postgresql_where=sa.text("status <> 'final'")
    )
    op.drop_table("days", schema="slowwave")
    op.drop_index("day_summaries_version_idx", table_name="day_summaries", schema="slowwave")
    op.drop_index(
        "day_summaries_run_idx",
        table_name="day_summaries",
        schema="slowwave",
        postgresql_where=sa.text("run_id IS NOT NULL"),
    )
    op.drop_index("day_summaries_scope_idx", table_name="day_summaries", schema="slowwave")
    op.drop_table("day_summaries", schema="slowwave")
    op.drop_table("memory_backends", schema="slowwave")
    op.drop_index("erasures_tenant_idx", table_name="erasures", schema="slowwave")
    op.drop_table("erasures", schema="slowwave")
    op.drop_table("erased_names", schema="slowwave")
