-- From the schema of version 0.1.0 to that of the next version. Postgres validates checks of large tables without blocking
-- readers and writers.

-- New kinds: of memories, events, logins, erasures and results of runs.
ALTER TABLE slowwave.memories DROP CONSTRAINT memories_type_check;
ALTER TABLE slowwave.memories ADD CONSTRAINT memories_type_check CHECK (type IN ('fact', 'preference', 'decision',
    'task', 'event', 'summary', 'instruction', 'result', 'lesson')) NOT VALID;
ALTER TABLE slowwave.memories VALIDATE CONSTRAINT memories_type_check;
ALTER TABLE slowwave.events DROP CONSTRAINT events_kind_check;
ALTER TABLE slowwave.events ADD CONSTRAINT events_kind_check
    CHECK (kind IN ('user', 'assistant', 'task', 'tool')) NOT VALID;
ALTER TABLE slowwave.events VALIDATE CONSTRAINT events_kind_check;
ALTER TABLE slowwave.logins
    DROP CONSTRAINT logins_role_check, DROP CONSTRAINT logins_tenant_check,
    ADD CONSTRAINT logins_role_check CHECK (role IN ('producer', 'console', 'worker', 'gateway')),
    ADD CONSTRAINT logins_tenant_check CHECK ((role IN ('worker', 'gateway')) = (tenant IS NULL));
ALTER TABLE slowwave.erasures DROP CONSTRAINT erasures_kind_check,
    ADD CONSTRAINT erasures_kind_check CHECK (kind IN ('agent', 'session', 'scope', 'memory', 'import'));
ALTER TABLE slowwave.maintenance_runs DROP CONSTRAINT maintenance_runs_status_check,
    ADD CONSTRAINT maintenance_runs_status_check
        CHECK (status IN ('running', 'completed', 'rolled_back', 'failed', 'stopped', 'undone'));
CREATE INDEX maintenance_runs_rolled_back_idx ON slowwave.maintenance_runs (started_at) WHERE status = 'rolled_back';

-- A model's answer about a window, which is paid once.
CREATE TABLE slowwave.window_answers (
    session_id bigint,
    from_seq bigint NOT NULL,
    to_seq bigint NOT NULL,
    digest bytea NOT NULL,
    owner uuid NOT NULL,
    known jsonb NOT NULL,
    answer jsonb,
    asked_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    answered_at timestamptz,
    CONSTRAINT window_answers_pkey PRIMARY KEY (session_id),
    CONSTRAINT window_answers_window_check CHECK (from_seq BETWEEN 1 AND to_seq),
    CONSTRAINT window_answers_answered_check CHECK ((answer IS NULL) = (answered_at IS NULL)),
    CONSTRAINT window_answers_session_id_fkey
        FOREIGN KEY (session_id) REFERENCES slowwave.sessions(id) ON DELETE CASCADE
);

-- Each text has a language. Long events are indexed in parts. A row of 0.1.0 holds a whole event, with `ends` NULL:
-- it is searched as it is until the sweep cuts it (services/search/passages.py).
ALTER TABLE slowwave.passages ADD COLUMN language text DEFAULT 'en' NOT NULL;
ALTER TABLE slowwave.memories ADD COLUMN language text DEFAULT 'en' NOT NULL;
-- The languages of a scope, with their amounts; English passages are not in this index.
CREATE INDEX passages_language_idx ON slowwave.passages (scope_id, language) WHERE language <> 'en';
-- The languages of a scope; English memories are not in this index.
CREATE INDEX memories_language_idx ON slowwave.memories (scope_id, language) WHERE language <> 'en';
ALTER TABLE slowwave.passage_vectors DROP CONSTRAINT passage_vectors_session_id_fkey;
ALTER TABLE slowwave.passage_vectors ADD COLUMN part integer DEFAULT 0 NOT NULL;
ALTER TABLE slowwave.passage_vectors DROP CONSTRAINT passage_vectors_pkey;
ALTER TABLE slowwave.passage_vectors ADD CONSTRAINT passage_vectors_pkey PRIMARY KEY (session_id, seq, part, space_id);
ALTER TABLE slowwave.passages ADD COLUMN part integer DEFAULT 0 NOT NULL;
ALTER TABLE slowwave.passages ADD COLUMN begins integer DEFAULT 0 NOT NULL;
ALTER TABLE slowwave.passages ADD COLUMN ends integer;
ALTER TABLE slowwave.passages DROP CONSTRAINT passages_pkey;
ALTER TABLE slowwave.passages ADD CONSTRAINT passages_pkey PRIMARY KEY (session_id, seq, part);
ALTER TABLE slowwave.passage_vectors ADD CONSTRAINT passage_vectors_session_id_fkey
    FOREIGN KEY (session_id, seq, part) REFERENCES slowwave.passages(session_id, seq, part) ON DELETE CASCADE;
DROP INDEX slowwave.passages_scope_idx;
-- Search reads the latest passages of a large scope in this order.
CREATE INDEX passages_scope_idx ON slowwave.passages (scope_id, session_id, seq, part);
-- Events that no worker has split into passages yet; empty soon after an upgrade.
CREATE INDEX passages_uncut_idx ON slowwave.passages (session_id, seq) WHERE ends IS NULL;

-- Names that mean the same within a scope, learned by flushes or written by people.
CREATE TABLE slowwave.aliases (
    id bigint GENERATED ALWAYS AS IDENTITY,
    scope_id bigint NOT NULL,
    name text NOT NULL,
    alias text NOT NULL,
    name_key text NOT NULL,
    alias_key text NOT NULL,
    status text NOT NULL,
    decided_by text,
    decided_at timestamptz,
    created_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT aliases_pkey PRIMARY KEY (id),
    CONSTRAINT aliases_scope_id_name_key_alias_key_key UNIQUE (scope_id, name_key, alias_key),
    CONSTRAINT aliases_status_check CHECK (status IN ('learned', 'added', 'removed')),
    CONSTRAINT aliases_two_names_check CHECK (name_key <> alias_key),
    CONSTRAINT aliases_scope_id_fkey FOREIGN KEY (scope_id) REFERENCES slowwave.scopes(id)
);
CREATE INDEX aliases_alias_idx ON slowwave.aliases (scope_id, alias_key);
CREATE TABLE slowwave.alias_sources (
    alias_id bigint NOT NULL,
    session_id bigint NOT NULL,
    seq bigint NOT NULL,
    CONSTRAINT alias_sources_pkey PRIMARY KEY (alias_id, session_id, seq),
    CONSTRAINT alias_sources_alias_id_fkey FOREIGN KEY (alias_id) REFERENCES slowwave.aliases(id) ON DELETE CASCADE,
    CONSTRAINT alias_sources_session_id_fkey FOREIGN KEY (session_id) REFERENCES slowwave.sessions(id)
);
CREATE INDEX alias_sources_session_idx ON slowwave.alias_sources (session_id);
CREATE TABLE slowwave.alias_changes (
    id bigint GENERATED ALWAYS AS IDENTITY,
    alias_id bigint NOT NULL,
    scope_id bigint NOT NULL,
    run_id bigint NOT NULL,
    action text NOT NULL,
    before jsonb,
    after jsonb,
    made_by text,
    made_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT alias_changes_pkey PRIMARY KEY (id),
    CONSTRAINT alias_changes_scope_id_fkey FOREIGN KEY (scope_id) REFERENCES slowwave.scopes(id),
    CONSTRAINT alias_changes_run_id_fkey FOREIGN KEY (run_id) REFERENCES slowwave.maintenance_runs(id)
);
CREATE INDEX alias_changes_alias_idx ON slowwave.alias_changes (alias_id, id);
CREATE INDEX alias_changes_run_idx ON slowwave.alias_changes (run_id);

-- Instructions and the attributes of the speaker that a memory states (`profile`) belong to every context.
ALTER TABLE slowwave.memories ADD COLUMN profile jsonb DEFAULT '[]' NOT NULL;
-- Memories in every context: standing instructions, and a person's statements about themselves by attribute.
CREATE INDEX memories_instructions_idx ON slowwave.memories (scope_id, reaffirmed_at DESC)
    WHERE type = 'instruction' AND status IN ('inbox', 'episode', 'active') AND valid_to IS NULL;
CREATE INDEX memories_profile_0_idx ON slowwave.memories
    (scope_id, (profile -> 0 ->> 'person'), (profile -> 0 ->> 'attribute'), reaffirmed_at DESC)
    WHERE profile -> 0 IS NOT NULL AND status IN ('inbox', 'episode', 'active') AND valid_to IS NULL;
CREATE INDEX memories_profile_1_idx ON slowwave.memories
    (scope_id, (profile -> 1 ->> 'person'), (profile -> 1 ->> 'attribute'), reaffirmed_at DESC)
    WHERE profile -> 1 IS NOT NULL AND status IN ('inbox', 'episode', 'active') AND valid_to IS NULL;

-- Memories in review; memories that tell an ending; questions about a list of one form; notes that failed; days that failed.
CREATE INDEX memories_review_idx ON slowwave.memories (scope_id, valid_from DESC) WHERE status = 'review';
CREATE INDEX memories_endings_idx ON slowwave.memories (scope_id)
    WHERE content ~ '^[^:]{1,80} (called off|lifted an instruction|corrected): ';
CREATE INDEX memory_conflicts_form_idx ON slowwave.memory_conflicts (scope_id, (evidence ->> 'form'))
    WHERE (evidence ->> 'form') IS NOT NULL;
CREATE INDEX working_memory_failed_idx ON slowwave.working_memory (scope_id, settled_at) WHERE outcome = 'failed';
CREATE INDEX days_failed_idx ON slowwave.days (scope_id) WHERE last_error IS NOT NULL;

-- An undo can be undone. An undo of a job's run covers the runs that it started, which named the job's run in words
-- alone. A person may forbid a repeat.
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
ALTER TABLE slowwave.maintenance_runs
    ADD COLUMN part_of bigint,
    ADD COLUMN no_repeat boolean DEFAULT false NOT NULL,
    ADD CONSTRAINT maintenance_runs_part_of_fkey FOREIGN KEY (part_of) REFERENCES slowwave.maintenance_runs(id);
CREATE INDEX maintenance_runs_part_idx ON slowwave.maintenance_runs (part_of) WHERE part_of IS NOT NULL;
UPDATE slowwave.maintenance_runs r SET part_of = p.id FROM slowwave.maintenance_runs p
WHERE r.started_by ~ '^[^ ]+, run [0-9]{1,18}$' AND r.scope_id IS NOT NULL
  AND p.id = CAST(substring(r.started_by FROM '[0-9]+$') AS bigint)
  AND p.job_id = substring(r.started_by FROM '^([^ ]+), run');

-- Logins, failed logins, exports, revealed secrets, roles and keys leave a row. A console that serves one tenant adds
-- rows of that tenant, and can't change what was written.
CREATE TABLE slowwave.audit_log (
    id bigint GENERATED ALWAYS AS IDENTITY,
    done_at timestamptz DEFAULT now() NOT NULL,
    tenant text DEFAULT slowwave.current_tenant(),
    action text NOT NULL,
    actor text,
    via text NOT NULL,
    what text NOT NULL,
    CONSTRAINT audit_log_pkey PRIMARY KEY (id),
    CONSTRAINT audit_log_action_check CHECK (action IN ('login', 'failed login', 'export', 'reveal', 'role', 'key')),
    CONSTRAINT audit_log_via_check CHECK (via IN ('console', 'shell', 'http'))
);
CREATE INDEX audit_log_tenant_idx ON slowwave.audit_log (tenant, id);
CREATE INDEX audit_log_done_idx ON slowwave.audit_log (done_at);

-- Keys of an HTTP gateway, whose login sees the tenant of a key alone.
CREATE TABLE slowwave.api_keys (
    id uuid DEFAULT uuidv7() NOT NULL,
    tenant text DEFAULT slowwave.current_tenant() NOT NULL,
    name text NOT NULL,
    prefix text NOT NULL,
    digest bytea NOT NULL,
    agents text[] DEFAULT '{}' NOT NULL,
    scopes text[] DEFAULT '{}' NOT NULL,
    rights text[] NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    created_by text NOT NULL,
    expires_at timestamptz,
    revoked_at timestamptz,
    last_used_at timestamptz,
    CONSTRAINT api_keys_pkey PRIMARY KEY (id),
    CONSTRAINT api_keys_digest_check CHECK (octet_length(digest) = 32),
    CONSTRAINT api_keys_rights_check CHECK (
        cardinality(rights) > 0 AND rights <@ ARRAY['record', 'read', 'decide', 'forget', 'administer'])
);
CREATE UNIQUE INDEX api_keys_digest_idx ON slowwave.api_keys (digest);
CREATE UNIQUE INDEX api_keys_prefix_idx ON slowwave.api_keys (prefix);
CREATE INDEX api_keys_tenant_idx ON slowwave.api_keys (tenant, created_at);

-- Requests that a worker answers. Postgres writes who asks: a worker does what the row says in that name.
CREATE TABLE slowwave.requests (
    id uuid DEFAULT uuidv7() NOT NULL,
    tenant text DEFAULT slowwave.current_tenant() NOT NULL,
    key_id uuid,
    asked_by text DEFAULT SESSION_USER NOT NULL,
    kind text NOT NULL,
    arguments jsonb NOT NULL,
    state text DEFAULT 'waiting' NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    result jsonb,
    error text,
    created_at timestamptz DEFAULT now() NOT NULL,
    started_at timestamptz,
    finished_at timestamptz,
    CONSTRAINT requests_pkey PRIMARY KEY (id),
    CONSTRAINT requests_kind_check CHECK (kind IN ('correct', 'archive', 'forget_preview', 'forget', 'undo')),
    CONSTRAINT requests_state_check CHECK (state IN ('waiting', 'running', 'done', 'failed'))
);
CREATE INDEX requests_open_idx ON slowwave.requests (created_at) WHERE state IN ('waiting', 'running');
CREATE INDEX requests_created_idx ON slowwave.requests (created_at);
ALTER TABLE slowwave.requests ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON slowwave.requests
    USING (tenant = (SELECT slowwave.current_tenant()))
    WITH CHECK (
        tenant = (SELECT slowwave.current_tenant()) AND asked_by = SESSION_USER
        AND (key_id IS NULL OR EXISTS (SELECT FROM slowwave.api_keys AS above WHERE above.id = requests.key_id)));

-- A feed of changes that loses none: changes know their transaction, deleted memories leave tombstones. The default of
-- xid is stable, so existing rows get the number of this transaction without being written.
ALTER TABLE slowwave.memory_changes ADD COLUMN xid xid8 DEFAULT pg_current_xact_id() NOT NULL;
-- The change feed reads in the order in which transactions end.
CREATE INDEX memory_changes_xid_idx ON slowwave.memory_changes (xid, id);
CREATE TABLE slowwave.memory_tombstones (
    id bigint DEFAULT nextval('slowwave.memory_changes_id_seq') NOT NULL,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    memory_id uuid,
    scope_id bigint NOT NULL,
    cause text NOT NULL,
    made_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT memory_tombstones_pkey PRIMARY KEY (id),
    CONSTRAINT memory_tombstones_cause_check CHECK (cause IN ('forgotten', 'removed')),
    CONSTRAINT memory_tombstones_scope_id_fkey FOREIGN KEY (scope_id) REFERENCES slowwave.scopes(id)
);
CREATE INDEX memory_tombstones_xid_idx ON slowwave.memory_tombstones (xid, id);
CREATE INDEX memory_tombstones_scope_idx ON slowwave.memory_tombstones (scope_id);
CREATE INDEX memory_tombstones_made_idx ON slowwave.memory_tombstones (made_at);

CREATE TABLE slowwave.change_listeners (
    tenant text NOT NULL,
    channel text DEFAULT ('slowwave_' || replace(gen_random_uuid()::text, '-', '')) NOT NULL,
    until timestamptz NOT NULL,
    CONSTRAINT change_listeners_pkey PRIMARY KEY (tenant)
);

-- Which memories a context showed and a reply used; their use changes their importance.
CREATE TABLE slowwave.memory_uses (
    id bigint GENERATED ALWAYS AS IDENTITY,
    memory_id uuid NOT NULL,
    session_id bigint,
    last_used_at timestamptz,
    shown_at timestamptz,
    CONSTRAINT memory_uses_pkey PRIMARY KEY (id),
    CONSTRAINT memory_uses_key UNIQUE NULLS NOT DISTINCT (memory_id, session_id),
    CONSTRAINT memory_uses_memory_id_fkey FOREIGN KEY (memory_id) REFERENCES slowwave.memories(id) ON DELETE CASCADE,
    CONSTRAINT memory_uses_session_id_fkey FOREIGN KEY (session_id) REFERENCES slowwave.sessions(id) ON DELETE CASCADE
);
CREATE INDEX memory_uses_session_idx ON slowwave.memory_uses (session_id) WHERE session_id IS NOT NULL;
ALTER TABLE slowwave.memories ADD COLUMN use_gain double precision DEFAULT 0 NOT NULL;
CREATE INDEX memories_use_idx ON slowwave.memories (id) WHERE use_gain <> 0;

-- A run that moves conversations in owns their sessions.
ALTER TABLE slowwave.sessions ADD COLUMN import_run bigint, ADD COLUMN import_seq bigint, DROP COLUMN logged_until;
CREATE INDEX sessions_import_idx ON slowwave.sessions (import_run) WHERE import_run IS NOT NULL;

-- Changes are sent to URLs: endpoints, their secrets, and an outbox of the changes that each one wants.
CREATE TABLE slowwave.webhook_endpoints (
    id uuid DEFAULT uuidv7() NOT NULL,
    tenant text DEFAULT slowwave.current_tenant() NOT NULL,
    url text NOT NULL,
    description text DEFAULT '' NOT NULL,
    agents text[] NOT NULL,
    scopes text[] NOT NULL,
    types text[] NOT NULL,
    cursor text NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    created_by text NOT NULL,
    disabled_at timestamptz,
    disabled_why text,
    failing_since timestamptz,
    failures integer DEFAULT 0 NOT NULL,
    paused_until timestamptz,
    last_success_at timestamptz,
    CONSTRAINT webhook_endpoints_pkey PRIMARY KEY (id)
);
CREATE INDEX webhook_endpoints_tenant_idx ON slowwave.webhook_endpoints (tenant, id);
CREATE TABLE slowwave.webhook_secrets (
    id bigint GENERATED ALWAYS AS IDENTITY,
    endpoint_id uuid NOT NULL,
    secret text NOT NULL,
    made_at timestamptz DEFAULT now() NOT NULL,
    CONSTRAINT webhook_secrets_pkey PRIMARY KEY (id),
    CONSTRAINT webhook_secrets_endpoint_id_fkey FOREIGN KEY (endpoint_id)
        REFERENCES slowwave.webhook_endpoints(id) ON DELETE CASCADE
);
CREATE INDEX webhook_secrets_endpoint_idx ON slowwave.webhook_secrets (endpoint_id, id);
CREATE TABLE slowwave.webhook_deliveries (
    number bigint GENERATED ALWAYS AS IDENTITY,
    id uuid DEFAULT uuidv7() NOT NULL,
    endpoint_id uuid NOT NULL,
    change_id text NOT NULL,
    change_type text NOT NULL,
    memory_id uuid NOT NULL,
    state text DEFAULT 'pending' NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    next_attempt_at timestamptz NOT NULL,
    created_at timestamptz DEFAULT now() NOT NULL,
    finished_at timestamptz,
    response_status integer,
    error text,
    CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (number),
    CONSTRAINT webhook_deliveries_state_check CHECK (state IN ('pending', 'delivered', 'skipped', 'dead')),
    CONSTRAINT webhook_deliveries_endpoint_id_fkey FOREIGN KEY (endpoint_id)
        REFERENCES slowwave.webhook_endpoints(id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX webhook_deliveries_id_idx ON slowwave.webhook_deliveries (id);
CREATE UNIQUE INDEX webhook_deliveries_change_idx ON slowwave.webhook_deliveries (endpoint_id, change_id);
CREATE INDEX webhook_deliveries_listed_idx ON slowwave.webhook_deliveries (endpoint_id, number);
CREATE INDEX webhook_deliveries_due_idx
    ON slowwave.webhook_deliveries (endpoint_id, memory_id, number) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_pending_idx
    ON slowwave.webhook_deliveries (endpoint_id, number) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_done_idx ON slowwave.webhook_deliveries (finished_at);

-- Figures of each tenant over time: one row a minute, later one row an hour.
CREATE TABLE slowwave.status_samples (
    tenant text DEFAULT slowwave.current_tenant() NOT NULL,
    taken_at timestamptz NOT NULL,
    hourly boolean DEFAULT false NOT NULL,
    seconds integer NOT NULL,
    sessions_waiting integer NOT NULL,
    events_waiting bigint NOT NULL,
    inbox_open integer NOT NULL,
    lag_p50_seconds double precision,
    lag_p95_seconds double precision,
    events bigint NOT NULL,
    decisions bigint NOT NULL,
    tokens bigint NOT NULL,
    failures bigint NOT NULL,
    CONSTRAINT status_samples_pkey PRIMARY KEY (tenant, taken_at)
);
CREATE INDEX status_samples_taken_idx ON slowwave.status_samples (taken_at);
CREATE INDEX status_samples_minutes_idx ON slowwave.status_samples (taken_at) WHERE NOT hourly;

-- A login sees the rows of its own tenant: by their column, or by the row of another table that they belong to.
DO $$
DECLARE
    v_table record;
    v_mine text;
BEGIN
    FOR v_table IN SELECT * FROM (VALUES
        ('window_answers', 'sessions', 'session_id'),
        ('aliases', 'scopes', 'scope_id'),
        ('alias_sources', 'aliases', 'alias_id'),
        ('alias_changes', 'scopes', 'scope_id'),
        ('undone_rows', 'scopes', 'scope_id'),
        ('audit_log', NULL, NULL),
        ('api_keys', NULL, NULL),
        ('memory_tombstones', 'scopes', 'scope_id'),
        ('change_listeners', NULL, NULL),
        ('memory_uses', 'memories', 'memory_id'),
        ('webhook_endpoints', NULL, NULL),
        ('webhook_secrets', 'webhook_endpoints', 'endpoint_id'),
        ('webhook_deliveries', 'webhook_endpoints', 'endpoint_id'),
        ('status_samples', NULL, NULL)
    ) AS t (own, above, key) LOOP
        v_mine := CASE WHEN v_table.above IS NULL THEN 'tenant = (SELECT slowwave.current_tenant())'
            ELSE format('EXISTS (SELECT FROM slowwave.%I AS above WHERE above.id = %I.%I)',
                v_table.above, v_table.own, v_table.key) END;
        EXECUTE format('ALTER TABLE slowwave.%I ENABLE ROW LEVEL SECURITY', v_table.own);
        EXECUTE format('CREATE POLICY tenant_isolation ON slowwave.%I USING (%s) WITH CHECK (%s)',
            v_table.own, v_mine, v_mine);
    END LOOP;
END
$$;
