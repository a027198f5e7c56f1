-- The tables of version 0.1.0. Later revisions change them; this file stays as it is.
-- The SQLAlchemy models in models/*.py describe the same columns and foreign keys; a test compares both.

CREATE TABLE slowwave.agents (
    id bigint GENERATED ALWAYS AS IDENTITY,
    tenant text NOT NULL,
    name text NOT NULL,
    time_zone text DEFAULT 'UTC' NOT NULL,
    cutoff_hour smallint DEFAULT 0 NOT NULL,
    epoch integer DEFAULT 0 NOT NULL,
    deleted_at timestamptz,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT agents_pkey PRIMARY KEY (id),
    CONSTRAINT agents_tenant_name_key UNIQUE (tenant, name),
    CONSTRAINT agents_cutoff_hour_check CHECK (cutoff_hour BETWEEN 0 AND 23)
);

CREATE TABLE slowwave.scopes (
    id bigint GENERATED ALWAYS AS IDENTITY,
    tenant text NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    counted_documents bigint DEFAULT 0 NOT NULL,
    counted_mean_length double precision DEFAULT 0 NOT NULL,
    counted_events bigint DEFAULT 0 NOT NULL,
    counted_at timestamptz,
    created_at timestamptz DEFAULT now() NOT NULL,
    flushed_events bigint DEFAULT 0 NOT NULL,
    flushed_through bigint DEFAULT 0 NOT NULL,
    grown boolean GENERATED ALWAYS AS (
        flushed_events >= 200 AND (counted_at IS NULL OR flushed_events * 10 >= counted_events * 11 + 1000)
    ) STORED NOT NULL,
    CONSTRAINT scopes_pkey PRIMARY KEY (id),
    CONSTRAINT scopes_tenant_kind_name_key UNIQUE (tenant, kind, name),
    CONSTRAINT scopes_kind_check CHECK (kind IN ('agent', 'room', 'team'))
);
CREATE INDEX scopes_flushed_through_idx ON slowwave.scopes (flushed_through);
CREATE INDEX scopes_grown_idx ON slowwave.scopes (id) WHERE grown;

CREATE TABLE slowwave.sessions (
    id bigint GENERATED ALWAYS AS IDENTITY,
    agent_id bigint NOT NULL,
    scope_id bigint NOT NULL,
    name text NOT NULL,
    room_id text,
    thread_id text,
    source text DEFAULT 'events' NOT NULL,
    last_seq bigint DEFAULT 0 NOT NULL,
    last_turn integer DEFAULT 0 NOT NULL,
    processed_until bigint DEFAULT 0 NOT NULL,
    processed_turn integer DEFAULT 0 NOT NULL,
    invalidated_at bigint,
    invalidated_by text,
    dirty_since timestamptz,
    last_seen_at timestamptz NOT NULL,
    flush_due_at timestamptz,
    boosted_at timestamptz,
    attempts smallint DEFAULT 0 NOT NULL,
    failures smallint DEFAULT 0 NOT NULL,
    window_limit smallint,
    not_before timestamptz,
    last_error text,
    created_at timestamptz DEFAULT now() NOT NULL,
    logged_until bigint DEFAULT 0 NOT NULL,
    CONSTRAINT sessions_pkey PRIMARY KEY (id),
    CONSTRAINT sessions_agent_id_name_key UNIQUE (agent_id, name),
    CONSTRAINT sessions_watermark_check CHECK (processed_until BETWEEN 0 AND last_seq),
    CONSTRAINT sessions_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES slowwave.agents(id),
    CONSTRAINT sessions_scope_id_fkey FOREIGN KEY (scope_id) REFERENCES slowwave.scopes(id)
) WITH (fillfactor = 70);
CREATE INDEX sessions_agent_dirty_idx ON slowwave.sessions (agent_id, dirty_since) WHERE dirty_since IS NOT NULL;
CREATE INDEX sessions_dirty_idx ON slowwave.sessions (dirty_since) WHERE dirty_since IS NOT NULL;
CREATE INDEX sessions_due_idx ON slowwave.sessions (flush_due_at) INCLUDE (agent_id) WHERE flush_due_at IS NOT NULL;
-- A context and a search read the dirty sessions of a scope that were active last.
CREATE INDEX sessions_scope_dirty_idx ON slowwave.sessions (scope_id, last_seen_at) WHERE dirty_since IS NOT NULL;
-- `doctor` searches all dirty sessions for such a row, which is a fault.
CREATE INDEX sessions_timeless_idx ON slowwave.sessions (id) WHERE dirty_since IS NOT NULL AND flush_due_at IS NULL;

CREATE TABLE slowwave.events (
    session_id bigint,
    seq bigint,
    turn integer NOT NULL,
    kind text NOT NULL,
    role text NOT NULL,
    name text,
    content text NOT NULL,
    happened_at timestamptz NOT NULL,
    recorded_at timestamptz NOT NULL,
    day date NOT NULL,
    key text,
    metadata jsonb,
    quarantined_at timestamptz,
    CONSTRAINT events_pkey PRIMARY KEY (session_id, seq),
    CONSTRAINT events_kind_check CHECK (kind IN ('user', 'assistant', 'task'))
) PARTITION BY RANGE (session_id);
CREATE UNIQUE INDEX events_key_idx ON slowwave.events (session_id, key) WHERE key IS NOT NULL;
-- Events are partitioned by ranges of session ids; the function add_event_partitions adds ranges.
CREATE TABLE slowwave.events_1000000 PARTITION OF slowwave.events FOR VALUES FROM (MINVALUE) TO (1000000);
CREATE TABLE slowwave.events_rest PARTITION OF slowwave.events FOR VALUES FROM (1000000) TO (MAXVALUE);

CREATE TABLE slowwave.session_days (
    session_id bigint,
    day date,
    total_messages integer NOT NULL,
    agent_id bigint NOT NULL,
    scope_id bigint NOT NULL,
    from_seq bigint NOT NULL,
    to_seq bigint NOT NULL,
    summarized integer DEFAULT 0 NOT NULL,
    removed integer DEFAULT 0 NOT NULL,
    pending boolean DEFAULT true NOT NULL,
    look_at timestamptz DEFAULT '1970-01-01 00:00:00+00' NOT NULL,
    CONSTRAINT session_days_pkey PRIMARY KEY (session_id, day),
    CONSTRAINT session_days_pending_check CHECK (pending = (total_messages > summarized)),
    CONSTRAINT session_days_removed_check CHECK (removed <= total_messages),
    CONSTRAINT session_days_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES slowwave.agents(id),
    CONSTRAINT session_days_scope_id_fkey FOREIGN KEY (scope_id) REFERENCES slowwave.scopes(id),
    CONSTRAINT session_days_session_id_fkey FOREIGN KEY (session_id) REFERENCES slowwave.sessions(id)
) WITH (fillfactor = 70);
CREATE INDEX session_days_agent_idx ON slowwave.session_days (agent_id, day);
-- A tick reads this index. As with sessions_due_idx, a counted event does not change it.
CREATE INDEX session_days_look_idx ON slowwave.session_days (look_at, session_id, day) WHERE pending;
-- The order in which ended days become final.
CREATE INDEX session_days_open_idx ON slowwave.session_days (day, agent_id, scope_id) WHERE pending;
-- By scope first: a context reads the pending days of its scopes, and for each day the sessions that began last.
CREATE INDEX session_days_pending_idx ON slowwave.session_days (scope_id, day, session_id) WHERE pending;

CREATE TABLE slowwave.flushes (
    id bigint GENERATED ALWAYS AS IDENTITY,
    session_id bigint NOT NULL,
    from_seq bigint NOT NULL,
    to_seq bigint NOT NULL,
    outcome text NOT NULL,
    extractor text NOT NULL,
    extractor_version text NOT NULL,
    attempt smallint NOT NULL,
    candidates integer DEFAULT 0 NOT NULL,
    stored integer DEFAULT 0 NOT NULL,
    repeated integer DEFAULT 0 NOT NULL,
    noise integer DEFAULT 0 NOT NULL,
    redactions integer DEFAULT 0 NOT NULL,
    error text,
    oldest_recorded_at timestamptz NOT NULL,
    started_at timestamptz NOT NULL,
    committed_at timestamptz NOT NULL,
    tokens bigint DEFAULT 0 NOT NULL,
    fallback text,
    fallback_why text,
    dropped jsonb,
    CONSTRAINT flushes_pkey PRIMARY KEY (id),
    CONSTRAINT flushes_session_id_from_seq_key UNIQUE (session_id, from_seq),
    CONSTRAINT flushes_fallback_check CHECK (fallback IN ('budget', 'failed')),
    CONSTRAINT flushes_outcome_check CHECK (outcome IN ('stored', 'no_reply', 'quarantined')),
    CONSTRAINT flushes_window_check CHECK (from_seq <= to_seq),
    CONSTRAINT flushes_session_id_fkey FOREIGN KEY (session_id) REFERENCES slowwave.sessions(id)
);
CREATE INDEX flushes_committed_idx ON slowwave.flushes (committed_at);
CREATE INDEX flushes_fallback_idx ON slowwave.flushes (session_id, from_seq) WHERE fallback IS NOT NULL;
CREATE INDEX flushes_quarantined_idx ON slowwave.flushes (id) WHERE outcome = 'quarantined';

CREATE TABLE slowwave.memories (
    id uuid DEFAULT uuidv7(),
    scope_id bigint NOT NULL,
    type text NOT NULL,
    content text NOT NULL,
    content_hash bytea NOT NULL,
    status text DEFAULT 'inbox' NOT NULL,
    confidence double precision NOT NULL,
    importance double precision NOT NULL,
    trust text NOT NULL,
    entities text[] DEFAULT '{}' NOT NULL,
    valid_from timestamptz NOT NULL,
    valid_to timestamptz,
    recorded_at timestamptz NOT NULL,
    superseded_by uuid,
    archive_reason text,
    search tsvector NOT NULL,
    reaffirmed_at timestamptz NOT NULL,
    merged_into uuid,
    revision integer DEFAULT 0 NOT NULL,
    checked_at timestamptz,
    CONSTRAINT memories_pkey PRIMARY KEY (id),
    CONSTRAINT memories_shares_check CHECK (confidence BETWEEN 0 AND 1 AND importance BETWEEN 0 AND 1),
    CONSTRAINT memories_status_check CHECK (status IN ('inbox', 'episode', 'active', 'archived', 'review')),
    CONSTRAINT memories_trust_check CHECK (trust IN ('hand', 'user', 'assistant', 'task', 'import')),
    CONSTRAINT memories_type_check CHECK (type IN ('fact', 'preference', 'decision', 'task', 'event', 'summary')),
    CONSTRAINT memories_merged_into_fkey FOREIGN KEY (merged_into) REFERENCES slowwave.memories(id),
    CONSTRAINT memories_scope_id_fkey FOREIGN KEY (scope_id) REFERENCES slowwave.scopes(id),
    CONSTRAINT memories_superseded_by_fkey FOREIGN KEY (superseded_by) REFERENCES slowwave.memories(id)
);
CREATE INDEX memories_archived_content_idx ON slowwave.memories (scope_id, type, content_hash)
    WHERE status = 'archived';
CREATE INDEX memories_important_idx ON slowwave.memories (scope_id, importance DESC, valid_from DESC)
    WHERE status IN ('inbox', 'episode', 'active') AND valid_to IS NULL;
CREATE UNIQUE INDEX memories_live_content_idx ON slowwave.memories (scope_id, type, content_hash)
    WHERE status <> 'archived';
CREATE INDEX memories_merged_idx ON slowwave.memories (merged_into) WHERE merged_into IS NOT NULL;
CREATE INDEX memories_recent_idx ON slowwave.memories (scope_id, valid_from DESC) WHERE status <> 'archived';
-- Every search reads the pending list of a GIN index, so limit it to a few pages, in kB.
CREATE INDEX memories_search_idx ON slowwave.memories USING gin (search) WITH (gin_pending_list_limit = 128);
CREATE INDEX memories_superseded_idx ON slowwave.memories (superseded_by) WHERE superseded_by IS NOT NULL;
-- Memories that no pass has checked since they were created or said again, oldest first.
CREATE INDEX memories_unchecked_idx ON slowwave.memories (scope_id, recorded_at, id)
    WHERE checked_at IS NULL AND status IN ('inbox', 'episode', 'active');

CREATE TABLE slowwave.common_terms (
    scope_id bigint,
    term text,
    documents bigint NOT NULL,
    CONSTRAINT common_terms_pkey PRIMARY KEY (scope_id, term),
    CONSTRAINT common_terms_scope_id_fkey FOREIGN KEY (scope_id) REFERENCES slowwave.scopes(id)
);

CREATE TABLE slowwave.console_users (
    name text,
    password_hash text NOT NULL,
    role text NOT NULL,
    tenants text[] NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    changed_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT console_users_pkey PRIMARY KEY (name),
    CONSTRAINT console_users_role_check CHECK (role IN ('viewer', 'curator', 'operator')),
    CONSTRAINT console_users_tenants_check CHECK (cardinality(tenants) > 0)
);

CREATE TABLE slowwave.console_sessions (
    digest bytea,
    user_name text NOT NULL,
    tenant text NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    expires_at timestamptz NOT NULL,
    CONSTRAINT console_sessions_pkey PRIMARY KEY (digest),
    CONSTRAINT console_sessions_user_name_fkey FOREIGN KEY (user_name)
        REFERENCES slowwave.console_users(name) ON DELETE CASCADE
);
CREATE INDEX console_sessions_expires_idx ON slowwave.console_sessions (expires_at);
CREATE INDEX console_sessions_user_idx ON slowwave.console_sessions (user_name);

CREATE TABLE slowwave.day_segments (
    agent_id bigint,
    scope_id bigint,
    day date,
    session_id bigint,
    from_seq bigint,
    to_seq bigint NOT NULL,
    messages integer NOT NULL,
    lines jsonb NOT NULL,
    summarizer text NOT NULL,
    made_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT day_segments_pkey PRIMARY KEY (agent_id, scope_id, day, session_id, from_seq),
    CONSTRAINT day_segments_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES slowwave.agents(id),
    CONSTRAINT day_segments_scope_id_fkey FOREIGN KEY (scope_id) REFERENCES slowwave.scopes(id),
    CONSTRAINT day_segments_session_id_fkey FOREIGN KEY (session_id) REFERENCES slowwave.sessions(id)
);
CREATE INDEX day_segments_session_idx ON slowwave.day_segments (session_id);

CREATE TABLE slowwave.maintenance_jobs (
    id text,
    job_type text NOT NULL,
    cadence text NOT NULL,
    interval_minutes integer,
    weekday integer,
    window_start time,
    window_end time,
    time_zone text DEFAULT 'UTC' NOT NULL,
    next_due_at timestamptz,
    last_run_at timestamptz,
    last_status text,
    last_summary text,
    enabled boolean DEFAULT true NOT NULL,
    metadata jsonb DEFAULT '{}' NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    updated_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT maintenance_jobs_pkey PRIMARY KEY (id),
    CONSTRAINT maintenance_jobs_cadence_check CHECK (cadence IN ('daily', 'weekly', 'interval')),
    CONSTRAINT maintenance_jobs_interval_check CHECK ((cadence = 'interval') = (interval_minutes IS NOT NULL)),
    CONSTRAINT maintenance_jobs_minutes_check CHECK (interval_minutes > 0),
    CONSTRAINT maintenance_jobs_weekday_check CHECK (weekday BETWEEN 0 AND 6)
);
CREATE INDEX maintenance_jobs_due_idx ON slowwave.maintenance_jobs (next_due_at) WHERE enabled;

CREATE TABLE slowwave.maintenance_runs (
    id bigint GENERATED ALWAYS AS IDENTITY,
    job_id text,
    kind text NOT NULL,
    scope_id bigint,
    status text DEFAULT 'running' NOT NULL,
    lease uuid,
    lease_until timestamptz,
    started_at timestamptz NOT NULL,
    completed_at timestamptz,
    summary text,
    stats jsonb DEFAULT '{}' NOT NULL,
    error text,
    started_by text,
    undoes bigint,
    undone_by bigint,
    tenant text,
    CONSTRAINT maintenance_runs_pkey PRIMARY KEY (id),
    CONSTRAINT maintenance_runs_kind_check CHECK (
        kind IN ('working', 'light', 'deep', 'review', 'undo', 'import', 'files', 'curation', 'other', 'rebuild')
    ),
    CONSTRAINT maintenance_runs_status_check CHECK (status IN ('running', 'completed', 'failed', 'stopped', 'undone')),
    CONSTRAINT maintenance_runs_job_id_fkey FOREIGN KEY (job_id) REFERENCES slowwave.maintenance_jobs(id),
    CONSTRAINT maintenance_runs_scope_id_fkey FOREIGN KEY (scope_id) REFERENCES slowwave.scopes(id),
    CONSTRAINT maintenance_runs_undoes_fkey FOREIGN KEY (undoes) REFERENCES slowwave.maintenance_runs(id),
    CONSTRAINT maintenance_runs_undone_by_fkey FOREIGN KEY (undone_by) REFERENCES slowwave.maintenance_runs(id)
);
CREATE INDEX maintenance_runs_error_idx ON slowwave.maintenance_runs (scope_id) WHERE error IS NOT NULL;
CREATE INDEX maintenance_runs_job_idx ON slowwave.maintenance_runs (job_id, id);
CREATE UNIQUE INDEX maintenance_runs_running_idx ON slowwave.maintenance_runs (job_id)
    WHERE status = 'running' AND job_id IS NOT NULL;
CREATE INDEX maintenance_runs_scope_idx ON slowwave.maintenance_runs (scope_id, id);

CREATE TABLE slowwave.day_summaries (
    id bigint GENERATED ALWAYS AS IDENTITY,
    agent_id bigint NOT NULL,
    scope_id bigint NOT NULL,
    day date NOT NULL,
    version integer NOT NULL,
    final boolean NOT NULL,
    messages integer NOT NULL,
    segments integer NOT NULL,
    text text NOT NULL,
    lines jsonb NOT NULL,
    made_by text NOT NULL,
    summarizer text NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    run_id bigint,
    CONSTRAINT day_summaries_pkey PRIMARY KEY (id),
    CONSTRAINT day_summaries_made_by_check CHECK (made_by IN ('rules', 'model', 'import')),
    CONSTRAINT day_summaries_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES slowwave.agents(id),
    CONSTRAINT day_summaries_run_id_fkey FOREIGN KEY (run_id) REFERENCES slowwave.maintenance_runs(id),
    CONSTRAINT day_summaries_scope_id_fkey FOREIGN KEY (scope_id) REFERENCES slowwave.scopes(id)
);
CREATE INDEX day_summaries_run_idx ON slowwave.day_summaries (run_id) WHERE run_id IS NOT NULL;
-- A context reads an agent's newest days, the last day first.
CREATE INDEX day_summaries_scope_idx ON slowwave.day_summaries (scope_id, day DESC, agent_id, version DESC);
CREATE UNIQUE INDEX day_summaries_version_idx ON slowwave.day_summaries (agent_id, scope_id, day, version);

CREATE TABLE slowwave.days (
    agent_id bigint,
    scope_id bigint,
    day date,
    status text DEFAULT 'open' NOT NULL,
    version integer DEFAULT 0 NOT NULL,
    last_summarized_total integer DEFAULT 0 NOT NULL,
    summarized_at timestamptz,
    finalized_at timestamptz,
    attempts smallint DEFAULT 0 NOT NULL,
    not_before timestamptz,
    last_error text,
    CONSTRAINT days_pkey PRIMARY KEY (agent_id, scope_id, day),
    CONSTRAINT days_status_check CHECK (status IN ('open', 'settling', 'final')),
    CONSTRAINT days_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES slowwave.agents(id),
    CONSTRAINT days_scope_id_fkey FOREIGN KEY (scope_id) REFERENCES slowwave.scopes(id)
);
-- Retention reads days in this order, the newest first.
CREATE INDEX days_final_idx ON slowwave.days (day, agent_id, scope_id) WHERE status = 'final';
CREATE INDEX days_unsettled_idx ON slowwave.days (day, agent_id, scope_id) WHERE status <> 'final';

CREATE TABLE slowwave.dead_letters (
    id bigint GENERATED ALWAYS AS IDENTITY,
    tenant text,
    task text NOT NULL,
    payload jsonb NOT NULL,
    error text NOT NULL,
    state text DEFAULT 'open' NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    decided_at timestamptz,
    CONSTRAINT dead_letters_pkey PRIMARY KEY (id),
    CONSTRAINT dead_letters_state_check CHECK (state IN ('open', 'redriven', 'dismissed'))
);
CREATE INDEX dead_letters_open_idx ON slowwave.dead_letters (id) WHERE state = 'open';

CREATE TABLE slowwave.erased_names (
    tenant text,
    agent text,
    session text DEFAULT '',
    erased_at timestamptz NOT NULL,
    erasure_id bigint NOT NULL,
    CONSTRAINT erased_names_pkey PRIMARY KEY (tenant, agent, session)
);

CREATE TABLE slowwave.erasures (
    id bigint GENERATED ALWAYS AS IDENTITY,
    tenant text NOT NULL,
    kind text NOT NULL,
    agent text,
    session text,
    scope text,
    memory_id uuid,
    erased_at timestamptz NOT NULL,
    erased_by text,
    counts jsonb NOT NULL,
    CONSTRAINT erasures_pkey PRIMARY KEY (id),
    CONSTRAINT erasures_kind_check CHECK (kind IN ('agent', 'session', 'scope', 'memory'))
);
CREATE INDEX erasures_tenant_idx ON slowwave.erasures (tenant, id);

CREATE TABLE slowwave.llm_calls (
    id uuid,
    tenant text NOT NULL,
    agent text,
    run_id bigint,
    purpose text NOT NULL,
    model text NOT NULL,
    prompt text NOT NULL,
    tokens_reserved integer NOT NULL,
    tokens_settled integer,
    counted boolean DEFAULT false NOT NULL,
    outcome text,
    reserved_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    settled_at timestamptz,
    about uuid,
    CONSTRAINT llm_calls_pkey PRIMARY KEY (id),
    CONSTRAINT llm_calls_outcome_check CHECK (outcome IN ('answered', 'failed', 'unanswered', 'lost')),
    CONSTRAINT llm_calls_settled_check CHECK ((outcome IS NULL) = (tokens_settled IS NULL)),
    CONSTRAINT llm_calls_tokens_check CHECK ((tokens_reserved >= 0) AND (tokens_settled >= 0))
);
CREATE INDEX llm_calls_about_idx ON slowwave.llm_calls (tenant, about) WHERE about IS NOT NULL;
CREATE INDEX llm_calls_open_idx ON slowwave.llm_calls (tenant, expires_at) WHERE outcome IS NULL;
CREATE INDEX llm_calls_run_idx ON slowwave.llm_calls (run_id) WHERE run_id IS NOT NULL;
CREATE INDEX llm_calls_tenant_idx ON slowwave.llm_calls (tenant, reserved_at);

CREATE TABLE slowwave.llm_usage (
    tenant text,
    agent text,
    period text,
    starts date,
    calls bigint DEFAULT 0 NOT NULL,
    failures bigint DEFAULT 0 NOT NULL,
    tokens_reserved bigint DEFAULT 0 NOT NULL,
    tokens_settled bigint DEFAULT 0 NOT NULL,
    CONSTRAINT llm_usage_pkey PRIMARY KEY (tenant, agent, period, starts),
    CONSTRAINT llm_usage_counts_check
        CHECK ((calls >= 0) AND (failures >= 0) AND (tokens_reserved >= 0) AND (tokens_settled >= 0)),
    CONSTRAINT llm_usage_period_check CHECK (period IN ('day', 'week'))
);

CREATE TABLE slowwave.logins (
    login text,
    role text NOT NULL,
    tenant text,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT logins_pkey PRIMARY KEY (login),
    CONSTRAINT logins_role_check CHECK (role IN ('producer', 'console', 'worker')),
    CONSTRAINT logins_tenant_check CHECK ((role = 'worker') = (tenant IS NULL))
);

CREATE TABLE slowwave.memory_backends (
    name text,
    since timestamptz DEFAULT now() NOT NULL,
    identity text,
    CONSTRAINT memory_backends_pkey PRIMARY KEY (name)
);

CREATE TABLE slowwave.memory_blocks (
    scope_id bigint,
    key bigint,
    memory_id uuid,
    CONSTRAINT memory_blocks_pkey PRIMARY KEY (scope_id, key, memory_id),
    CONSTRAINT memory_blocks_memory_id_fkey FOREIGN KEY (memory_id) REFERENCES slowwave.memories(id),
    CONSTRAINT memory_blocks_scope_id_fkey FOREIGN KEY (scope_id) REFERENCES slowwave.scopes(id)
);
CREATE INDEX memory_blocks_memory_idx ON slowwave.memory_blocks (memory_id);

CREATE TABLE slowwave.memory_changes (
    id bigint GENERATED ALWAYS AS IDENTITY,
    memory_id uuid NOT NULL,
    flush_id bigint,
    action text NOT NULL,
    before jsonb,
    after jsonb,
    reason text NOT NULL,
    made_at timestamptz DEFAULT now() NOT NULL,
    run_id bigint,
    made_by text,
    CONSTRAINT memory_changes_pkey PRIMARY KEY (id),
    CONSTRAINT memory_changes_flush_id_fkey FOREIGN KEY (flush_id) REFERENCES slowwave.flushes(id),
    CONSTRAINT memory_changes_run_id_fkey FOREIGN KEY (run_id) REFERENCES slowwave.maintenance_runs(id)
);
CREATE INDEX memory_changes_flush_idx ON slowwave.memory_changes (flush_id) WHERE flush_id IS NOT NULL;
-- Finds later changes. Rows are stored in the order of their creation, so a BRIN index suffices.
CREATE INDEX memory_changes_made_idx
    ON slowwave.memory_changes USING brin (made_at) WITH (pages_per_range='32', autosummarize='on');
CREATE INDEX memory_changes_memory_idx ON slowwave.memory_changes (memory_id, id);
-- A forget finds memories that an undo deleted by this index.
CREATE INDEX memory_changes_noted_idx ON slowwave.memory_changes ((after ->> 'noted'))
    WHERE ((after ->> 'noted') IS NOT NULL);
CREATE INDEX memory_changes_place_idx ON slowwave.memory_changes ((before ->> 'scope_id'))
    WHERE ((before ->> 'scope_id') IS NOT NULL);
CREATE INDEX memory_changes_run_idx ON slowwave.memory_changes (run_id, id) WHERE run_id IS NOT NULL;

CREATE TABLE slowwave.memory_conflicts (
    id bigint GENERATED ALWAYS AS IDENTITY,
    scope_id bigint NOT NULL,
    memory_id uuid NOT NULL,
    conflicting_memory_id uuid NOT NULL,
    reason text NOT NULL,
    evidence jsonb NOT NULL,
    status text DEFAULT 'open' NOT NULL,
    resolution text,
    run_id bigint,
    created_at timestamptz DEFAULT now() NOT NULL,
    decided_at timestamptz,
    decided_by text,
    CONSTRAINT memory_conflicts_pkey PRIMARY KEY (id),
    CONSTRAINT memory_conflicts_order_check CHECK (memory_id < conflicting_memory_id),
    CONSTRAINT memory_conflicts_status_check CHECK (status IN ('open', 'resolved', 'dismissed')),
    CONSTRAINT memory_conflicts_conflicting_memory_id_fkey FOREIGN KEY (conflicting_memory_id)
        REFERENCES slowwave.memories(id),
    CONSTRAINT memory_conflicts_memory_id_fkey FOREIGN KEY (memory_id) REFERENCES slowwave.memories(id),
    CONSTRAINT memory_conflicts_run_id_fkey FOREIGN KEY (run_id) REFERENCES slowwave.maintenance_runs(id),
    CONSTRAINT memory_conflicts_scope_id_fkey FOREIGN KEY (scope_id) REFERENCES slowwave.scopes(id)
);
CREATE INDEX memory_conflicts_newest_idx ON slowwave.memory_conflicts (id) WHERE status = 'open';
CREATE INDEX memory_conflicts_open_idx ON slowwave.memory_conflicts (scope_id, id) WHERE status = 'open';
CREATE INDEX memory_conflicts_other_idx ON slowwave.memory_conflicts (conflicting_memory_id);
CREATE UNIQUE INDEX memory_conflicts_pair_idx ON slowwave.memory_conflicts (memory_id, conflicting_memory_id);
CREATE INDEX memory_conflicts_run_idx ON slowwave.memory_conflicts (run_id);

CREATE TABLE slowwave.memory_file_lines (
    scope_id bigint,
    path text,
    memory_id uuid,
    digest bytea NOT NULL,
    revision integer NOT NULL,
    CONSTRAINT memory_file_lines_pkey PRIMARY KEY (scope_id, path, memory_id),
    CONSTRAINT memory_file_lines_scope_id_fkey FOREIGN KEY (scope_id) REFERENCES slowwave.scopes(id)
);
CREATE INDEX memory_file_lines_memory_idx ON slowwave.memory_file_lines (memory_id);

CREATE TABLE slowwave.memory_files (
    scope_id bigint,
    path text,
    digest bytea NOT NULL,
    size bigint NOT NULL,
    modified_ns bigint NOT NULL,
    writing bytea,
    held text,
    checked_at timestamptz NOT NULL,
    CONSTRAINT memory_files_pkey PRIMARY KEY (scope_id, path),
    CONSTRAINT memory_files_scope_id_fkey FOREIGN KEY (scope_id) REFERENCES slowwave.scopes(id)
);

CREATE TABLE slowwave.memory_imports (
    memory_id uuid,
    digest bytea,
    file text NOT NULL,
    sources jsonb DEFAULT '[]' NOT NULL,
    confidence double precision NOT NULL,
    importance double precision NOT NULL,
    trust text NOT NULL,
    holds_from timestamptz NOT NULL,
    reaffirmed_at timestamptz,
    via uuid,
    run_id bigint,
    CONSTRAINT memory_imports_pkey PRIMARY KEY (memory_id, digest),
    CONSTRAINT memory_imports_trust_check CHECK (trust IN ('hand', 'user', 'assistant', 'task', 'import')),
    CONSTRAINT memory_imports_memory_id_fkey FOREIGN KEY (memory_id) REFERENCES slowwave.memories(id),
    CONSTRAINT memory_imports_run_id_fkey FOREIGN KEY (run_id) REFERENCES slowwave.maintenance_runs(id)
);
CREATE INDEX memory_imports_run_idx ON slowwave.memory_imports (run_id);
CREATE INDEX memory_imports_via_idx ON slowwave.memory_imports (via) WHERE via IS NOT NULL;

CREATE TABLE slowwave.memory_links (
    id bigint GENERATED ALWAYS AS IDENTITY,
    source_id uuid NOT NULL,
    target_id uuid NOT NULL,
    predicate text NOT NULL,
    confidence double precision NOT NULL,
    run_id bigint,
    ended_by bigint,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT memory_links_pkey PRIMARY KEY (id),
    CONSTRAINT memory_links_never_to_itself_check CHECK (source_id <> target_id),
    CONSTRAINT memory_links_predicate_check
        CHECK (predicate IN ('duplicate_of', 'merged_into', 'supersedes', 'contradicts', 'related_to')),
    CONSTRAINT memory_links_share_check CHECK (confidence BETWEEN 0 AND 1),
    CONSTRAINT memory_links_ended_by_fkey FOREIGN KEY (ended_by) REFERENCES slowwave.maintenance_runs(id),
    CONSTRAINT memory_links_run_id_fkey FOREIGN KEY (run_id) REFERENCES slowwave.maintenance_runs(id),
    CONSTRAINT memory_links_source_id_fkey FOREIGN KEY (source_id) REFERENCES slowwave.memories(id),
    CONSTRAINT memory_links_target_id_fkey FOREIGN KEY (target_id) REFERENCES slowwave.memories(id)
);
CREATE INDEX memory_links_ended_idx ON slowwave.memory_links (ended_by) WHERE ended_by IS NOT NULL;
CREATE UNIQUE INDEX memory_links_pair_idx ON slowwave.memory_links (source_id, target_id, predicate)
    WHERE ended_by IS NULL;
CREATE INDEX memory_links_run_idx ON slowwave.memory_links (run_id);
CREATE INDEX memory_links_source_idx ON slowwave.memory_links (source_id);
CREATE INDEX memory_links_target_idx ON slowwave.memory_links (target_id);

CREATE TABLE slowwave.working_memory (
    id uuid DEFAULT uuidv7(),
    agent_id bigint NOT NULL,
    scope_id bigint NOT NULL,
    session text,
    type text NOT NULL,
    content text NOT NULL,
    importance double precision NOT NULL,
    marked boolean DEFAULT false NOT NULL,
    key text,
    said_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    outcome text,
    settled_at timestamptz,
    error text,
    run_id bigint,
    CONSTRAINT working_memory_pkey PRIMARY KEY (id),
    CONSTRAINT working_memory_outcome_check CHECK (outcome IN ('consolidated', 'duplicate', 'expired', 'failed')),
    CONSTRAINT working_memory_settled_check CHECK ((outcome IS NULL) = (settled_at IS NULL)),
    CONSTRAINT working_memory_share_check CHECK (importance BETWEEN 0 AND 1),
    CONSTRAINT working_memory_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES slowwave.agents(id),
    CONSTRAINT working_memory_run_id_fkey FOREIGN KEY (run_id) REFERENCES slowwave.maintenance_runs(id),
    CONSTRAINT working_memory_scope_id_fkey FOREIGN KEY (scope_id) REFERENCES slowwave.scopes(id)
);
CREATE INDEX working_memory_agent_idx ON slowwave.working_memory (agent_id, session);
CREATE UNIQUE INDEX working_memory_key_idx ON slowwave.working_memory (agent_id, key) WHERE key IS NOT NULL;
CREATE INDEX working_memory_open_idx ON slowwave.working_memory (scope_id, said_at, id) WHERE outcome IS NULL;
CREATE INDEX working_memory_run_idx ON slowwave.working_memory (run_id);

CREATE TABLE slowwave.memory_notes (
    memory_id uuid,
    working_id uuid,
    confidence double precision NOT NULL,
    importance double precision NOT NULL,
    trust text NOT NULL,
    holds_from timestamptz NOT NULL,
    via uuid,
    CONSTRAINT memory_notes_pkey PRIMARY KEY (memory_id, working_id),
    CONSTRAINT memory_notes_memory_id_fkey FOREIGN KEY (memory_id) REFERENCES slowwave.memories(id),
    CONSTRAINT memory_notes_working_id_fkey FOREIGN KEY (working_id) REFERENCES slowwave.working_memory(id)
);
CREATE INDEX memory_notes_via_idx ON slowwave.memory_notes (via) WHERE via IS NOT NULL;
CREATE INDEX memory_notes_working_idx ON slowwave.memory_notes (working_id);

CREATE TABLE slowwave.memory_sources (
    memory_id uuid,
    session_id bigint,
    seq bigint,
    confidence double precision NOT NULL,
    importance double precision NOT NULL,
    trust text NOT NULL,
    holds_from timestamptz NOT NULL,
    via uuid,
    CONSTRAINT memory_sources_pkey PRIMARY KEY (memory_id, session_id, seq),
    CONSTRAINT memory_sources_memory_id_fkey FOREIGN KEY (memory_id) REFERENCES slowwave.memories(id),
    CONSTRAINT memory_sources_session_id_fkey FOREIGN KEY (session_id) REFERENCES slowwave.sessions(id)
);
CREATE INDEX memory_sources_event_idx ON slowwave.memory_sources (session_id, seq);
CREATE INDEX memory_sources_via_idx ON slowwave.memory_sources (via) WHERE via IS NOT NULL;

CREATE TABLE slowwave.vector_spaces (
    id bigint GENERATED ALWAYS AS IDENTITY,
    model text NOT NULL,
    dimension integer NOT NULL,
    state text NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT vector_spaces_pkey PRIMARY KEY (id),
    CONSTRAINT vector_spaces_dimension_check CHECK (dimension BETWEEN 1 AND 16000),
    CONSTRAINT vector_spaces_state_check CHECK (state IN ('building', 'serving', 'retired'))
);
CREATE UNIQUE INDEX vector_spaces_model_idx ON slowwave.vector_spaces (model) WHERE state <> 'retired';
CREATE UNIQUE INDEX vector_spaces_serving_idx ON slowwave.vector_spaces (state) WHERE state = 'serving';

CREATE TABLE slowwave.memory_vectors (
    memory_id uuid,
    space_id bigint,
    scope_id bigint NOT NULL,
    content_hash bytea NOT NULL,
    said_on date NOT NULL,
    embedding real[],
    CONSTRAINT memory_vectors_pkey PRIMARY KEY (memory_id, space_id),
    CONSTRAINT memory_vectors_memory_id_fkey FOREIGN KEY (memory_id) REFERENCES slowwave.memories(id) ON DELETE CASCADE,
    CONSTRAINT memory_vectors_space_id_fkey FOREIGN KEY (space_id)
        REFERENCES slowwave.vector_spaces(id) ON DELETE CASCADE
);
ALTER TABLE slowwave.memory_vectors ALTER embedding SET STATISTICS 0, ALTER embedding SET STORAGE EXTERNAL;
CREATE INDEX memory_vectors_scope_idx ON slowwave.memory_vectors (space_id, scope_id);

CREATE TABLE slowwave.outbox (
    memory_id uuid,
    backend text,
    scope_id bigint NOT NULL,
    changes integer DEFAULT 1 NOT NULL,
    delivered integer DEFAULT 0 NOT NULL,
    attempts smallint DEFAULT 0 NOT NULL,
    not_before timestamptz,
    last_error text,
    queued_at timestamptz DEFAULT now() NOT NULL,
    delivered_at timestamptz,
    forgotten boolean DEFAULT false NOT NULL,
    CONSTRAINT outbox_pkey PRIMARY KEY (memory_id, backend),
    CONSTRAINT outbox_delivered_check CHECK (delivered <= changes),
    CONSTRAINT outbox_scope_id_fkey FOREIGN KEY (scope_id) REFERENCES slowwave.scopes(id)
);
CREATE INDEX outbox_scope_idx ON slowwave.outbox (scope_id);
CREATE INDEX outbox_waiting_idx ON slowwave.outbox (backend, scope_id, not_before NULLS FIRST, queued_at, memory_id)
    WHERE delivered < changes;

CREATE TABLE slowwave.passages (
    session_id bigint,
    seq bigint,
    scope_id bigint NOT NULL,
    search tsvector NOT NULL,
    redacted text,
    CONSTRAINT passages_pkey PRIMARY KEY (session_id, seq),
    CONSTRAINT passages_scope_id_fkey FOREIGN KEY (scope_id) REFERENCES slowwave.scopes(id),
    CONSTRAINT passages_session_id_fkey FOREIGN KEY (session_id) REFERENCES slowwave.sessions(id)
);
CREATE INDEX passages_scope_idx ON slowwave.passages (scope_id, session_id, seq);
CREATE INDEX passages_search_idx ON slowwave.passages USING gin (search) WITH (gin_pending_list_limit = 128);

CREATE TABLE slowwave.passage_vectors (
    session_id bigint,
    seq bigint,
    space_id bigint,
    scope_id bigint NOT NULL,
    embedding real[],
    CONSTRAINT passage_vectors_pkey PRIMARY KEY (session_id, seq, space_id),
    CONSTRAINT passage_vectors_session_id_fkey FOREIGN KEY (session_id, seq)
        REFERENCES slowwave.passages(session_id, seq) ON DELETE CASCADE,
    CONSTRAINT passage_vectors_space_id_fkey FOREIGN KEY (space_id)
        REFERENCES slowwave.vector_spaces(id) ON DELETE CASCADE
);
ALTER TABLE slowwave.passage_vectors ALTER embedding SET STATISTICS 0, ALTER embedding SET STORAGE EXTERNAL;
CREATE INDEX passage_vectors_scope_idx ON slowwave.passage_vectors (space_id, scope_id);

CREATE TABLE slowwave.rebuild_evidence (
    run_id bigint,
    memory_id uuid,
    session_id bigint,
    seq bigint,
    before boolean,
    confidence double precision NOT NULL,
    importance double precision NOT NULL,
    trust text NOT NULL,
    holds_from timestamptz NOT NULL,
    CONSTRAINT rebuild_evidence_pkey PRIMARY KEY (run_id, memory_id, session_id, seq, before),
    CONSTRAINT rebuild_evidence_memory_id_fkey FOREIGN KEY (memory_id)
        REFERENCES slowwave.memories(id) ON DELETE CASCADE,
    CONSTRAINT rebuild_evidence_run_id_fkey FOREIGN KEY (run_id)
        REFERENCES slowwave.maintenance_runs(id) ON DELETE CASCADE,
    CONSTRAINT rebuild_evidence_session_id_fkey FOREIGN KEY (session_id)
        REFERENCES slowwave.sessions(id) ON DELETE CASCADE
);
CREATE INDEX rebuild_evidence_memory_idx ON slowwave.rebuild_evidence (memory_id);
CREATE INDEX rebuild_evidence_session_idx ON slowwave.rebuild_evidence (session_id);

CREATE TABLE slowwave.rebuilds (
    id bigint GENERATED ALWAYS AS IDENTITY,
    agent_id bigint NOT NULL,
    extractor text NOT NULL,
    extractor_version text NOT NULL,
    only_fallback boolean NOT NULL,
    state text DEFAULT 'staging' NOT NULL,
    started_at timestamptz NOT NULL,
    started_by text,
    run_id bigint,
    CONSTRAINT rebuilds_pkey PRIMARY KEY (id),
    CONSTRAINT rebuilds_state_check CHECK (state IN ('staging', 'switched')),
    CONSTRAINT rebuilds_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES slowwave.agents(id) ON DELETE CASCADE,
    CONSTRAINT rebuilds_run_id_fkey FOREIGN KEY (run_id) REFERENCES slowwave.maintenance_runs(id) ON DELETE SET NULL
);
CREATE INDEX rebuilds_run_idx ON slowwave.rebuilds (run_id) WHERE run_id IS NOT NULL;
CREATE UNIQUE INDEX rebuilds_staging_idx ON slowwave.rebuilds (agent_id) WHERE state = 'staging';

CREATE TABLE slowwave.rebuild_windows (
    rebuild_id bigint,
    session_id bigint,
    from_seq bigint,
    to_seq bigint NOT NULL,
    candidates jsonb NOT NULL,
    extractor text NOT NULL,
    extractor_version text NOT NULL,
    tokens bigint DEFAULT 0 NOT NULL,
    dropped jsonb,
    made_at timestamptz NOT NULL,
    was jsonb,
    CONSTRAINT rebuild_windows_pkey PRIMARY KEY (rebuild_id, session_id, from_seq),
    CONSTRAINT rebuild_windows_rebuild_id_fkey FOREIGN KEY (rebuild_id)
        REFERENCES slowwave.rebuilds(id) ON DELETE CASCADE,
    CONSTRAINT rebuild_windows_session_id_fkey FOREIGN KEY (session_id)
        REFERENCES slowwave.sessions(id) ON DELETE CASCADE
);
CREATE INDEX rebuild_windows_session_idx ON slowwave.rebuild_windows (session_id);

CREATE TABLE slowwave.review_items (
    id bigint GENERATED ALWAYS AS IDENTITY,
    scope_id bigint NOT NULL,
    memory_id uuid,
    conflict_id bigint,
    why text NOT NULL,
    tier text NOT NULL,
    state text DEFAULT 'open' NOT NULL,
    expires_at timestamptz NOT NULL,
    run_id bigint,
    created_at timestamptz DEFAULT now() NOT NULL,
    decided_at timestamptz,
    decided_by text,
    CONSTRAINT review_items_pkey PRIMARY KEY (id),
    CONSTRAINT review_items_state_check CHECK (state IN ('open', 'accepted', 'rejected', 'merged', 'expired')),
    CONSTRAINT review_items_subject_check CHECK (num_nonnulls(memory_id, conflict_id) = 1),
    CONSTRAINT review_items_tier_check CHECK (tier IN ('low', 'medium', 'high')),
    CONSTRAINT review_items_conflict_id_fkey FOREIGN KEY (conflict_id) REFERENCES slowwave.memory_conflicts(id),
    CONSTRAINT review_items_memory_id_fkey FOREIGN KEY (memory_id) REFERENCES slowwave.memories(id),
    CONSTRAINT review_items_run_id_fkey FOREIGN KEY (run_id) REFERENCES slowwave.maintenance_runs(id),
    CONSTRAINT review_items_scope_id_fkey FOREIGN KEY (scope_id) REFERENCES slowwave.scopes(id)
);
CREATE INDEX review_items_about_conflict_idx ON slowwave.review_items (conflict_id) WHERE conflict_id IS NOT NULL;
CREATE INDEX review_items_about_idx ON slowwave.review_items (memory_id) WHERE memory_id IS NOT NULL;
CREATE UNIQUE INDEX review_items_conflict_idx ON slowwave.review_items (conflict_id)
    WHERE state = 'open' AND conflict_id IS NOT NULL;
CREATE INDEX review_items_expiry_idx ON slowwave.review_items (expires_at) WHERE state = 'open';
CREATE UNIQUE INDEX review_items_memory_idx ON slowwave.review_items (memory_id)
    WHERE state = 'open' AND memory_id IS NOT NULL;
CREATE INDEX review_items_order_idx
    ON slowwave.review_items ((CASE tier WHEN 'high' THEN 0 WHEN 'medium' THEN 1 ELSE 2 END), expires_at, id)
    WHERE state = 'open';
CREATE INDEX review_items_run_idx ON slowwave.review_items (run_id);

CREATE TABLE slowwave.source_runs (
    session_id bigint,
    run_id text,
    asked_at timestamptz NOT NULL,
    due_at timestamptz,
    looks smallint DEFAULT 0 NOT NULL,
    missing_since timestamptz,
    outcome text,
    taken text[] DEFAULT '{}' NOT NULL,
    last_error text,
    CONSTRAINT source_runs_pkey PRIMARY KEY (session_id, run_id),
    CONSTRAINT source_runs_outcome_check CHECK (outcome IN ('taken', 'private', 'gone', 'failed')),
    CONSTRAINT source_runs_session_id_fkey FOREIGN KEY (session_id) REFERENCES slowwave.sessions(id) ON DELETE CASCADE
);
CREATE INDEX source_runs_due_idx ON slowwave.source_runs (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE slowwave.triples (
    id bigint GENERATED ALWAYS AS IDENTITY,
    scope_id bigint NOT NULL,
    memory_id uuid NOT NULL,
    subject text NOT NULL,
    subject_type text NOT NULL,
    predicate text NOT NULL,
    object text NOT NULL,
    object_type text NOT NULL,
    confidence double precision NOT NULL,
    extractor text NOT NULL,
    run_id bigint,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT triples_pkey PRIMARY KEY (id),
    CONSTRAINT triples_share_check CHECK (confidence BETWEEN 0 AND 1),
    CONSTRAINT triples_memory_id_fkey FOREIGN KEY (memory_id) REFERENCES slowwave.memories(id),
    CONSTRAINT triples_run_id_fkey FOREIGN KEY (run_id) REFERENCES slowwave.maintenance_runs(id),
    CONSTRAINT triples_scope_id_fkey FOREIGN KEY (scope_id) REFERENCES slowwave.scopes(id)
);
CREATE UNIQUE INDEX triples_memory_idx ON slowwave.triples (memory_id, subject, predicate, object);
CREATE INDEX triples_object_idx ON slowwave.triples (scope_id, lower(object));
CREATE INDEX triples_run_idx ON slowwave.triples (run_id);
CREATE INDEX triples_subject_idx ON slowwave.triples (scope_id, lower(subject));

CREATE TABLE slowwave.vector_progress (
    session_id bigint,
    space_id bigint,
    until_seq bigint NOT NULL,
    CONSTRAINT vector_progress_pkey PRIMARY KEY (session_id, space_id),
    CONSTRAINT vector_progress_session_id_fkey FOREIGN KEY (session_id)
        REFERENCES slowwave.sessions(id) ON DELETE CASCADE,
    CONSTRAINT vector_progress_space_id_fkey FOREIGN KEY (space_id)
        REFERENCES slowwave.vector_spaces(id) ON DELETE CASCADE
);
