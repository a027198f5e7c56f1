-- scope_languages: return the languages other than English in which something of these scopes is written.
--
-- The indexes hold no English rows. So if all is English, the function reads nothing. Otherwise it reads one index entry
-- per scope and language, however many rows the scopes have.
CREATE OR REPLACE FUNCTION slowwave.scope_languages(p_scopes bigint[]) RETURNS text[]
LANGUAGE sql STABLE
AS $$
    WITH RECURSIVE spoken (scope_id, language) AS (
        SELECT k.id, (
            SELECT min(p.language) FROM slowwave.passages p WHERE p.scope_id = k.id AND p.language <> 'en')
        FROM unnest(p_scopes) AS k (id)
        UNION ALL
        SELECT s.scope_id, (
            SELECT min(p.language) FROM slowwave.passages p
            WHERE p.scope_id = s.scope_id AND p.language <> 'en' AND p.language > s.language)
        FROM spoken s WHERE s.language IS NOT NULL
    ), kept (scope_id, language) AS (
        SELECT k.id, (
            SELECT min(m.language) FROM slowwave.memories m WHERE m.scope_id = k.id AND m.language <> 'en')
        FROM unnest(p_scopes) AS k (id)
        UNION ALL
        SELECT s.scope_id, (
            SELECT min(m.language) FROM slowwave.memories m
            WHERE m.scope_id = s.scope_id AND m.language <> 'en' AND m.language > s.language)
        FROM kept s WHERE s.language IS NOT NULL
    )
    SELECT coalesce(array_agg(DISTINCT l.language ORDER BY l.language), '{}')
    FROM (SELECT s.language FROM spoken s UNION ALL SELECT k.language FROM kept k) AS l
    WHERE l.language IS NOT NULL
$$;
