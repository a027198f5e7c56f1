-- remember: put something into an agent's working memory, in one statement, one round trip. Agent and scope are made
-- where they are new. A key that the agent has used before changes nothing and is no error.
--
-- p_said_at: when it was said; now unless given. It expires p_ttl_seconds after it arrived: what was said long ago and
-- came late is still worth a look.
CREATE FUNCTION slowwave.remember(
    p_tenant text,
    p_agent text,
    p_scope_kind text,
    p_scope_name text,
    p_session text,
    p_type text,
    p_content text,
    p_importance double precision,
    p_marked boolean,
    p_key text,
    p_ttl_seconds double precision,
    p_said_at timestamptz,
    p_time_zone text,
    p_cutoff_hour integer,
    p_now timestamptz DEFAULT NULL,
    OUT id uuid, OUT is_new boolean, OUT expires_at timestamptz
)
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz := coalesce(p_now, clock_timestamp());
    v_agent_id bigint;
    v_scope_id bigint;
BEGIN
    -- Twice at most: the second time sees the row that another transaction made in between.
    LOOP
        SELECT a.id INTO v_agent_id FROM slowwave.agents a WHERE a.tenant = p_tenant AND a.name = p_agent;
        EXIT WHEN FOUND;
        INSERT INTO slowwave.agents (tenant, name, time_zone, cutoff_hour)
        VALUES (p_tenant, p_agent, p_time_zone, p_cutoff_hour)
        ON CONFLICT DO NOTHING;
    END LOOP;
    LOOP
        SELECT k.id INTO v_scope_id FROM slowwave.scopes k
        WHERE k.tenant = p_tenant AND k.kind = p_scope_kind AND k.name = p_scope_name;
        EXIT WHEN FOUND;
        INSERT INTO slowwave.scopes (tenant, kind, name) VALUES (p_tenant, p_scope_kind, p_scope_name)
        ON CONFLICT DO NOTHING;
    END LOOP;
    INSERT INTO slowwave.working_memory AS w (
        agent_id, scope_id, session, type, content, importance, marked, key, said_at, expires_at
    ) VALUES (
        v_agent_id, v_scope_id, p_session, p_type, p_content, p_importance, p_marked, p_key,
        coalesce(p_said_at, v_now), v_now + make_interval(secs => p_ttl_seconds)
    )
    ON CONFLICT (agent_id, key) WHERE key IS NOT NULL DO NOTHING
    RETURNING w.id, w.expires_at INTO id, expires_at;
    is_new := FOUND;
    IF NOT is_new THEN
        SELECT w.id, w.expires_at INTO STRICT id, expires_at
        FROM slowwave.working_memory w
        WHERE w.agent_id = v_agent_id AND w.key = p_key;
    END IF;
END
$$;

-- keep_noted: make memories of items of working memory, or note that the scope has them already; then the items are
-- settled. The database's unique key decides what is new, so a cycle and a flush that hear the same thing at once end in
-- one row (mistake 27).
--
-- p_items: [{id, type, content, hash, status, confidence, importance, trust, entities, said_at, reason, repeats,
--   repeats_item}, …]. `repeats`: the memory that says it already; `repeats_item`: the item of this call that does.
-- Answers one row an item: the memory that has it now, and whether it is new.
--
-- As in store_memory, what was merged is heard by the survivor too, and what a person rejected stays rejected. Memories
-- are locked in the order in which flushes lock them, so that they don't wait for each other crosswise.
CREATE FUNCTION slowwave.keep_noted(
    p_scope_id bigint, p_run_id bigint, p_by text, p_items jsonb, p_now timestamptz
) RETURNS TABLE (item uuid, memory uuid, is_new boolean)
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    v record;
BEGIN
    FOR v IN
        SELECT x.*, decode(x.hash, 'hex') AS key
        FROM jsonb_to_recordset(p_items) AS x (
            id uuid, type text, content text, hash text, status text, confidence double precision,
            importance double precision, trust text, entities text[], said_at timestamptz, reason text, repeats uuid,
            repeats_item uuid)
        ORDER BY x.repeats_item IS NOT NULL, x.repeats IS NOT NULL, x.type, x.hash, x.said_at, x.id
    LOOP
        item := v.id;
        memory := v.repeats;
        IF v.repeats_item IS NOT NULL THEN
            SELECT n.memory_id INTO memory FROM slowwave.memory_notes n
            WHERE n.working_id = v.repeats_item AND n.via IS NULL;
        END IF;
        is_new := false;
        IF memory IS NULL THEN
            SELECT m.id INTO memory
            FROM slowwave.memories m
            WHERE m.scope_id = p_scope_id AND m.type = v.type AND m.content_hash = v.key AND m.status = 'archived'
              AND (m.merged_into IS NOT NULL OR m.archive_reason = 'rejected')
            ORDER BY m.id
            LIMIT 1;
        END IF;
        IF memory IS NULL THEN
            INSERT INTO slowwave.memories AS m (
                scope_id, type, content, content_hash, status, confidence, importance, trust, entities, valid_from,
                reaffirmed_at, recorded_at, search
            ) VALUES (
                p_scope_id, v.type, v.content, v.key, v.status, v.confidence, v.importance, v.trust,
                coalesce(v.entities, '{}'), v.said_at, v.said_at, p_now,
                slowwave.memory_vector(p_scope_id, v.content, v.said_at, v.entities)
            )
            ON CONFLICT (scope_id, type, content_hash) WHERE status <> 'archived' DO NOTHING
            RETURNING m.id INTO memory;
            is_new := FOUND;
            IF NOT is_new THEN
                SELECT m.id INTO STRICT memory
                FROM slowwave.memories m
                WHERE m.scope_id = p_scope_id AND m.type = v.type AND m.content_hash = v.key
                  AND m.status <> 'archived';
            END IF;
        END IF;
        IF is_new THEN
            INSERT INTO slowwave.memory_notes (
                memory_id, working_id, confidence, importance, trust, holds_from)
            VALUES (memory, v.id, v.confidence, v.importance, v.trust, v.said_at);
            INSERT INTO slowwave.memory_changes (memory_id, run_id, made_by, action, after, reason, made_at)
            VALUES (memory, p_run_id, p_by, 'created',
                    jsonb_build_object('status', v.status, 'confidence', v.confidence, 'importance', v.importance,
                                       'valid_from', v.said_at, 'noted', v.id),
                    v.reason, p_now);
        ELSE
            PERFORM slowwave.note_again(
                memory, NULL, v.id, p_run_id, p_by, v.confidence, v.importance, v.trust, v.said_at, v.reason, p_now);
            PERFORM slowwave.note_again(
                m.merged_into, m.id, v.id, p_run_id, p_by, v.confidence, v.importance, v.trust, v.said_at,
                'noted in the words of a memory that was merged into this one', p_now)
            FROM slowwave.memories m
            WHERE m.id = memory AND m.merged_into IS NOT NULL;
        END IF;
        UPDATE slowwave.working_memory w SET
            outcome = CASE WHEN is_new THEN 'consolidated' ELSE 'duplicate' END,
            settled_at = p_now,
            run_id = p_run_id
        WHERE w.id = v.id AND w.scope_id = p_scope_id AND w.outcome IS NULL;
        RETURN NEXT;
    END LOOP;
END
$$;

-- note_again: a memory that exists has a note more, and what follows from it. p_via: the merged memory that brings it.
CREATE FUNCTION slowwave.note_again(
    p_memory_id uuid, p_via uuid, p_item uuid, p_run_id bigint, p_by text, p_confidence double precision,
    p_importance double precision, p_trust text, p_said_at timestamptz, p_reason text, p_now timestamptz
) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    v_old record;
BEGIN
    SELECT m.confidence, m.importance, m.valid_from INTO STRICT v_old
    FROM slowwave.memories m
    WHERE m.id = p_memory_id
    FOR UPDATE;
    INSERT INTO slowwave.memory_notes (memory_id, working_id, confidence, importance, trust, holds_from, via)
    VALUES (p_memory_id, p_item, p_confidence, p_importance, p_trust, p_said_at, p_via)
    ON CONFLICT DO NOTHING;
    PERFORM slowwave.weigh_memory(p_memory_id, p_now);
    INSERT INTO slowwave.memory_changes (memory_id, run_id, made_by, action, before, after, reason, made_at)
    SELECT p_memory_id, p_run_id, p_by, 'repeated',
           jsonb_build_object('confidence', v_old.confidence, 'importance', v_old.importance,
                              'valid_from', v_old.valid_from),
           jsonb_build_object('confidence', m.confidence, 'importance', m.importance, 'valid_from', m.valid_from,
                              'noted', p_item),
           p_reason, p_now
    FROM slowwave.memories m WHERE m.id = p_memory_id;
END
$$;

-- working_statistics: what became of all that was ever noted in a scope, and what its cycles did. The items add up:
-- noted = open + consolidated + duplicates + expired + failed. A run that was undone counts no more.
CREATE FUNCTION slowwave.working_statistics(
    p_tenant text, p_scope_kind text, p_scope_name text, p_now timestamptz DEFAULT NULL,
    OUT noted bigint, OUT open bigint, OUT marked bigint, OUT consolidated bigint, OUT duplicates bigint,
    OUT expired bigint, OUT failed bigint,
    OUT running boolean, OUT runs bigint, OUT failed_runs bigint, OUT last_run_at timestamptz, OUT last_error text,
    OUT persisted bigint, OUT links bigint, OUT triples bigint, OUT duration_ms bigint, OUT last_duration_ms bigint
)
LANGUAGE sql STABLE
AS $$
    WITH scope AS (
        SELECT k.id FROM slowwave.scopes k
        WHERE k.tenant = p_tenant AND k.kind = p_scope_kind AND k.name = p_scope_name
    ), items AS (
        SELECT count(*) AS noted,
               count(*) FILTER (WHERE w.outcome IS NULL) AS open,
               count(*) FILTER (WHERE w.outcome IS NULL AND w.marked) AS marked,
               count(*) FILTER (WHERE w.outcome = 'consolidated') AS consolidated,
               count(*) FILTER (WHERE w.outcome = 'duplicate') AS duplicates,
               count(*) FILTER (WHERE w.outcome = 'expired') AS expired,
               count(*) FILTER (WHERE w.outcome = 'failed') AS failed
        FROM slowwave.working_memory w JOIN scope ON scope.id = w.scope_id
    ), cycles AS (
        SELECT r.*, r.status = 'completed' AS done
        FROM slowwave.maintenance_runs r JOIN scope ON scope.id = r.scope_id
        WHERE r.kind = 'working'
    ), sums AS (
        SELECT coalesce(bool_or(c.status = 'running' AND c.lease_until > coalesce(p_now, clock_timestamp())), false)
                   AS running,
               count(*) FILTER (WHERE c.done) AS runs,
               count(*) FILTER (WHERE c.status = 'failed') AS failed_runs,
               coalesce(sum((c.stats ->> 'persisted')::bigint) FILTER (WHERE c.done), 0) AS persisted,
               coalesce(sum((c.stats ->> 'links')::bigint) FILTER (WHERE c.done), 0) AS links,
               coalesce(sum((c.stats ->> 'triples')::bigint) FILTER (WHERE c.done), 0) AS triples,
               coalesce(sum((c.stats ->> 'duration_ms')::bigint) FILTER (WHERE c.done), 0) AS duration_ms
        FROM cycles c
    ), latest AS (
        SELECT c.completed_at, c.error, (c.stats ->> 'duration_ms')::bigint AS duration_ms
        FROM cycles c
        WHERE c.status IN ('completed', 'failed')
        ORDER BY c.id DESC
        LIMIT 1
    )
    SELECT i.noted, i.open, i.marked, i.consolidated, i.duplicates, i.expired, i.failed,
           s.running, s.runs, s.failed_runs, l.completed_at, l.error,
           s.persisted::bigint, s.links::bigint, s.triples::bigint, s.duration_ms::bigint, l.duration_ms
    FROM items i CROSS JOIN sums s LEFT JOIN latest l ON true
$$;
