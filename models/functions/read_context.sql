-- read_context: return the context that an agent needs when a conversation begins, in one call.
--
-- The row holds the agent's scopes, standing instructions, the profile of the person spoken to, days, memories and
-- contradictions, and the latest events of other sessions. One
-- call instead of six saves the reader round trips and most of the planning time. The limits below are literals, not
-- parameters, so that Postgres plans each statement once per connection. Where a statement reads the last few of many
-- rows, an index returns them in order. A bitmap scan has no order, so Postgres would read and sort all rows.
--
-- wanted_kinds, wanted_names: the scopes to read, at most 21. own_session: the session to leave out, '' for none.
-- at_time: the current time. wanted_days: the number of local days to read.
-- relevant: the memories that a search found. The function does not score them again. If the list is empty, the
--   function reads the memories with the highest weight.
-- Each column is a list of JSON objects, or NULL if there are none. The function returns no row if none of the scopes
-- exists.
CREATE OR REPLACE FUNCTION slowwave.read_context(
    reader_tenant text, reader_agent text, wanted_kinds text[], wanted_names text[], own_session text,
    at_time timestamptz, wanted_days integer, relevant uuid[], line_characters integer, raw_characters integer
) RETURNS TABLE (
    known_scopes json, memories json, unflushed json, summaries json, unsummarised json, conflicts json,
    instructions json, instructions_beyond bigint, person text, profile json
)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET plan_cache_mode = force_generic_plan
SET enable_bitmapscan = off
AS $$
DECLARE
    ids bigint[];
    reader_id bigint;
    own_scope bigint;
    spoken_to text;
    since_day date;
    shown uuid[];
BEGIN
    IF session_user <> current_user THEN PERFORM slowwave.require_tenant(reader_tenant); END IF;
    SELECT array_agg(k.id ORDER BY k.id), json_agg(json_build_array(k.id, k.kind, k.name))
    INTO ids, known_scopes
    FROM unnest(wanted_kinds, wanted_names) AS wanted (kind, name)
    JOIN slowwave.scopes k ON k.tenant = reader_tenant AND k.kind = wanted.kind AND k.name = wanted.name
    -- The data of a forgotten agent is being deleted. No query reads it in the meantime (I10).
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

    -- Standing instructions, of each scope the newest 300 by an index. What an assistant noted of its own accord is no
    -- instruction of a person. instructions_beyond: how many of up to 2,000 a scope has besides.
    WITH standing AS MATERIALIZED (
        SELECT i.*
        FROM unnest(ids) AS k (id)
        CROSS JOIN LATERAL (
            SELECT m.id, m.content, m.valid_from, m.reaffirmed_at, m.scope_id, m.trust
            FROM slowwave.memories m
            WHERE m.scope_id = k.id AND m.type = 'instruction' AND m.status IN ('inbox', 'episode', 'active')
              AND m.valid_to IS NULL
            ORDER BY m.reaffirmed_at DESC
            LIMIT 300
        ) AS i
    )
    SELECT json_agg(q ORDER BY q.reaffirmed_at DESC, q.id DESC) INTO instructions
    FROM (
        SELECT s.id, s.content, s.valid_from, s.reaffirmed_at, s.scope_id FROM standing s
        WHERE s.trust IN ('hand', 'user', 'import')
        ORDER BY s.reaffirmed_at DESC, s.id DESC
        LIMIT 300
    ) AS q;
    instructions_beyond := 0;
    IF json_array_length(instructions) = 300 THEN
        SELECT sum(c.held) - 300 INTO instructions_beyond
        FROM unnest(ids) AS k (id)
        CROSS JOIN LATERAL (
            SELECT count(*) AS held FROM (
                SELECT FROM slowwave.memories m
                WHERE m.scope_id = k.id AND m.type = 'instruction' AND m.status IN ('inbox', 'episode', 'active')
                  AND m.valid_to IS NULL
                LIMIT 2000
            ) AS m
        ) AS c;
    END IF;

    -- The person spoken to: who spoke last in the reader's session. Without one: the unnamed user of the agent's own
    -- scope, or the one person of whom it knows something. In rooms only somebody with a name is told apart from others.
    SELECT k.id INTO own_scope FROM slowwave.scopes k
    WHERE k.id = ANY (ids) AND k.kind = 'agent' AND k.name = reader_agent;
    SELECT lower(coalesce(e.name, 'the user')) INTO spoken_to
    FROM (
        SELECT e.kind, e.name FROM slowwave.sessions s
        JOIN slowwave.events e ON e.session_id = s.id AND e.seq > s.last_seq - 40
        WHERE s.agent_id = reader_id AND s.name = own_session
        ORDER BY e.seq DESC
    ) AS e
    WHERE e.kind = 'user'
    LIMIT 1;
    IF spoken_to IS NULL AND own_scope IS NOT NULL THEN
        SELECT CASE WHEN p.has_user THEN 'the user' WHEN p.first = p.last THEN p.first END INTO spoken_to
        FROM (
            SELECT min(m.profile -> 0 ->> 'person') AS first, max(m.profile -> 0 ->> 'person') AS last,
                   bool_or(m.profile -> 0 ->> 'person' = 'the user') AS has_user
            FROM (
                (SELECT m.profile FROM slowwave.memories m
                 WHERE m.scope_id = own_scope AND m.profile -> 0 IS NOT NULL
                   AND m.status IN ('inbox', 'episode', 'active') AND m.valid_to IS NULL
                 ORDER BY m.profile -> 0 ->> 'person'
                 LIMIT 1)
                UNION ALL
                (SELECT m.profile FROM slowwave.memories m
                 WHERE m.scope_id = own_scope AND m.profile -> 0 IS NOT NULL
                   AND m.status IN ('inbox', 'episode', 'active') AND m.valid_to IS NULL
                 ORDER BY m.profile -> 0 ->> 'person' DESC
                 LIMIT 1)
                UNION ALL
                (SELECT m.profile FROM slowwave.memories m
                 WHERE m.scope_id = own_scope AND m.profile -> 0 IS NOT NULL
                   AND m.profile -> 0 ->> 'person' = 'the user'
                   AND m.status IN ('inbox', 'episode', 'active') AND m.valid_to IS NULL
                 LIMIT 1)
            ) AS m
        ) AS p;
    END IF;
    person := spoken_to;
    -- Of each attribute of that person the six statements said last: the indexes skip from attribute to attribute, so
    -- that an old statement is found behind any number of others.
    WITH RECURSIVE places AS (
        SELECT k.id FROM unnest(ids) AS k (id) WHERE k.id = own_scope OR spoken_to <> 'the user'
    ), firsts (id, attribute) AS (
        SELECT p.id, f.attribute FROM places p
        CROSS JOIN LATERAL (
            SELECT m.profile -> 0 ->> 'attribute' AS attribute FROM slowwave.memories m
            WHERE m.scope_id = p.id AND m.profile -> 0 ->> 'person' = spoken_to AND m.profile -> 0 IS NOT NULL
              AND m.status IN ('inbox', 'episode', 'active') AND m.valid_to IS NULL
            ORDER BY 1 LIMIT 1
        ) AS f
        UNION ALL
        SELECT p.id, f.attribute FROM firsts p
        CROSS JOIN LATERAL (
            SELECT m.profile -> 0 ->> 'attribute' AS attribute FROM slowwave.memories m
            WHERE m.scope_id = p.id AND m.profile -> 0 ->> 'person' = spoken_to AND m.profile -> 0 IS NOT NULL
              AND m.profile -> 0 ->> 'attribute' > p.attribute
              AND m.status IN ('inbox', 'episode', 'active') AND m.valid_to IS NULL
            ORDER BY 1 LIMIT 1
        ) AS f
    ), seconds (id, attribute) AS (
        SELECT p.id, f.attribute FROM places p
        CROSS JOIN LATERAL (
            SELECT m.profile -> 1 ->> 'attribute' AS attribute FROM slowwave.memories m
            WHERE m.scope_id = p.id AND m.profile -> 1 ->> 'person' = spoken_to AND m.profile -> 1 IS NOT NULL
              AND m.status IN ('inbox', 'episode', 'active') AND m.valid_to IS NULL
            ORDER BY 1 LIMIT 1
        ) AS f
        UNION ALL
        SELECT p.id, f.attribute FROM seconds p
        CROSS JOIN LATERAL (
            SELECT m.profile -> 1 ->> 'attribute' AS attribute FROM slowwave.memories m
            WHERE m.scope_id = p.id AND m.profile -> 1 ->> 'person' = spoken_to AND m.profile -> 1 IS NOT NULL
              AND m.profile -> 1 ->> 'attribute' > p.attribute
              AND m.status IN ('inbox', 'episode', 'active') AND m.valid_to IS NULL
            ORDER BY 1 LIMIT 1
        ) AS f
    )
    SELECT json_agg(q ORDER BY q.reaffirmed_at DESC, q.id DESC) INTO profile
    FROM (
        SELECT m.* FROM firsts f
        CROSS JOIN LATERAL (
            SELECT m.id, m.valid_from, m.reaffirmed_at, m.trust, m.content, m.profile -> 0 AS trait
            FROM slowwave.memories m
            WHERE m.scope_id = f.id AND m.profile -> 0 ->> 'person' = spoken_to
              AND m.profile -> 0 ->> 'attribute' = f.attribute AND m.profile -> 0 IS NOT NULL
              AND m.status IN ('inbox', 'episode', 'active') AND m.valid_to IS NULL
            ORDER BY m.reaffirmed_at DESC
            LIMIT 6
        ) AS m
        UNION ALL
        SELECT m.* FROM seconds f
        CROSS JOIN LATERAL (
            SELECT m.id, m.valid_from, m.reaffirmed_at, m.trust, m.content, m.profile -> 1 AS trait
            FROM slowwave.memories m
            WHERE m.scope_id = f.id AND m.profile -> 1 ->> 'person' = spoken_to
              AND m.profile -> 1 ->> 'attribute' = f.attribute AND m.profile -> 1 IS NOT NULL
              AND m.status IN ('inbox', 'episode', 'active') AND m.valid_to IS NULL
            ORDER BY m.reaffirmed_at DESC
            LIMIT 6
        ) AS m
    ) AS q;

    -- The most important and the newest memories of each scope, weighted by importance and age. The query reads the
    -- first 60 rows of each of two indexes, never a whole scope, and chooses at most 45 memories.
    WITH pool AS MATERIALIZED (
        SELECT b.id, b.valid_from,
               -- A memory keeps half of its weight after a month and a third after two months. The weight never reaches
               -- zero.
               b.importance / (1 + greatest(extract(epoch FROM at_time - b.valid_from)::float8, 0) / 2592000) AS weight
        FROM unnest(ids) AS k (id)
        CROSS JOIN LATERAL (
            (SELECT i.id, i.valid_from, slowwave.learned_importance(i.importance, i.use_gain) AS importance
             FROM slowwave.memories i
             WHERE i.scope_id = k.id AND i.status IN ('inbox', 'episode', 'active') AND i.valid_to IS NULL
             ORDER BY slowwave.learned_importance(i.importance, i.use_gain) DESC, i.valid_from DESC
             LIMIT 60)
            UNION
            (SELECT n.id, n.valid_from, slowwave.learned_importance(n.importance, n.use_gain)
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
        -- Up to 30 of the newest memories, because 15 of them may be among the 15 with the highest weight already.
        SELECT p.id, p.weight, p.by_weight, p.recent
        FROM placed p
        WHERE p.by_weight <= CASE WHEN cardinality(relevant) = 0 THEN 15 ELSE 0 END OR p.recent AND p.by_age <= 30
        LIMIT 45
    ), origins AS (
        -- Read the sources of all chosen memories at once. One query per memory would read the sessions as often.
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

    -- The last unflushed events of the sessions that were seen last, except the reader's own session. Tool events are left
    -- to searches: a listing would fill a context.
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
            WHERE e.session_id = s.id AND e.seq > s.processed_until AND e.kind <> 'tool'
            ORDER BY e.seq DESC
            LIMIT 10
        ) AS e
        WHERE e.kind <> 'task' OR e.metadata ->> 'event' IN ('run_queued', 'run_finished', 'run_failed', 'run_blocked')
    ) AS q;

    -- The newest summary of each day and of each agent that writes to these scopes.
    WITH newest AS (
        -- Select ids without the lines, which are long: of most versions the query needs only the number. The reader's
        -- own summaries have a limit of their own, so that a room of many agents does not displace them.
        (SELECT DISTINCT ON (v.day, v.scope_id) v.id
         FROM slowwave.day_summaries v
         WHERE v.scope_id = ANY (ids) AND v.day >= since_day AND v.agent_id = reader_id
         ORDER BY v.day DESC, v.scope_id, v.version DESC
         LIMIT 60)
        UNION ALL
        -- Read the first rows of each scope by an index, since there may be very many agents.
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
               -- The stored decision is valid only while no event has been added (I5).
               v.final AND NOT EXISTS (
                   SELECT FROM slowwave.session_days d
                   WHERE d.pending AND d.day = v.day AND d.agent_id = v.agent_id AND d.scope_id = v.scope_id) AS final
        FROM newest n
        JOIN slowwave.day_summaries v ON v.id = n.id
        JOIN slowwave.agents a ON a.id = v.agent_id AND a.deleted_at IS NULL
    ) AS q;

    -- The last events of these days that no summary covers, except the reader's own session: of at most 6 sessions a
    -- day, 40 in all. The query takes the sessions that were seen last, among the 50 sessions of each scope and day
    -- that began last.
    WITH open_days AS (
        SELECT d.session_id, d.day, d.agent_id, d.scope_id, d.from_seq, d.to_seq, s.name,
               d.total_messages - d.summarized AS beyond,
               row_number() OVER (PARTITION BY d.day ORDER BY s.last_seen_at DESC, s.id) AS place
        FROM unnest(ids) AS k (id)
        -- Read each day by itself, and everything after the last day as one more.
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
            -- A session's summary covers the first events of the day, so the last events are the uncovered ones. The
            -- query reads at most a thousand events to find them.
            SELECT * FROM (
                SELECT * FROM slowwave.events e
                WHERE e.session_id = d.session_id AND e.day = d.day
                  AND e.seq BETWEEN greatest(d.from_seq, d.to_seq - 1000) AND d.to_seq
                ORDER BY e.seq DESC
                LIMIT d.beyond
            ) AS e
            WHERE e.kind <> 'tool'
            ORDER BY e.seq DESC
            LIMIT 8
        ) AS e
        LEFT JOIN slowwave.passages p ON p.session_id = e.session_id AND p.seq = e.seq AND p.part = 0
        WHERE e.kind <> 'task' OR e.metadata ->> 'event' IN ('run_queued', 'run_finished', 'run_failed', 'run_blocked')
    ) AS q;

    -- Open contradictions: those of the memories above, and the important ones among the newest. Both sides must hold,
    -- as far as anybody has decided. The side that has held longer comes first.
    IF NOT EXISTS (SELECT FROM slowwave.memory_conflicts c WHERE c.scope_id = ANY (ids) AND c.status = 'open') THEN
        RETURN NEXT;
        RETURN;
    END IF;
    -- The query reads each table by key, one row after the other, and checks the other conditions afterwards (OFFSET 0
    -- keeps these steps apart). In a plain join, a planner without statistics estimates that almost no memory holds,
    -- and pairs all memories with all memories.
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
        -- Both sides lie in the scope of the conflict; a context shows neither side if one does not (I8).
        WHERE c.scope_id = ANY (ids) AND o.scope_id = c.scope_id AND n.scope_id = c.scope_id
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
