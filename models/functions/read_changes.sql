-- read_changes: return the changes of a tenant's memories after a cursor, in the order (xid, id).
--
--   p_after    "xid-id", as an earlier answer has it; "0-0" begins with the oldest change; NULL answers only a cursor that
--              stands at the end
--   p_places   LIKE patterns of "agent:NAME", "room:NAME" or "team:NAME"; NULL means every scope of the tenant
--   p_scan     the most rows of the ledger that one call looks at, those of other tenants included
--
-- The answer is {cursor, more, waits, events} or {problem}. waits: changes are committed that an older transaction, which
-- still runs, keeps from being read. problem is 'unknown' for a cursor that this database never gave, and
-- 'old' for one after which tombstones were removed, so that a reader could miss that a memory is gone.
--
-- Ids are given before the commit: a reader of "id > last" would lose rows of a transaction that commits later. So only
-- rows of transactions below the oldest one still running are read. No later commit adds a row in front of them.
--
-- A flush does not wait for the disk. If Postgres crashes, it loses the last commits and gives their transaction ids
-- again. So the log is on disk before any cursor leaves this function: pg_logical_emit_message flushes it.
--
-- Most readers want nearly every row, so the function first looks at p_limit rows, and at p_scan rows only if those did
-- not fill the answer.
--
-- What a memory says is read at this moment, never stored with the change: forgotten words do not leave.
CREATE OR REPLACE FUNCTION slowwave.read_changes(
    p_tenant text, p_after text, p_places text[], p_limit integer, p_scan integer DEFAULT 5000
) RETURNS jsonb
LANGUAGE plpgsql STABLE
AS $$
DECLARE
    v_horizon xid8 := pg_snapshot_xmin(pg_current_snapshot());
    v_xid xid8;
    v_id bigint;
    v_found jsonb;
    v_events jsonb;
    v_waits boolean;
    v_scanned integer;
    v_scan integer := least(p_limit, p_scan);
BEGIN
    IF session_user <> current_user THEN PERFORM slowwave.require_tenant(p_tenant); END IF;
    IF p_after IS NULL THEN
        PERFORM pg_logical_emit_message(false, 'slowwave', '', true);
        RETURN jsonb_build_object(
            'cursor', v_horizon::text || '-0', 'more', false, 'waits', false, 'events', '[]'::jsonb);
    END IF;
    v_xid := split_part(p_after, '-', 1)::xid8;
    v_id := split_part(p_after, '-', 2)::bigint;
    IF v_xid > pg_snapshot_xmax(pg_current_snapshot()) THEN
        RETURN jsonb_build_object('problem', 'unknown');
    END IF;
    PERFORM FROM slowwave.memory_tombstones t WHERE t.memory_id IS NULL AND (t.xid, t.id) > (v_xid, v_id);
    IF FOUND AND p_after <> '0-0' THEN
        RETURN jsonb_build_object('problem', 'old');
    END IF;
    LOOP
        WITH changed AS MATERIALIZED (
            SELECT c.xid, c.id, c.memory_id, c.action, c.before, c.after, c.reason, c.run_id, c.made_at, false AS gone,
                   NULL::bigint AS scope_id
            FROM slowwave.memory_changes c
            WHERE (c.xid, c.id) > (v_xid, v_id) AND c.xid < v_horizon
            ORDER BY c.xid, c.id
            LIMIT v_scan
        ), removed AS MATERIALIZED (
            SELECT t.xid, t.id, t.memory_id, t.cause, NULL::jsonb, NULL::jsonb, t.cause, NULL::bigint, t.made_at, true,
                   t.scope_id
            FROM slowwave.memory_tombstones t
            WHERE (t.xid, t.id) > (v_xid, v_id) AND t.xid < v_horizon
            ORDER BY t.xid, t.id
            LIMIT v_scan
        ), scanned AS MATERIALIZED (
            SELECT * FROM (SELECT * FROM changed UNION ALL SELECT * FROM removed) AS u ORDER BY u.xid, u.id LIMIT v_scan
        ), seen AS MATERIALIZED (
            SELECT s.xid, s.id, s.run_id, s.reason, s.made_at, s.memory_id, s.gone,
                   m.type, m.status, m.content, m.valid_from, m.valid_to, m.revision, k.kind, k.name,
                   slowwave.change_type(s.gone, s.action, s.before, s.after) AS change_type
            FROM scanned s
            LEFT JOIN slowwave.memories m ON NOT s.gone AND m.id = s.memory_id
            JOIN slowwave.scopes k ON k.id = coalesce(s.scope_id, m.scope_id)
            WHERE k.tenant = p_tenant AND s.memory_id IS NOT NULL
              AND (p_places IS NULL OR k.kind || ':' || k.name LIKE ANY (p_places))
              -- The data of a forgotten agent is being deleted: only that it goes is told (I10).
              AND (s.gone OR NOT (k.kind = 'agent' AND EXISTS (
                  SELECT FROM slowwave.agents a
                  WHERE a.tenant = k.tenant AND a.name = k.name AND a.deleted_at IS NOT NULL)))
            ORDER BY s.xid, s.id
            LIMIT p_limit
        )
        SELECT jsonb_build_object(
                   'scanned', (SELECT count(*) FROM scanned),
                   'last', (SELECT s.xid::text || '-' || s.id FROM scanned s ORDER BY s.xid DESC, s.id DESC LIMIT 1)),
               (SELECT jsonb_agg(jsonb_build_object(
                           'id', e.xid::text || '-' || e.id, 'type', e.change_type,
                           'memory', jsonb_build_object(
                               'id', e.memory_id, 'scope', e.kind || ':' || e.name,
                               'agent', CASE WHEN e.kind = 'agent' THEN e.name END,
                               'type', e.type, 'status', e.status, 'content', e.content, 'valid_from', e.valid_from,
                               'valid_to', e.valid_to, 'revision', e.revision),
                           'reason', e.reason, 'run', e.run_id, 'at', e.made_at) ORDER BY e.xid, e.id)
                FROM seen e)
        INTO v_found, v_events;
        v_scanned := (v_found ->> 'scanned')::integer;
        EXIT WHEN v_scan >= p_scan OR v_scanned < v_scan OR jsonb_array_length(v_events) = p_limit;
        v_scan := p_scan;
    END LOOP;
    v_waits := EXISTS (SELECT FROM slowwave.memory_changes c WHERE c.xid >= v_horizon)
        OR EXISTS (SELECT FROM slowwave.memory_tombstones t WHERE t.xid >= v_horizon);
    IF v_scanned = 0 THEN
        RETURN jsonb_build_object('cursor', p_after, 'more', false, 'waits', v_waits, 'events', '[]'::jsonb);
    END IF;
    PERFORM pg_logical_emit_message(false, 'slowwave', '', true);
    IF jsonb_array_length(v_events) = p_limit THEN
        RETURN jsonb_build_object('cursor', v_events -> -1 -> 'id', 'more', true, 'waits', v_waits,
                                  'events', v_events);
    END IF;
    RETURN jsonb_build_object('cursor', v_found -> 'last', 'more', v_scanned = v_scan,
                              'waits', v_waits, 'events', coalesce(v_events, '[]'::jsonb));
END
$$;
