-- scope_languages: return the languages other than English in which something of these scopes is written.
--
-- The indexes hold no English rows. So if all is English, the function reads nothing. Otherwise it reads one index entry
-- per scope and language, however many rows the scopes have. It never uses a sequential scan, because a plan from the
-- time when the tables were empty must not stay in use.
CREATE OR REPLACE FUNCTION slowwave.scope_languages(p_scopes bigint[]) RETURNS text[]
LANGUAGE plpgsql STABLE
SET enable_seqscan = off
SET enable_bitmapscan = off
AS $$
DECLARE
    v_languages text[] := '{}';
    v_scope_id bigint;
    v_language text;
BEGIN
    FOREACH v_scope_id IN ARRAY coalesce(p_scopes, '{}') LOOP
        v_language := '';
        LOOP
            SELECT min(p.language) INTO v_language FROM slowwave.passages p
            WHERE p.scope_id = v_scope_id AND p.language <> 'en' AND p.language > v_language;
            EXIT WHEN v_language IS NULL;
            v_languages := v_languages || v_language;
        END LOOP;
        v_language := '';
        LOOP
            SELECT min(m.language) INTO v_language FROM slowwave.memories m
            WHERE m.scope_id = v_scope_id AND m.language <> 'en' AND m.language > v_language;
            EXIT WHEN v_language IS NULL;
            v_languages := v_languages || v_language;
        END LOOP;
    END LOOP;
    RETURN ARRAY(SELECT DISTINCT l.language FROM unnest(v_languages) AS l (language) ORDER BY 1);
END
$$;
