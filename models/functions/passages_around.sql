-- passages_around: return the passages before and after some passages, in the order of their sessions.
--
--   p_sessions, p_seqs, p_parts  the passages, one in each place of the three lists
--   p_around                     how many passages to read on each side, of the same event or the next ones
--
-- place is the number of the passage in the lists, from 1. side is -1 before it and 1 after it. Passages of events of
-- tools are left out. A passage that is not in p_scopes has no neighbours (I8).
CREATE OR REPLACE FUNCTION slowwave.passages_around(
    p_scopes bigint[], p_sessions bigint[], p_seqs bigint[], p_parts integer[], p_around integer
) RETURNS TABLE (place bigint, side integer, seq bigint, part integer, speaker text, content text)
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $$
#variable_conflict use_column
BEGIN
    IF session_user <> current_user THEN PERFORM slowwave.require_scopes(p_scopes); END IF;
    RETURN QUERY
    SELECT w.place, n.side, n.seq, n.part, coalesce(e.name, e.role),
           CASE WHEN n.ends IS NULL THEN coalesce(n.redacted, e.content)
                ELSE substr(coalesce(o.redacted, e.content), n.begins + 1, n.ends - n.begins) END
    FROM unnest(p_sessions, p_seqs, p_parts) WITH ORDINALITY AS w (session_id, seq, part, place)
    CROSS JOIN LATERAL (
        (SELECT -1 AS side, p.* FROM slowwave.passages p
         WHERE p.session_id = w.session_id AND (p.seq, p.part) < (w.seq, w.part) AND p.scope_id = ANY (p_scopes)
         ORDER BY p.seq DESC, p.part DESC
         LIMIT p_around)
        UNION ALL
        (SELECT 1, p.* FROM slowwave.passages p
         WHERE p.session_id = w.session_id AND (p.seq, p.part) > (w.seq, w.part) AND p.scope_id = ANY (p_scopes)
         ORDER BY p.seq, p.part
         LIMIT p_around)
    ) AS n
    JOIN slowwave.events e ON e.session_id = w.session_id AND e.seq = n.seq
    LEFT JOIN slowwave.passages o ON o.session_id = w.session_id AND o.seq = n.seq AND o.part = 0
    WHERE e.kind <> 'tool'
    ORDER BY w.place, n.seq, n.part;
END
$$;
