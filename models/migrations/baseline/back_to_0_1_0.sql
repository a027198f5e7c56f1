-- Back to the tables of version 0.1.0. Functions that need nothing new stay; they serve older code too.

DROP TRIGGER memories_tombstones ON slowwave.memories;
DROP TRIGGER memory_changes_announced ON slowwave.memory_changes;
DROP FUNCTION slowwave.enqueue_on_conflict() CASCADE;
DROP FUNCTION slowwave.keep_tombstones(), slowwave.announce_changes(), slowwave.await_changes,
    slowwave.read_changes, slowwave.change_type, slowwave.show_memories, slowwave.use_memories, slowwave.explain_memory,
    slowwave.read_memories, slowwave.memory_record, slowwave.holds_memories, slowwave.pair_memories;
DROP TABLE slowwave.webhook_deliveries, slowwave.webhook_secrets, slowwave.webhook_endpoints, slowwave.status_samples,
    slowwave.memory_uses, slowwave.change_listeners, slowwave.memory_tombstones, slowwave.requests, slowwave.api_keys,
    slowwave.audit_log, slowwave.undone_rows, slowwave.alias_changes, slowwave.alias_sources, slowwave.aliases,
    slowwave.window_answers;

DROP INDEX slowwave.memories_important_idx;
DROP FUNCTION slowwave.learned_importance;
CREATE INDEX memories_important_idx ON slowwave.memories (scope_id, importance DESC, valid_from DESC)
    WHERE status IN ('inbox', 'episode', 'active') AND valid_to IS NULL;
DROP INDEX slowwave.memories_instructions_idx, slowwave.memories_review_idx, slowwave.memories_endings_idx,
    slowwave.memory_conflicts_form_idx, slowwave.working_memory_failed_idx, slowwave.days_failed_idx,
    slowwave.maintenance_runs_rolled_back_idx;
ALTER TABLE slowwave.memories DROP COLUMN language, DROP COLUMN profile, DROP COLUMN use_gain;
ALTER TABLE slowwave.memory_changes DROP COLUMN xid;
ALTER TABLE slowwave.maintenance_runs DROP COLUMN part_of, DROP COLUMN no_repeat;
ALTER TABLE slowwave.sessions DROP COLUMN import_run, DROP COLUMN import_seq,
    ADD COLUMN logged_until bigint DEFAULT 0 NOT NULL;

-- A part is no whole event: its row and its vectors are deleted.
DELETE FROM slowwave.passages WHERE part > 0;
ALTER TABLE slowwave.passage_vectors DROP CONSTRAINT passage_vectors_session_id_fkey;
ALTER TABLE slowwave.passage_vectors DROP CONSTRAINT passage_vectors_pkey;
ALTER TABLE slowwave.passage_vectors DROP COLUMN part;
ALTER TABLE slowwave.passage_vectors ADD CONSTRAINT passage_vectors_pkey PRIMARY KEY (session_id, seq, space_id);
ALTER TABLE slowwave.passages DROP COLUMN part, DROP COLUMN begins, DROP COLUMN ends, DROP COLUMN language;
ALTER TABLE slowwave.passages ADD CONSTRAINT passages_pkey PRIMARY KEY (session_id, seq);
ALTER TABLE slowwave.passage_vectors ADD CONSTRAINT passage_vectors_session_id_fkey
    FOREIGN KEY (session_id, seq) REFERENCES slowwave.passages(session_id, seq) ON DELETE CASCADE;
CREATE INDEX passages_scope_idx ON slowwave.passages (scope_id, session_id, seq);

-- Rows of new kinds get an older kind or are deleted. A task event without a milestone is noise to every reader, and the
-- day counts stay equal to the events (I5).
UPDATE slowwave.memories SET type = 'fact' WHERE type IN ('instruction', 'result', 'lesson');
UPDATE slowwave.events SET kind = 'task' WHERE kind = 'tool';
UPDATE slowwave.maintenance_runs SET status = 'stopped' WHERE status = 'rolled_back';
DELETE FROM slowwave.erasures WHERE kind = 'import';
DELETE FROM slowwave.logins WHERE role = 'gateway';
ALTER TABLE slowwave.memories DROP CONSTRAINT memories_type_check,
    ADD CONSTRAINT memories_type_check CHECK (type IN ('fact', 'preference', 'decision', 'task', 'event', 'summary'));
ALTER TABLE slowwave.events DROP CONSTRAINT events_kind_check,
    ADD CONSTRAINT events_kind_check CHECK (kind IN ('user', 'assistant', 'task'));
ALTER TABLE slowwave.maintenance_runs DROP CONSTRAINT maintenance_runs_status_check,
    ADD CONSTRAINT maintenance_runs_status_check
        CHECK (status IN ('running', 'completed', 'failed', 'stopped', 'undone'));
ALTER TABLE slowwave.erasures DROP CONSTRAINT erasures_kind_check,
    ADD CONSTRAINT erasures_kind_check CHECK (kind IN ('agent', 'session', 'scope', 'memory'));
ALTER TABLE slowwave.logins
    DROP CONSTRAINT logins_role_check, DROP CONSTRAINT logins_tenant_check,
    ADD CONSTRAINT logins_role_check CHECK (role IN ('producer', 'console', 'worker')),
    ADD CONSTRAINT logins_tenant_check CHECK ((role = 'worker') = (tenant IS NULL));
