"""Consolidation: links, triples, conflicts, reviews, working memory; maintenance jobs and their runs."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def _fill() -> None:
    """What was stored before says of each source what the memory says as a whole."""
    op.execute("UPDATE slowwave.memories SET reaffirmed_at = valid_from")
    op.execute(
        "UPDATE slowwave.memory_sources s"
        " SET confidence = m.confidence, importance = m.importance, trust = m.trust, holds_from = m.valid_from"
        " FROM slowwave.memories m WHERE m.id = s.memory_id"
    )


def upgrade() -> None:
    op.create_table(
        "maintenance_jobs",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("job_type", sa.Text(), nullable=False),
        sa.Column("cadence", sa.Text(), nullable=False),
        sa.Column("interval_minutes", sa.Integer(), nullable=True),
        sa.Column("weekday", sa.Integer(), nullable=True),
        sa.Column("window_start", sa.Time(), nullable=True),
        sa.Column("window_end", sa.Time(), nullable=True),
        sa.Column("time_zone", sa.Text(), server_default=sa.text("'UTC'"), nullable=False),
        sa.Column("next_due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_run_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_status", sa.Text(), nullable=True),
        sa.Column("last_summary", sa.Text(), nullable=True),
        sa.Column("enabled", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("metadata", postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint(
            "(cadence = 'interval') = (interval_minutes IS NOT NULL)", name=op.f("maintenance_jobs_interval_check")
        ),
        sa.CheckConstraint("cadence IN ('daily', 'weekly', 'interval')", name=op.f("maintenance_jobs_cadence_check")),
        sa.CheckConstraint("interval_minutes > 0", name=op.f("maintenance_jobs_minutes_check")),
        sa.CheckConstraint("weekday BETWEEN 0 AND 6", name=op.f("maintenance_jobs_weekday_check")),
        sa.PrimaryKeyConstraint("id", name=op.f("maintenance_jobs_pkey")),
        schema="slowwave",
    )
    op.create_index(
        "maintenance_jobs_due_idx",
        "maintenance_jobs",
        ["next_due_at"],
        unique=False,
        schema="slowwave",
        postgresql_where=sa.text("enabled"),
    )
    op.create_table(
        "maintenance_runs",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("job_id", sa.Text(), nullable=True),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("scope_id", sa.BigInteger(), nullable=True),
        sa.Column("status", sa.Text(), server_default=sa.text("'running'"), nullable=False),
        sa.Column("lease", sa.Uuid(), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("completed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("summary", sa.Text(), nullable=True),
        sa.Column("stats", postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("started_by", sa.Text(), nullable=True),
        sa.Column("undoes", sa.BigInteger(), nullable=True),
        sa.Column("undone_by", sa.BigInteger(), nullable=True),
        sa.CheckConstraint(
            "kind IN ('working', 'light', 'deep', 'review', 'undo', 'other')", name=op.f("maintenance_runs_kind_check")
        ),
        sa.CheckConstraint(
            "status IN ('running', 'completed', 'failed', 'stopped', 'undone')",
            name=op.f("maintenance_runs_status_check"),
        ),
        sa.ForeignKeyConstraint(
            ["job_id"], ["slowwave.maintenance_jobs.id"], name=op.f("maintenance_runs_job_id_fkey")
        ),
        sa.ForeignKeyConstraint(["scope_id"], ["slowwave.scopes.id"], name=op.f("maintenance_runs_scope_id_fkey")),
        sa.ForeignKeyConstraint(
            ["undoes"], ["slowwave.maintenance_runs.id"], name=op.f("maintenance_runs_undoes_fkey")
        ),
        sa.ForeignKeyConstraint(
            ["undone_by"], ["slowwave.maintenance_runs.id"], name=op.f("maintenance_runs_undone_by_fkey")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("maintenance_runs_pkey")),
        schema="slowwave",
    )
    op.create_index("maintenance_runs_job_idx", "maintenance_runs", ["job_id", "id"], unique=False, schema="slowwave")
    op.create_index(
        "maintenance_runs_running_idx",
        "maintenance_runs",
        ["job_id"],
        unique=True,
        schema="slowwave",
        postgresql_where=sa.text("status = 'running' AND job_id IS NOT NULL"),
    )
    op.create_index(
        "maintenance_runs_scope_idx", "maintenance_runs", ["scope_id", "id"], unique=False, schema="slowwave"
    )
    op.create_table(
        "memory_blocks",
        sa.Column("scope_id", sa.BigInteger(), nullable=False),
        sa.Column("key", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("memory_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(["memory_id"], ["slowwave.memories.id"], name=op.f("memory_blocks_memory_id_fkey")),
        sa.ForeignKeyConstraint(["scope_id"], ["slowwave.scopes.id"], name=op.f("memory_blocks_scope_id_fkey")),
        sa.PrimaryKeyConstraint("scope_id", "key", "memory_id", name=op.f("memory_blocks_pkey")),
        schema="slowwave",
    )
    op.create_index("memory_blocks_memory_idx", "memory_blocks", ["memory_id"], unique=False, schema="slowwave")
    op.create_table(
        "memory_conflicts",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("scope_id", sa.BigInteger(), nullable=False),
        sa.Column("memory_id", sa.Uuid(), nullable=False),
        sa.Column("conflicting_memory_id", sa.Uuid(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("evidence", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("status", sa.Text(), server_default=sa.text("'open'"), nullable=False),
        sa.Column("resolution", sa.Text(), nullable=True),
        sa.Column("run_id", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("decided_by", sa.Text(), nullable=True),
        sa.CheckConstraint("status IN ('open', 'resolved', 'dismissed')", name=op.f("memory_conflicts_status_check")),
        sa.CheckConstraint("memory_id < conflicting_memory_id", name=op.f("memory_conflicts_order_check")),
        sa.ForeignKeyConstraint(
            ["conflicting_memory_id"],
            ["slowwave.memories.id"],
            name=op.f("memory_conflicts_conflicting_memory_id_fkey"),
        ),
        sa.ForeignKeyConstraint(["memory_id"], ["slowwave.memories.id"], name=op.f("memory_conflicts_memory_id_fkey")),
        sa.ForeignKeyConstraint(
            ["run_id"], ["slowwave.maintenance_runs.id"], name=op.f("memory_conflicts_run_id_fkey")
        ),
        sa.ForeignKeyConstraint(["scope_id"], ["slowwave.scopes.id"], name=op.f("memory_conflicts_scope_id_fkey")),
        sa.PrimaryKeyConstraint("id", name=op.f("memory_conflicts_pkey")),
        schema="slowwave",
    )
    op.create_index(
        "memory_conflicts_open_idx",
        "memory_conflicts",
        ["scope_id", "id"],
        unique=False,
        schema="slowwave",
        postgresql_where=sa.text("status = 'open'"),
    )
    op.create_index(
        "memory_conflicts_other_idx", "memory_conflicts", ["conflicting_memory_id"], unique=False, schema="slowwave"
    )
    op.create_index(
        "memory_conflicts_pair_idx",
        "memory_conflicts",
        ["memory_id", "conflicting_memory_id"],
        unique=True,
        schema="slowwave",
    )
    op.create_index("memory_conflicts_run_idx", "memory_conflicts", ["run_id"], unique=False, schema="slowwave")
    op.create_table(
        "memory_links",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("source_id", sa.Uuid(), nullable=False),
        sa.Column("target_id", sa.Uuid(), nullable=False),
        sa.Column("predicate", sa.Text(), nullable=False),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("run_id", sa.BigInteger(), nullable=True),
        sa.Column("ended_by", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint(
            "predicate IN ('duplicate_of', 'merged_into', 'supersedes', 'contradicts', 'related_to')",
            name=op.f("memory_links_predicate_check"),
        ),
        sa.CheckConstraint("confidence BETWEEN 0 AND 1", name=op.f("memory_links_share_check")),
        sa.CheckConstraint("source_id <> target_id", name=op.f("memory_links_never_to_itself_check")),
        sa.ForeignKeyConstraint(
            ["ended_by"], ["slowwave.maintenance_runs.id"], name=op.f("memory_links_ended_by_fkey")
        ),
        sa.ForeignKeyConstraint(["run_id"], ["slowwave.maintenance_runs.id"], name=op.f("memory_links_run_id_fkey")),
        sa.ForeignKeyConstraint(["source_id"], ["slowwave.memories.id"], name=op.f("memory_links_source_id_fkey")),
        sa.ForeignKeyConstraint(["target_id"], ["slowwave.memories.id"], name=op.f("memory_links_target_id_fkey")),
        sa.PrimaryKeyConstraint("id", name=op.f("memory_links_pkey")),
        schema="slowwave",
    )
    op.create_index(
        "memory_links_pair_idx",
        "memory_links",
        ["source_id", "target_id", "predicate"],
        unique=True,
        schema="slowwave",
        postgresql_where=sa.text("ended_by IS NULL"),
    )
    op.create_index("memory_links_run_idx", "memory_links", ["run_id"], unique=False, schema="slowwave")
    op.create_index("memory_links_target_idx", "memory_links", ["target_id"], unique=False, schema="slowwave")
    op.create_table(
        "triples",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("scope_id", sa.BigInteger(), nullable=False),
        sa.Column("memory_id", sa.Uuid(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("subject_type", sa.Text(), nullable=False),
        sa.Column("predicate", sa.Text(), nullable=False),
        sa.Column("object", sa.Text(), nullable=False),
        sa.Column("object_type", sa.Text(), nullable=False),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("extractor", sa.Text(), nullable=False),
        sa.Column("run_id", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("confidence BETWEEN 0 AND 1", name=op.f("triples_share_check")),
        sa.ForeignKeyConstraint(["memory_id"], ["slowwave.memories.id"], name=op.f("triples_memory_id_fkey")),
        sa.ForeignKeyConstraint(["run_id"], ["slowwave.maintenance_runs.id"], name=op.f("triples_run_id_fkey")),
        sa.ForeignKeyConstraint(["scope_id"], ["slowwave.scopes.id"], name=op.f("triples_scope_id_fkey")),
        sa.PrimaryKeyConstraint("id", name=op.f("triples_pkey")),
        schema="slowwave",
    )
    op.create_index(
        "triples_memory_idx", "triples", ["memory_id", "subject", "predicate", "object"], unique=True, schema="slowwave"
    )
    op.create_index(
        "triples_object_idx",
        "triples",
        ["scope_id", sa.literal_column("lower(object)")],
        unique=False,
        schema="slowwave",
    )
    op.create_index("triples_run_idx", "triples", ["run_id"], unique=False, schema="slowwave")
    op.create_index(
        "triples_subject_idx",
        "triples",
        ["scope_id", sa.literal_column("lower(subject)")],
        unique=False,
        schema="slowwave",
    )
    op.create_table(
        "working_memory",
        sa.Column("id", sa.Uuid(), server_default=sa.text("uuidv7()"), nullable=False),
        sa.Column("agent_id", sa.BigInteger(), nullable=False),
        sa.Column("scope_id", sa.BigInteger(), nullable=False),
        sa.Column("session", sa.Text(), nullable=True),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("importance", sa.Float(), nullable=False),
        sa.Column("marked", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("key", sa.Text(), nullable=True),
        sa.Column("said_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=True),
        sa.Column("settled_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("run_id", sa.BigInteger(), nullable=True),
        sa.CheckConstraint(
            "outcome IN ('consolidated', 'duplicate', 'expired', 'failed')", name=op.f("working_memory_outcome_check")
        ),
        sa.CheckConstraint("(outcome IS NULL) = (settled_at IS NULL)", name=op.f("working_memory_settled_check")),
        sa.CheckConstraint("importance BETWEEN 0 AND 1", name=op.f("working_memory_share_check")),
        sa.ForeignKeyConstraint(["agent_id"], ["slowwave.agents.id"], name=op.f("working_memory_agent_id_fkey")),
        sa.ForeignKeyConstraint(["run_id"], ["slowwave.maintenance_runs.id"], name=op.f("working_memory_run_id_fkey")),
        sa.ForeignKeyConstraint(["scope_id"], ["slowwave.scopes.id"], name=op.f("working_memory_scope_id_fkey")),
        sa.PrimaryKeyConstraint("id", name=op.f("working_memory_pkey")),
        schema="slowwave",
    )
    op.create_index(
        "working_memory_key_idx",
        "working_memory",
        ["agent_id", "key"],
        unique=True,
        schema="slowwave",
        postgresql_where=sa.text("key IS NOT NULL"),
    )
    op.create_index(
        "working_memory_open_idx",
        "working_memory",
        ["scope_id", "said_at", "id"],
        unique=False,
        schema="slowwave",
        postgresql_where=sa.text("outcome IS NULL"),
    )
    op.create_index("working_memory_run_idx", "working_memory", ["run_id"], unique=False, schema="slowwave")
    op.create_table(
        "memory_notes",
        sa.Column("memory_id", sa.Uuid(), nullable=False),
        sa.Column("working_id", sa.Uuid(), nullable=False),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("importance", sa.Float(), nullable=False),
        sa.Column("trust", sa.Text(), nullable=False),
        sa.Column("holds_from", sa.DateTime(timezone=True), nullable=False),
        sa.Column("via", sa.Uuid(), nullable=True),
        sa.ForeignKeyConstraint(["memory_id"], ["slowwave.memories.id"], name=op.f("memory_notes_memory_id_fkey")),
        sa.ForeignKeyConstraint(
            ["working_id"], ["slowwave.working_memory.id"], name=op.f("memory_notes_working_id_fkey")
        ),
        sa.PrimaryKeyConstraint("memory_id", "working_id", name=op.f("memory_notes_pkey")),
        schema="slowwave",
    )
    op.create_index(
        "memory_notes_via_idx",
        "memory_notes",
        ["via"],
        unique=False,
        schema="slowwave",
        postgresql_where=sa.text("via IS NOT NULL"),
    )
    op.create_index("memory_notes_working_idx", "memory_notes", ["working_id"], unique=False, schema="slowwave")
    op.create_table(
        "review_items",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("scope_id", sa.BigInteger(), nullable=False),
        sa.Column("memory_id", sa.Uuid(), nullable=True),
        sa.Column("conflict_id", sa.BigInteger(), nullable=True),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("tier", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), server_default=sa.text("'open'"), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("run_id", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("decided_by", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "state IN ('open', 'accepted', 'rejected', 'merged', 'expired')", name=op.f("review_items_state_check")
        ),
        sa.CheckConstraint("tier IN ('low', 'medium', 'high')", name=op.f("review_items_tier_check")),
        sa.CheckConstraint("num_nonnulls(memory_id, conflict_id) = 1", name=op.f("review_items_subject_check")),
        sa.ForeignKeyConstraint(
            ["conflict_id"], ["slowwave.memory_conflicts.id"], name=op.f("review_items_conflict_id_fkey")
        ),
        sa.ForeignKeyConstraint(["memory_id"], ["slowwave.memories.id"], name=op.f("review_items_memory_id_fkey")),
        sa.ForeignKeyConstraint(["run_id"], ["slowwave.maintenance_runs.id"], name=op.f("review_items_run_id_fkey")),
        sa.ForeignKeyConstraint(["scope_id"], ["slowwave.scopes.id"], name=op.f("review_items_scope_id_fkey")),
        sa.PrimaryKeyConstraint("id", name=op.f("review_items_pkey")),
        schema="slowwave",
    )
    op.create_index(
        "review_items_conflict_idx",
        "review_items",
        ["conflict_id"],
        unique=True,
        schema="slowwave",
        postgresql_where=sa.text("state = 'open' AND conflict_id IS NOT NULL"),
    )
    op.create_index(
        "review_items_expiry_idx",
        "review_items",
        ["expires_at"],
        unique=False,
        schema="slowwave",
        postgresql_where=sa.text("state = 'open'"),
    )
    op.create_index(
        "review_items_memory_idx",
        "review_items",
        ["memory_id"],
        unique=True,
        schema="slowwave",
        postgresql_where=sa.text("state = 'open' AND memory_id IS NOT NULL"),
    )
    op.create_index("review_items_run_idx", "review_items", ["run_id"], unique=False, schema="slowwave")
    op.add_column("memories", sa.Column("reaffirmed_at", sa.DateTime(timezone=True), nullable=True), schema="slowwave")
    op.add_column("memories", sa.Column("merged_into", sa.Uuid(), nullable=True), schema="slowwave")
    op.add_column(
        "memories", sa.Column("revision", sa.Integer(), server_default=sa.text("0"), nullable=False), schema="slowwave"
    )
    op.add_column("memories", sa.Column("checked_at", sa.DateTime(timezone=True), nullable=True), schema="slowwave")
    op.create_index(
        "memories_archived_content_idx",
        "memories",
        ["scope_id", "type", "content_hash"],
        unique=False,
        schema="slowwave",
        postgresql_where=sa.text("status = 'archived'"),
    )
    op.create_index(
        "memories_merged_idx",
        "memories",
        ["merged_into"],
        unique=False,
        schema="slowwave",
        postgresql_where=sa.text("merged_into IS NOT NULL"),
    )
    op.create_index(
        "memories_unchecked_idx",
        "memories",
        ["scope_id", "recorded_at", "id"],
        unique=False,
        schema="slowwave",
        postgresql_where=sa.text("checked_at IS NULL AND status IN ('inbox', 'episode', 'active')"),
    )
    op.create_foreign_key(
        op.f("memories_merged_into_fkey"),
        "memories",
        "memories",
        ["merged_into"],
        ["id"],
        source_schema="slowwave",
        referent_schema="slowwave",
    )
    op.add_column("memory_changes", sa.Column("run_id", sa.BigInteger(), nullable=True), schema="slowwave")
    op.add_column("memory_changes", sa.Column("made_by", sa.Text(), nullable=True), schema="slowwave")
    op.create_index(
        "memory_changes_run_idx",
        "memory_changes",
        ["run_id", "id"],
        unique=False,
        schema="slowwave",
        postgresql_where=sa.text("run_id IS NOT NULL"),
    )
    op.drop_constraint(op.f("memory_changes_memory_id_fkey"), "memory_changes", schema="slowwave", type_="foreignkey")
    op.create_foreign_key(
        op.f("memory_changes_run_id_fkey"),
        "memory_changes",
        "maintenance_runs",
        ["run_id"],
        ["id"],
        source_schema="slowwave",
        referent_schema="slowwave",
    )
    op.add_column("memory_sources", sa.Column("confidence", sa.Float(), nullable=True), schema="slowwave")
    op.add_column("memory_sources", sa.Column("importance", sa.Float(), nullable=True), schema="slowwave")
    op.add_column("memory_sources", sa.Column("trust", sa.Text(), nullable=True), schema="slowwave")
    op.add_column(
        "memory_sources", sa.Column("holds_from", sa.DateTime(timezone=True), nullable=True), schema="slowwave"
    )
    op.add_column("memory_sources", sa.Column("via", sa.Uuid(), nullable=True), schema="slowwave")
    op.create_index(
        "memory_sources_via_idx",
        "memory_sources",
        ["via"],
        unique=False,
        schema="slowwave",
        postgresql_where=sa.text("via IS NOT NULL"),
    )
    _fill()
    op.alter_column("memories", "reaffirmed_at", nullable=False, schema="slowwave")
    op.alter_column("memory_sources", "confidence", nullable=False, schema="slowwave")
    op.alter_column("memory_sources", "importance", nullable=False, schema="slowwave")
    op.alter_column("memory_sources", "trust", nullable=False, schema="slowwave")
    op.alter_column("memory_sources", "holds_from", nullable=False, schema="slowwave")


def downgrade() -> None:
    op.drop_index(
        "memory_sources_via_idx",
        table_name="memory_sources",
        schema="slowwave",
        postgresql_where=sa.text("via IS NOT NULL"),
    )
    op.drop_column("memory_sources", "via", schema="slowwave")
    op.drop_column("memory_sources", "holds_from", schema="slowwave")
    op.drop_column("memory_sources", "trust", schema="slowwave")
    op.drop_column("memory_sources", "importance", schema="slowwave")
    op.drop_column("memory_sources", "confidence", schema="slowwave")
    op.drop_constraint(op.f("memory_changes_run_id_fkey"), "memory_changes", schema="slowwave", type_="foreignkey")
    op.execute(
        "DELETE FROM slowwave.memory_changes c"
        " WHERE NOT EXISTS (SELECT FROM slowwave.memories m WHERE m.id = c.memory_id)"
    )
    op.create_foreign_key(
        op.f("memory_changes_memory_id_fkey"),
        "memory_changes",
        "memories",
        ["memory_id"],
        ["id"],
        source_schema="slowwave",
        referent_schema="slowwave",
    )
    op.drop_index(
        "memory_changes_run_idx",
        table_name="memory_changes",
        schema="slowwave",
        postgresql_where=sa.text("run_id IS NOT NULL"),
    )
    op.drop_column("memory_changes", "made_by", schema="slowwave")
    op.drop_column("memory_changes", "run_id", schema="slowwave")
    op.drop_constraint(op.f("memories_merged_into_fkey"), "memories", schema="slowwave", type_="foreignkey")
    op.drop_index(
        "memories_unchecked_idx",
        table_name="memories",
        schema="slowwave",
        postgresql_where=sa.text("checked_at IS NULL AND status IN ('inbox', 'episode', 'active')"),
    )
    op.drop_index(
        "memories_merged_idx",
        table_name="memories",
        schema="slowwave",
        postgresql_where=sa.text("merged_into IS NOT NULL"),
    )
    op.drop_index(
        "memories_archived_content_idx",
        table_name="memories",
        schema="slowwave",
        postgresql_where=sa.text("status = 'archived'"),
    )
    op.drop_column("memories", "checked_at", schema="slowwave")
    op.drop_column("memories", "revision", schema="slowwave")
    op.drop_column("memories", "merged_into", schema="slowwave")
    op.drop_column("memories", "reaffirmed_at", schema="slowwave")
    op.drop_index("review_items_run_idx", table_name="review_items", schema="slowwave")
    op.drop_index(
        "review_items_memory_idx",
        table_name="review_items",
        schema="slowwave",
        postgresql_where=sa.text("state = 'open' AND memory_id IS NOT NULL"),
    )
    op.drop_index(
        "review_items_expiry_idx",
        table_name="review_items",
        schema="slowwave",
        postgresql_where=sa.text("state = 'open'"),
    )
    op.drop_index(
        "review_items_conflict_idx",
        table_name="review_items",
        schema="slowwave",
        postgresql_where=sa.text("state = 'open' AND conflict_id IS NOT NULL"),
    )
    op.drop_table("review_items", schema="slowwave")
    op.drop_index("memory_notes_working_idx", table_name="memory_notes", schema="slowwave")
    op.drop_index(
        "memory_notes_via_idx",
        table_name="memory_notes",
        schema="slowwave",
        postgresql_where=sa.text("via IS NOT NULL"),
    )
    op.drop_table("memory_notes", schema="slowwave")
    op.drop_index("working_memory_run_idx", table_name="working_memory", schema="slowwave")
    op.drop_index(
        "working_memory_open_idx",
        table_name="working_memory",
        schema="slowwave",
        postgresql_where=sa.text("outcome IS NULL"),
    )
    op.drop_index(
        "working_memory_key_idx",
        table_name="working_memory",
        schema="slowwave",
        postgresql_where=sa.text("key IS NOT NULL"),
    )
    op.drop_table("working_memory", schema="slowwave")
    op.drop_index("triples_subject_idx", table_name="triples", schema="slowwave")
    op.drop_index("triples_run_idx", table_name="triples", schema="slowwave")
    op.drop_index("triples_object_idx", table_name="triples", schema="slowwave")
    op.drop_index("triples_memory_idx", table_name="triples", schema="slowwave")
    op.drop_table("triples", schema="slowwave")
    op.drop_index("memory_links_target_idx", table_name="memory_links", schema="slowwave")
    op.drop_index("memory_links_run_idx", table_name="memory_links", schema="slowwave")
    op.drop_index(
        "memory_links_pair_idx",
        table_name="memory_links",
        schema="slowwave",
        postgresql_where=sa.text("ended_by IS NULL"),
    )
    op.drop_table("memory_links", schema="slowwave")
    op.drop_index("memory_conflicts_run_idx", table_name="memory_conflicts", schema="slowwave")
    op.drop_index("memory_conflicts_pair_idx", table_name="memory_conflicts", schema="slowwave")
    op.drop_index("memory_conflicts_other_idx", table_name="memory_conflicts", schema="slowwave")
    op.drop_index(
        "memory_conflicts_open_idx",
        table_name="memory_conflicts",
        schema="slowwave",
        postgresql_where=sa.text("status = 'open'"),
    )
    op.drop_table("memory_conflicts", schema="slowwave")
    op.drop_index("memory_blocks_memory_idx", table_name="memory_blocks", schema="slowwave")
    op.drop_table("memory_blocks", schema="slowwave")
    op.drop_index("maintenance_runs_scope_idx", table_name="maintenance_runs", schema="slowwave")
    op.drop_index(
        "maintenance_runs_running_idx",
        table_name="maintenance_runs",
        schema="slowwave",
        postgresql_where=sa.text("status = 'running' AND job_id IS NOT NULL"),
    )
    op.drop_index("maintenance_runs_job_idx", table_name="maintenance_runs", schema="slowwave")
    op.drop_table("maintenance_runs", schema="slowwave")
    op.drop_index(
        "maintenance_jobs_due_idx",
        table_name="maintenance_jobs",
        schema="slowwave",
        postgresql_where=sa.text("enabled"),
    )
    op.drop_table("maintenance_jobs", schema="slowwave")
