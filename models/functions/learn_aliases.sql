-- learn_aliases: store the aliases that a window teaches, with the events that say so.
--
-- p_aliases: [{name, alias, name_key, alias_key, sources: [seq, …]}, …], ordered by their keys so that two flushes of one
--   scope cannot deadlock.
-- A person's decision stays: a pair that was removed, in this or the other direction, gains the sources and stays removed.
CREATE OR REPLACE FUNCTION slowwave.learn_aliases(p_session_id bigint, p_aliases jsonb, p_now timestamptz) RETURNS void
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    v_scope bigint;
    v_pair record;
    v_id bigint;
BEGIN
    SELECT s.scope_id INTO v_scope FROM slowwave.sessions s WHERE s.id = p_session_id;
    FOR v_pair IN
        SELECT * FROM jsonb_to_recordset(p_aliases)
            AS x (name text, alias text, name_key text, alias_key text, sources bigint[])
    LOOP
        -- The update that changes nothing locks the row: a forget that deletes it waits.
        INSERT INTO slowwave.aliases AS a (scope_id, name, alias, name_key, alias_key, status, created_at)
        VALUES (v_scope, v_pair.name, v_pair.alias, v_pair.name_key, v_pair.alias_key,
                CASE WHEN EXISTS (
                    SELECT FROM slowwave.aliases o
                    WHERE o.scope_id = v_scope AND o.name_key = v_pair.alias_key AND o.alias_key = v_pair.name_key
                      AND o.status = 'removed') THEN 'removed' ELSE 'learned' END, p_now)
        ON CONFLICT (scope_id, name_key, alias_key) DO UPDATE SET status = a.status
        RETURNING a.id INTO v_id;
        INSERT INTO slowwave.alias_sources (alias_id, session_id, seq)
        SELECT v_id, p_session_id, q.seq FROM unnest(v_pair.sources) AS q (seq)
        ON CONFLICT DO NOTHING;
    END LOOP;
END
$$;
