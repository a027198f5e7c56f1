"""The tables of the spine: agents, sessions, events, flushes, memories, search."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "agents",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("time_zone", sa.Text(), server_default=sa.text("'UTC'"), nullable=False),
        sa.Column("cutoff_hour", sa.SmallInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("epoch", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("cutoff_hour BETWEEN 0 AND 23", name=op.f("agents_cutoff_hour_check")),
        sa.PrimaryKeyConstraint("id", name=op.f("agents_pkey")),
        sa.UniqueConstraint("tenant", "name", name=op.f("agents_tenant_name_key")),
        schema="slowwave",
    )
    op.create_table(
        "dead_letters",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("tenant", sa.Text(), nullable=True),
        sa.Column("task", sa.Text(), nullable=False),
        sa.Column("payload", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), server_default=sa.text("'open'"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("state IN ('open', 'redriven', 'dismissed')", name=op.f("dead_letters_state_check")),
        sa.PrimaryKeyConstraint("id", name=op.f("dead_letters_pkey")),
        schema="slowwave",
    )
    op.create_index(
        "dead_letters_open_idx",
        "dead_letters",
        ["id"],
        unique=False,
        schema="slowwave",
        postgresql_where=sa.text("state = 'open'"),
    )
    op.create_table(
        "scopes",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("counted_documents", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("counted_mean_length", sa.Float(), server_default=sa.text("0"), nullable=False),
        sa.Column("counted_events", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("counted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("kind IN ('agent', 'room', 'team')", name=op.f("scopes_kind_check")),
        sa.PrimaryKeyConstraint("id", name=op.f("scopes_pkey")),
        sa.UniqueConstraint("tenant", "kind", "name", name=op.f("scopes_tenant_kind_name_key")),
        schema="slowwave",
    )
    op.create_table(
        "common_terms",
        sa.Column("scope_id", sa.BigInteger(), nullable=False),
        sa.Column("term", sa.Text(), nullable=False),
        sa.Column("documents", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["scope_id"], ["slowwave.scopes.id"], name=op.f("common_terms_scope_id_fkey")),
        sa.PrimaryKeyConstraint("scope_id", "term", name=op.f("common_terms_pkey")),
        schema="slowwave",
    )
    op.create_table(
        "memories",
        sa.Column("id", sa.Uuid(), server_default=sa.text("uuidv7()"), nullable=False),
        sa.Column("scope_id", sa.BigInteger(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("content_hash", sa.LargeBinary(), nullable=False),
        sa.Column("status", sa.Text(), server_default=sa.text("'inbox'"), nullable=False),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("importance", sa.Float(), nullable=False),
        sa.Column("trust", sa.Text(), nullable=False),
        sa.Column("entities", postgresql.ARRAY(sa.Text()), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("valid_from", sa.DateTime(timezone=True), nullable=False),
        sa.Column("valid_to", sa.DateTime(timezone=True), nullable=True),
        sa.Column("recorded_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("superseded_by", sa.Uuid(), nullable=True),
        sa.Column("archive_reason", sa.Text(), nullable=True),
        sa.Column("search", postgresql.TSVECTOR(), nullable=False),
        sa.CheckConstraint(
            "status IN ('inbox', 'episode', 'active', 'archived', 'review')", name=op.f("memories_status_check")
        ),
        sa.CheckConstraint(
            "trust IN ('hand', 'user', 'assistant', 'task', 'import')", name=op.f("memories_trust_check")
        ),
        sa.CheckConstraint(
            "type IN ('fact', 'preference', 'decision', 'task', 'event', 'summary')", name=op.f("memories_type_check")
        ),
        sa.CheckConstraint(
            "confidence BETWEEN 0 AND 1 AND importance BETWEEN 0 AND 1", name=op.f("memories_shares_check")
        ),
        sa.ForeignKeyConstraint(["scope_id"], ["slowwave.scopes.id"], name=op.f("memories_scope_id_fkey")),
        sa.ForeignKeyConstraint(["superseded_by"], ["slowwave.memories.id"], name=op.f("memories_superseded_by_fkey")),
        sa.PrimaryKeyConstraint("id", name=op.f("memories_pkey")),
        schema="slowwave",
    )
    op.create_index(
        "memories_important_idx",
        "memories",
        ["scope_id", sa.literal_column("importance DESC"), sa.literal_column("valid_from DESC")],
        unique=False,
        schema="slowwave",
        postgresql_where=sa.text("status IN ('inbox', 'episode', 'active') AND valid_to IS NULL"),
    )
    op.create_index(
        "memories_live_content_idx",
        "memories",
        ["scope_id", "type", "content_hash"],
        unique=True,
        schema="slowwave",
        postgresql_where=sa.text("status <> 'archived'"),
    )
    op.create_index(
        "memories_recent_idx",
        "memories",
        ["scope_id", sa.literal_column("valid_from DESC")],
        unique=False,
        schema="slowwave",
        postgresql_where=sa.text("status <> 'archived'"),
    )
    op.create_index(
        "memories_search_idx",
        "memories",
        ["search"],
        unique=False,
        schema="slowwave",
        postgresql_using="gin",
        postgresql_with={"gin_pending_list_limit": 128},
    )
    op.create_table(
        "sessions",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("agent_id", sa.BigInteger(), nullable=False),
        sa.Column("scope_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("room_id", sa.Text(), nullable=True),
        sa.Column("thread_id", sa.Text(), nullable=True),
        sa.Column("source", sa.Text(), server_default=sa.text("'events'"), nullable=False),
        sa.Column("last_seq", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("last_turn", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("processed_until", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("processed_turn", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("invalidated_at", sa.BigInteger(), nullable=True),
        sa.Column("invalidated_by", sa.Text(), nullable=True),
        sa.Column("dirty_since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("flush_due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("boosted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("attempts", sa.SmallInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("failures", sa.SmallInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("window_limit", sa.SmallInteger(), nullable=True),
        sa.Column("not_before", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("processed_until BETWEEN 0 AND last_seq", name=op.f("sessions_watermark_check")),
        sa.ForeignKeyConstraint(["agent_id"], ["slowwave.agents.id"], name=op.f("sessions_agent_id_fkey")),
        sa.ForeignKeyConstraint(["scope_id"], ["slowwave.scopes.id"], name=op.f("sessions_scope_id_fkey")),
        sa.PrimaryKeyConstraint("id", name=op.f("sessions_pkey")),
        sa.UniqueConstraint("agent_id", "name", name=op.f("sessions_agent_id_name_key")),
        schema="slowwave",
        postgresql_with={"fillfactor": 70},
    )
    op.create_index(
        "sessions_agent_dirty_idx",
        "sessions",
        ["agent_id", "dirty_since"],
        unique=False,
        schema="slowwave",
        postgresql_where=sa.text("dirty_since IS NOT NULL"),
    )
    op.create_index(
        "sessions_due_idx",
        "sessions",
        ["flush_due_at"],
        unique=False,
        schema="slowwave",
        postgresql_include=["agent_id"],
        postgresql_where=sa.text("flush_due_at IS NOT NULL"),
    )
    op.create_index(
        "sessions_scope_dirty_idx",
        "sessions",
        ["scope_id"],
        unique=False,
        schema="slowwave",
        postgresql_where=sa.text("dirty_since IS NOT NULL"),
    )
    op.create_table(
        "events",
        sa.Column("session_id", sa.BigInteger(), nullable=False),
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=True),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("happened_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("recorded_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("key", sa.Text(), nullable=True),
        sa.Column("metadata", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("quarantined_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("kind IN ('user', 'assistant', 'task')", name=op.f("events_kind_check")),
        sa.PrimaryKeyConstraint("session_id", "seq", name=op.f("events_pkey")),
        schema="slowwave",
    )
    op.create_index(
        "events_key_idx",
        "events",
        ["session_id", "key"],
        unique=True,
        schema="slowwave",
        postgresql_where=sa.text("key IS NOT NULL"),
    )
    op.create_table(
        "flushes",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("session_id", sa.BigInteger(), nullable=False),
        sa.Column("from_seq", sa.BigInteger(), nullable=False),
        sa.Column("to_seq", sa.BigInteger(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("extractor", sa.Text(), nullable=False),
        sa.Column("extractor_version", sa.Text(), nullable=False),
        sa.Column("attempt", sa.SmallInteger(), nullable=False),
        sa.Column("candidates", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("stored", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("repeated", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("noise", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("redactions", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("oldest_recorded_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("committed_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("outcome IN ('stored', 'no_reply', 'quarantined')", name=op.f("flushes_outcome_check")),
        sa.CheckConstraint("from_seq <= to_seq", name=op.f("flushes_window_check")),
        sa.ForeignKeyConstraint(["session_id"], ["slowwave.sessions.id"], name=op.f("flushes_session_id_fkey")),
        sa.PrimaryKeyConstraint("id", name=op.f("flushes_pkey")),
        sa.UniqueConstraint("session_id", "from_seq", name=op.f("flushes_session_id_from_seq_key")),
        schema="slowwave",
    )
    op.create_index("flushes_committed_idx", "flushes", ["committed_at"], unique=False, schema="slowwave")
    op.create_index(
        "flushes_quarantined_idx",
        "flushes",
        ["id"],
        unique=False,
        schema="slowwave",
        postgresql_where=sa.text("outcome = 'quarantined'"),
    )
    op.create_table(
        "memory_sources",
        sa.Column("memory_id", sa.Uuid(), nullable=False),
        sa.Column("session_id", sa.BigInteger(), nullable=False),
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.ForeignKeyConstraint(["memory_id"], ["slowwave.memories.id"], name=op.f("memory_sources_memory_id_fkey")),
        sa.ForeignKeyConstraint(["session_id"], ["slowwave.sessions.id"], name=op.f("memory_sources_session_id_fkey")),
        sa.PrimaryKeyConstraint("memory_id", "session_id", "seq", name=op.f("memory_sources_pkey")),
        schema="slowwave",
    )
    op.create_index(
        "memory_sources_event_idx", "memory_sources", ["session_id", "seq"], unique=False, schema="slowwave"
    )
    op.create_table(
        "passages",
        sa.Column("session_id", sa.BigInteger(), nullable=False),
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("scope_id", sa.BigInteger(), nullable=False),
        sa.Column("search", postgresql.TSVECTOR(), nullable=False),
        sa.Column("redacted", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["scope_id"], ["slowwave.scopes.id"], name=op.f("passages_scope_id_fkey")),
        sa.ForeignKeyConstraint(["session_id"], ["slowwave.sessions.id"], name=op.f("passages_session_id_fkey")),
        sa.PrimaryKeyConstraint("session_id", "seq", name=op.f("passages_pkey")),
        schema="slowwave",
    )
    op.create_index("passages_scope_idx", "passages", ["scope_id"], unique=False, schema="slowwave")
    op.create_index(
        "passages_search_idx",
        "passages",
        ["search"],
        unique=False,
        schema="slowwave",
        postgresql_using="gin",
        postgresql_with={"gin_pending_list_limit": 128},
    )
    op.create_table(
        "session_days",
        sa.Column("session_id", sa.BigInteger(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("total_messages", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["session_id"], ["slowwave.sessions.id"], name=op.f("session_days_session_id_fkey")),
        sa.PrimaryKeyConstraint("session_id", "day", name=op.f("session_days_pkey")),
        schema="slowwave",
    )
    op.create_table(
        "memory_changes",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("memory_id", sa.Uuid(), nullable=False),
        sa.Column("flush_id", sa.BigInteger(), nullable=True),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("before", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("after", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["flush_id"], ["slowwave.flushes.id"], name=op.f("memory_changes_flush_id_fkey")),
        sa.ForeignKeyConstraint(["memory_id"], ["slowwave.memories.id"], name=op.f("memory_changes_memory_id_fkey")),
        sa.PrimaryKeyConstraint("id", name=op.f("memory_changes_pkey")),
        schema="slowwave",
    )
    op.create_index("memory_changes_memory_idx", "memory_changes", ["memory_id", "id"], unique=False, schema="slowwave")


def downgrade() -> None:
    op.drop_index("memory_changes_memory_idx", table_name="memory_changes", schema="slowwave")
    op.drop_table("memory_changes", schema="slowwave")
    op.drop_table("session_days", schema="slowwave")
    op.drop_index("passages_search_idx", table_name="passages", schema="slowwave", postgresql_using="gin")
    op.drop_index("passages_scope_idx", table_name="passages", schema="slowwave")
    op.drop_table("passages", schema="slowwave")
    op.drop_index("memory_sources_event_idx", table_name="memory_sources", schema="slowwave")
    op.drop_table("memory_sources", schema="slowwave")
    op.drop_index(
        "flushes_quarantined_idx",
        table_name="flushes",
        schema="slowwave",
        postgresql_where=sa.text("outcome = 'quarantined'"),
    )
    op.drop_index("flushes_committed_idx", table_name="flushes", schema="slowwave")
    op.drop_table("flushes", schema="slowwave")
    op.drop_index("events_key_idx", table_name="events", schema="slowwave", postgresql_where=sa.text("key IS NOT NULL"))
    op.drop_table("events", schema="slowwave")
    op.drop_index(
        "sessions_scope_dirty_idx",
        table_name="sessions",
        schema="slowwave",
        postgresql_where=sa.text("dirty_since IS NOT NULL"),
    )
    op.drop_index(
        "sessions_due_idx",
        table_name="sessions",
        schema="slowwave",
        postgresql_include=["agent_id"],
        postgresql_where=sa.text("flush_due_at IS NOT NULL"),
    )
    op.drop_index(
        "sessions_agent_dirty_idx",
        table_name="sessions",
        schema="slowwave",
        postgresql_where=sa.text("dirty_since IS NOT NULL"),
    )
    op.drop_table("sessions", schema="slowwave")
    op.drop_index(
        "memories_important_idx",
        table_name="memories",
        schema="slowwave",
        postgresql_where=sa.text("status IN ('inbox', 'episode', 'active') AND valid_to IS NULL"),
    )
    op.drop_index("memories_search_idx", table_name="memories", schema="slowwave", postgresql_using="gin")
    op.drop_index(
        "memories_recent_idx",
        table_name="memories",
        schema="slowwave",
        postgresql_where=sa.text("status <> 'archived'"),
    )
    op.drop_index(
        "memories_live_content_idx",
        table_name="memories",
        schema="slowwave",
        postgresql_where=sa.text("status <> 'archived'"),
    )
    op.drop_table("memories", schema="slowwave")
    op.drop_table("common_terms", schema="slowwave")
    op.drop_table("scopes", schema="slowwave")
    op.drop_index(
        "dead_letters_open_idx",
        table_name="dead_letters",
        schema="slowwave",
        postgresql_where=sa.text("state = 'open'"),
    )
    op.drop_table("dead_letters", schema="slowwave")
    op.drop_table("agents", schema="slowwave")
