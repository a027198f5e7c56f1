-- Who may see what, where not everybody logs in as the owner.
--
-- The owner of the schema is asked nothing by any of this. Other logins stand in slowwave.logins, which none of them can
-- write: a producer and a console with their tenant, a worker with none. It is session_user that counts, which is who
-- logged in: neither SET ROLE nor a function that runs as its owner changes it, and no setting of the client does.
--
-- Entrances (capture_session, find, …) run as the owner once `slowwave roles apply` has said so: then they ask
-- slowwave.admit first. All else that such a login reads goes through the policies below.

-- own_tenant: whose rows this login may see; NULL: nobody's.
CREATE FUNCTION slowwave.own_tenant() RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT l.tenant FROM slowwave.logins l WHERE l.login = session_user::text
$$;

-- admit: raise insufficient_privilege unless this login may act for p_tenant. Workers and the owner may act for all.
CREATE FUNCTION slowwave.admit(p_tenant text) RETURNS void
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM FROM slowwave.logins l
    WHERE l.login = session_user::text AND (l.tenant = p_tenant OR l.role = 'worker');
    -- Who may become the owner anyway is not kept from what the owner may do.
    IF NOT FOUND AND NOT pg_has_role(session_user, current_user, 'MEMBER') THEN
        RAISE insufficient_privilege
            USING MESSAGE = format('login %I may not act for tenant %L', session_user, left(p_tenant, 200)),
                  HINT = 'slowwave roles list shows which login belongs to which tenant';
    END IF;
END
$$;

-- admit_scopes: the same for scopes by their numbers; one of another tenant, or one that is not there, is too many.
CREATE FUNCTION slowwave.admit_scopes(p_scopes bigint[]) RETURNS void
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_login record;
BEGIN
    SELECT l.tenant, l.role INTO v_login FROM slowwave.logins l WHERE l.login = session_user::text;
    IF v_login.role = 'worker' OR v_login.role IS NULL AND pg_has_role(session_user, current_user, 'MEMBER') THEN
        RETURN;
    END IF;
    PERFORM FROM unnest(p_scopes) AS given (id)
    LEFT JOIN slowwave.scopes k ON k.id = given.id
    WHERE v_login.tenant IS NULL OR k.tenant IS DISTINCT FROM v_login.tenant;
    IF FOUND THEN
        RAISE insufficient_privilege
            USING MESSAGE = format('login %I may not read scopes of another tenant', session_user),
                  HINT = 'slowwave roles list shows which login belongs to which tenant';
    END IF;
END
$$;

ALTER TABLE slowwave.maintenance_runs ADD COLUMN tenant text DEFAULT slowwave.own_tenant();

-- Policies: a row is seen and written by logins of its tenant. A table that is not named here shows no row to anybody but
-- the owner and workers. Each rests on the one above it, whose own policy is applied in turn: agents and scopes name the
-- tenant. Without FORCE: the owner migrates, and functions that run as the owner have asked already.
DO $$
DECLARE
    v_table text;
    v_rule text;
BEGIN
    FOR v_table, v_rule IN
        SELECT t.name, CASE p.rule
            WHEN 'tenant' THEN format('%I.tenant = (SELECT slowwave.own_tenant())', t.name)
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
        EXECUTE format('CREATE POLICY own_tenant ON slowwave.%I USING (%s) WITH CHECK (%s)', v_table, v_rule, v_rule);
    END LOOP;
END
$$;
-- A run over several scopes names none of them: it is of the tenant whose console made it, or of nobody.
ALTER TABLE slowwave.maintenance_runs ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON slowwave.maintenance_runs USING (
    CASE WHEN scope_id IS NULL THEN tenant = (SELECT slowwave.own_tenant())
         ELSE EXISTS (SELECT FROM slowwave.scopes AS above WHERE above.id = maintenance_runs.scope_id) END);
ALTER TABLE slowwave.logins ENABLE ROW LEVEL SECURITY;
-- These hold nothing of a tenant.
ALTER TABLE slowwave.maintenance_jobs ENABLE ROW LEVEL SECURITY;
CREATE POLICY everybody ON slowwave.maintenance_jobs FOR SELECT USING (true);
ALTER TABLE slowwave.memory_backends ENABLE ROW LEVEL SECURITY;
CREATE POLICY everybody ON slowwave.memory_backends FOR SELECT USING (true);
ALTER TABLE slowwave.vector_spaces ENABLE ROW LEVEL SECURITY;
CREATE POLICY everybody ON slowwave.vector_spaces FOR SELECT USING (true);
