-- What an agent should know when a conversation begins, in one call: its scopes, days, memories, contradictions and what
-- is being said elsewhere. One answer instead of six spares a reader the ways there and back, and most of the planning:
-- the numbers below are no values, so that their plans are made once for a connection. Where the last few of many are
-- asked for, an index has their order: a bitmap has none, and would take all to be sorted.
--
-- wanted_kinds, wanted_names: the scopes that are read, at most 21. own_session: left out, '' for none. at_time: now.
-- wanted_days: how many local days. relevant: memories that a question has found, of which nothing is weighed again;
-- empty: the weightiest are read. Lists of JSON objects, NULL where there is nothing; no row at all if no scope is there.
CREATE OR REPLACE FUNCTION slowwave.read_context(
    reader_tenant text, reader_agent text, wanted_kinds text[], wanted_names text[], own_session text,
    at_time timestamptz, wanted_days integer, relevant uuid[], line_characters integer, raw_characters integer
) RETURNS TABLE (
    known_scopes json, memories json, unflushed json, summaries json, unsummarised json, conflicts json
)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET plan_cache_mode = force_generic_plan
SET enable_bitmapscan = off
AS $$
DECLARE
    ids bigint[];
    reader_id bigint;
    since_day date;
    shown uuid[];
BEGIN
    IF session_user <> current_user THEN PERFORM slowwave.require_tenant(reader_tenant); END IF;
    SELECT array_agg(k.id ORDER BY k.id), json_agg(json_build_array(k.id, k.kind, k.name))
    INTO ids, known_scopes
    FROM unnest(wanted_kinds, wanted_names) AS wanted (kind, name)
    JOIN slowwave.scopes k ON k.tenant = reader_tenant AND k.kind = wanted.kind AND k.name = wanted.name
    -- What a forgotten agent left is on its way out: nobody reads it meanwhile (I10).
    WHERE NOT (k.kind = 'agent' AND EXISTS (
        SELECT FROM slowwave.agents a WHERE a.tenant = k.tenant AND a.name = k.name AND a.deleted_at IS NOT NULL));
    IF ids IS NULL THEN
        RETURN;
    END IF;

    SELECT max(a.id),
           slowwave.local_day(at_time, coalesce(max(a.time_zone), 'UTC'), coalesce(max(a.cutoff_hour), 0)) - wanted_days + 1
    INTO reader_id, since_day
    FROM slowwave.agents a
    WHERE a.tenant = reader_tenant AND a.name = reader_agent;

    -- The most important and the newest of each scope, weighed by importance and age. Both ends of two indexes are read,
    -- never a scope: 60 rows of each, of which at most 45 are chosen.
    WITH pool AS MATERIALIZED (
        SELECT b.id, b.valid_from,
               -- Half of its weight after a month, a third after two: what mattered once is never quite gone.
               b.importance / (1 + greatest(extract(epoch FROM at_time - b.valid_from)::float8, 0) / 2592000) AS weight
        FROM unnest(ids) AS k (id)
        CROSS JOIN LATERAL (
            (SELECT i.id, i.valid_from, i.importance FROM slowwave.memories i
             WHERE i.scope_id = k.id AND i.status IN ('inbox', 'episode', 'active') AND i.valid_to IS NULL
             ORDER BY i.importance DESC, i.valid_from DESC
             LIMIT 60)
            UNION
            (SELECT n.id, n.valid_from, n.importance
             FROM (SELECT * FROM slowwave.memories m
                   WHERE m.scope_id = k.id AND m.status <> 'archived'
                   ORDER BY m.valid_from DESC
                   OFFSET 0) AS n
             WHERE n.status IN ('inbox', 'episode', 'active') AND n.valid_to IS NULL
             LIMIT 60)
        ) AS b
    ), placed AS MATERIALIZED (
        SELECT p.*, p.valid_from >= at_time - make_interval(hours => 24 * wanted_days) AS recent,
               row_number() OVER (ORDER BY p.weight DESC, p.id DESC) AS by_weight,
               row_number() OVER (ORDER BY p.valid_from DESC, p.id DESC) AS by_age
        FROM pool p
    ), chosen AS MATERIALIZED (
        -- As many more new ones as may stand among the weighty already.
        SELECT p.id, p.weight, p.by_weight, p.recent
        FROM placed p
        WHERE p.by_weight <= CASE WHEN cardinality(relevant) = 0 THEN 15 ELSE 0 END OR p.recent AND p.by_age <= 30
        LIMIT 45
    ), origins AS (
        -- Of all of them at once: one by one would read the sessions as often.
        SELECT x.memory_id, json_agg(json_build_array(x.session_id, s.name, x.seq) ORDER BY s.id, x.seq) AS sources
        FROM chosen c
        JOIN slowwave.memory_sources x ON x.memory_id = c.id
        JOIN slowwave.sessions s ON s.id = x.session_id
        GROUP BY x.memory_id
    )
    SELECT json_agg(q ORDER BY q.by_weight), array_agg(q.id) INTO memories, shown
    FROM (
        SELECT m.id, NULL::bigint AS seq, m.content, m.status, m.valid_from, m.scope_id, m.type, NULL AS speaker,
               c.weight, c.by_weight, c.recent, coalesce(o.sources, '[]') AS sources
        FROM chosen c
        JOIN slowwave.memories m ON m.id = c.id
        LEFT JOIN origins o ON o.memory_id = c.id
    ) AS q;
    shown := coalesce(shown, '{}') || relevant;

    -- The last events that no flush has read yet, of the sessions that were seen last, but for the reader's own.
    SELECT json_agg(q ORDER BY q.last_seen_at DESC, q.session_id, q.seq) INTO unflushed
    FROM (
        SELECT s.name AS session, a.name AS agent, s.scope_id, e.seq, coalesce(e.name, e.role) AS speaker,
               left(e.content, line_characters) AS content, e.happened_at, s.last_seen_at, s.id AS session_id
        FROM (
            SELECT d.* FROM unnest(ids) AS k (id)
            CROSS JOIN LATERAL (
                SELECT d.id, d.agent_id, d.name, d.scope_id, d.processed_until, d.last_seen_at
                FROM slowwave.sessions d
                WHERE d.scope_id = k.id AND d.dirty_since IS NOT NULL
                  AND NOT (d.name = own_session AND d.agent_id IS NOT DISTINCT FROM reader_id)
                ORDER BY d.last_seen_at DESC
                LIMIT 6
            ) AS d
            ORDER BY d.last_seen_at DESC
            LIMIT 6
        ) AS s
        JOIN slowwave.agents a ON a.id = s.agent_id
        CROSS JOIN LATERAL (
            SELECT * FROM slowwave.events e
            WHERE e.session_id = s.id AND e.seq > s.processed_until
            ORDER BY e.seq DESC
            LIMIT 10
        ) AS e
        WHERE e.kind <> 'task' OR e.metadata ->> 'event' IN ('run_queued', 'run_finished', 'run_failed', 'run_blocked')
    ) AS q;

    -- The newest summary of each day, of each agent that writes to these scopes.
    WITH newest AS (
        -- Without their lines, which are long: of most versions only the number is looked at. The reader's own apart
        -- from those of others, so that a room of many agents leaves them their place.
        (SELECT DISTINCT ON (v.day, v.scope_id) v.id
         FROM slowwave.day_summaries v
         WHERE v.scope_id = ANY (ids) AND v.day >= since_day AND v.agent_id = reader_id
         ORDER BY v.day DESC, v.scope_id, v.version DESC
         LIMIT 60)
        UNION ALL
        -- Of each scope the first by an index: there may be very many agents.
        (SELECT v.id
         FROM unnest(ids) AS k (id)
         CROSS JOIN LATERAL (
             SELECT DISTINCT ON (v.day, v.agent_id) v.id, v.day, v.agent_id, v.scope_id
             FROM slowwave.day_summaries v
             WHERE v.scope_id = k.id AND v.day >= since_day AND v.agent_id IS DISTINCT FROM reader_id
             ORDER BY v.day DESC, v.agent_id, v.version DESC
             LIMIT 60
         ) AS v
         ORDER BY v.day DESC, v.agent_id, v.scope_id
         LIMIT 60)
    )
    SELECT json_agg(q) INTO summaries
    FROM (
        SELECT v.day, a.name AS agent, v.scope_id, v.version, v.lines,
               CASE WHEN v.lines = '[]' THEN left(v.text, 8000) ELSE '' END AS text,
               -- What was decided last is true only while nothing has been added (I5).
               v.final AND NOT EXISTS (
                   SELECT FROM slowwave.session_days d
                   WHERE d.pending AND d.day = v.day AND d.agent_id = v.agent_id AND d.scope_id = v.scope_id) AS final
        FROM newest n
        JOIN slowwave.day_summaries v ON v.id = n.id
        JOIN slowwave.agents a ON a.id = v.agent_id AND a.deleted_at IS NULL
    ) AS q;

    -- Of these days the last events that no summary covers, but for the reader's own session: of at most 6 sessions a
    -- day, 40 in all. They are those that were seen last, among the 50 of each scope and day that began last.
    WITH open_days AS (
        SELECT d.session_id, d.day, d.agent_id, d.scope_id, d.from_seq, d.to_seq, s.name,
               d.total_messages - d.summarized AS beyond,
               row_number() OVER (PARTITION BY d.day ORDER BY s.last_seen_at DESC, s.id) AS place
        FROM unnest(ids) AS k (id)
        -- Each day by itself; what lies after the last of them as one more.
        CROSS JOIN generate_series(0, wanted_days) AS n (place)
        CROSS JOIN LATERAL (
            SELECT * FROM slowwave.session_days d
            WHERE d.pending AND d.scope_id = k.id AND d.day >= since_day + n.place
              AND d.day <= CASE WHEN n.place < wanted_days THEN since_day + n.place ELSE 'infinity' END
            ORDER BY d.day DESC, d.session_id DESC
            LIMIT 50
        ) AS d
        JOIN slowwave.sessions s ON s.id = d.session_id
        WHERE NOT (s.name = own_session AND s.agent_id IS NOT DISTINCT FROM reader_id)
    )
    SELECT json_agg(q ORDER BY q.day DESC, q.happened_at, q.session_id, q.seq) INTO unsummarised
    FROM (
        SELECT d.day, a.name AS agent, d.scope_id, d.name AS session, e.seq, coalesce(e.name, e.role) AS speaker,
               left(coalesce(p.redacted, e.content), raw_characters) AS content, e.happened_at, e.session_id
        FROM (SELECT * FROM open_days o WHERE o.place <= 6 ORDER BY o.day DESC, o.place LIMIT 40) AS d
        JOIN slowwave.agents a ON a.id = d.agent_id AND a.deleted_at IS NULL
        CROSS JOIN LATERAL (
            -- A session's summary covers the first of the day's events: what it doesn't are the last ones. No more than
            -- a thousand events are looked through for them.
            SELECT * FROM slowwave.events e
            WHERE e.session_id = d.session_id AND e.day = d.day
              AND e.seq BETWEEN greatest(d.from_seq, d.to_seq - 1000) AND d.to_seq
            ORDER BY e.seq DESC
            LIMIT least(d.beyond, 8)
        ) AS e
        LEFT JOIN slowwave.passages p ON p.session_id = e.session_id AND p.seq = e.seq
        WHERE e.kind <> 'task' OR e.metadata ->> 'event' IN ('run_queued', 'run_finished', 'run_failed', 'run_blocked')
    ) AS q;

    -- Open contradictions: those of the memories above, and of the newest those that matter. Both sides must
    -- hold as far as anybody has decided; the one that holds longer first.
    IF NOT EXISTS (SELECT FROM slowwave.memory_conflicts c WHERE c.scope_id = ANY (ids) AND c.status = 'open') THEN
        RETURN NEXT;
        RETURN;
    END IF;
    -- Each table is asked for by key, one row after the other, and what else must hold is looked at afterwards (OFFSET 0
    -- keeps these apart). Joined freely, a planner without statistics takes those that hold for next to none, and pairs
    -- all memories with all.
    WITH named AS MATERIALIZED (
        SELECT c.id
        FROM unnest(shown) AS k (id)
        CROSS JOIN LATERAL (
            SELECT s.id, s.status FROM slowwave.memory_conflicts s WHERE s.memory_id = k.id OFFSET 0
        ) AS c
        WHERE c.status = 'open'
        UNION
        SELECT c.id
        FROM unnest(shown) AS k (id)
        CROSS JOIN LATERAL (
            SELECT s.id, s.status FROM slowwave.memory_conflicts s WHERE s.conflicting_memory_id = k.id OFFSET 0
        ) AS c
        WHERE c.status = 'open'
        UNION
        (SELECT c.id
         FROM unnest(ids) AS k (id)
         CROSS JOIN LATERAL (
             SELECT s.id FROM slowwave.memory_conflicts s
             WHERE s.scope_id = k.id AND s.status = 'open'
             ORDER BY s.id DESC
             LIMIT 100
         ) AS c
         ORDER BY c.id DESC
         LIMIT 100)
    ), disputed AS (
        SELECT c.id, c.reason, ARRAY[o.id, n.id] AS sides, greatest(o.importance, n.importance) AS importance,
               o.id = ANY (shown) OR n.id = ANY (shown) AS is_shown
        FROM named k
        CROSS JOIN LATERAL (SELECT * FROM slowwave.memory_conflicts s WHERE s.id = k.id OFFSET 0) AS c
        CROSS JOIN LATERAL (SELECT * FROM slowwave.memories s WHERE s.id = c.memory_id OFFSET 0) AS o
        CROSS JOIN LATERAL (SELECT * FROM slowwave.memories s WHERE s.id = c.conflicting_memory_id OFFSET 0) AS n
        WHERE c.scope_id = ANY (ids)
          AND o.status IN ('inbox', 'episode', 'active') AND o.valid_to IS NULL
          AND n.status IN ('inbox', 'episode', 'active') AND n.valid_to IS NULL
          AND (o.id = ANY (shown) OR n.id = ANY (shown) OR greatest(o.importance, n.importance) >= 0.7)
        ORDER BY is_shown DESC, importance DESC, c.id DESC
        LIMIT 8
    )
    SELECT json_agg(q ORDER BY q.is_shown DESC, q.weighty DESC, q.conflict DESC, q.valid_from, q.id) INTO conflicts
    FROM (
        SELECT c.id AS conflict, c.reason, c.is_shown, c.importance AS weighty, m.id, NULL::bigint AS seq, m.content,
               m.status, m.valid_from, m.scope_id, m.type, NULL AS speaker, m.importance AS weight,
               coalesce((
                   SELECT json_agg(json_build_array(x.session_id, s.name, x.seq) ORDER BY s.id, x.seq)
                   FROM slowwave.memory_sources x
                   JOIN slowwave.sessions s ON s.id = x.session_id
                   WHERE x.memory_id = m.id
               ), '[]') AS sources
        FROM disputed c
        JOIN slowwave.memories m ON m.id = ANY (c.sides)
    ) AS q;
    RETURN NEXT;
END
$$;
