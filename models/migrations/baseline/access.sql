-- Row-level security, the seeded maintenance jobs, and what else needs the functions.
--
-- A login sees and writes the rows of its own tenant. A table that is not named here shows rows only to the owner and to
-- workers. Each policy rests on the table above it, whose own policy applies in turn: agents and scopes name the tenant.
-- No table has FORCE ROW LEVEL SECURITY: the owner migrates, and functions that run as the owner check the tenant first.
DO $$
DECLARE
    v_table text;
    v_rule text;
BEGIN
    FOR v_table, v_rule IN
        SELECT t.name, CASE p.rule
            WHEN 'tenant' THEN format('%I.tenant = (SELECT slowwave.current_tenant())', t.name)
            ELSE format('EXISTS (SELECT FROM slowwave.%I AS above WHERE above.id = %I.%I)',
                        split_part(p.rule, ' ', 1), t.name, split_part(p.rule, ' ', 2)) END
        FROM (VALUES
            ('tenant', 'agents scopes erasures erased_names dead_letters llm_calls llm_usage'),
            ('agents agent_id', 'sessions working_memory days day_summaries day_segments session_days rebuilds'),
            ('scopes scope_id', 'memories memory_conflicts review_items triples memory_blocks passages common_terms'),
            ('scopes scope_id', 'outbox memory_files memory_file_lines memory_vectors passage_vectors'),
            ('sessions session_id', 'events flushes source_runs rebuild_windows rebuild_evidence vector_progress'),
            ('memories source_id', 'memory_links'),
            ('memories memory_id', 'memory_sources memory_notes memory_imports memory_changes')
        ) AS p (rule, names)
        CROSS JOIN LATERAL unnest(string_to_array(p.names, ' ')) AS t (name)
    LOOP
        EXECUTE format('ALTER TABLE slowwave.%I ENABLE ROW LEVEL SECURITY', v_table);
        EXECUTE format('CREATE POLICY tenant_isolation ON slowwave.%I USING (%s) WITH CHECK (%s)', v_table, v_rule, v_rule);
    END LOOP;
END
$$;

-- A run over several scopes names none of them. It belongs to the tenant whose console started it, or to no tenant.
ALTER TABLE slowwave.maintenance_runs ALTER tenant SET DEFAULT slowwave.current_tenant();
ALTER TABLE slowwave.maintenance_runs ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON slowwave.maintenance_runs USING (
    CASE WHEN scope_id IS NULL THEN tenant = (SELECT slowwave.current_tenant())
         ELSE EXISTS (SELECT FROM slowwave.scopes AS above WHERE above.id = maintenance_runs.scope_id) END);

-- A console login sees the people of its tenant. People of every tenant belong to no single one. Only the owner adds people.
ALTER TABLE slowwave.console_users ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON slowwave.console_users FOR SELECT
    USING ((SELECT slowwave.current_tenant()) = ANY (tenants));
ALTER TABLE slowwave.console_sessions ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_isolation ON slowwave.console_sessions USING (
    tenant = (SELECT slowwave.current_tenant())
    AND EXISTS (SELECT FROM slowwave.console_users AS above WHERE above.name = console_sessions.user_name));

-- Only the owner reads the logins. The next three tables hold nothing of a tenant.
ALTER TABLE slowwave.logins ENABLE ROW LEVEL SECURITY;
ALTER TABLE slowwave.maintenance_jobs ENABLE ROW LEVEL SECURITY;
CREATE POLICY everybody ON slowwave.maintenance_jobs FOR SELECT USING (true);
ALTER TABLE slowwave.memory_backends ENABLE ROW LEVEL SECURITY;
CREATE POLICY everybody ON slowwave.memory_backends FOR SELECT USING (true);
ALTER TABLE slowwave.vector_spaces ENABLE ROW LEVEL SECURITY;
CREATE POLICY everybody ON slowwave.vector_spaces FOR SELECT USING (true);

-- The jobs of every installation. next_due_at stays NULL: the first tick computes it, so that a new installation waits
-- for its next window instead of running for the past. Curation runs only if the settings switch it on.
INSERT INTO slowwave.maintenance_jobs (id, job_type, cadence, interval_minutes, weekday, window_start, window_end)
VALUES
    ('light-10', 'consolidate_light', 'daily', NULL, NULL, '10:00', '11:00'),
    ('light-15', 'consolidate_light', 'daily', NULL, NULL, '15:00', '16:00'),
    ('deep-weekly', 'consolidate_deep', 'weekly', NULL, 6, '03:00', '06:00'),
    ('finalize-days', 'finalize_days', 'interval', 720, NULL, NULL, NULL),
    ('retention', 'retention', 'daily', NULL, NULL, '04:00', '05:00'),
    ('curation', 'curate', 'daily', NULL, NULL, '05:00', '06:00');

-- The planner reads the partitions together only after an ANALYZE of the parent.
ANALYZE ONLY slowwave.events;
