-- scope_stats: return the named scopes that exist, with their statistics, and the terms of the question.
--
--   terms      [[lexeme, documents], …]: one per word. documents: how many documents of these scopes contain the word, if
--              that number is known to be large
--   variants   {lexeme: [lexeme, …]}: the stems of the same word in other languages of these scopes; NULL if there are
--              none
--   aliases    what else the words may be called in each scope (slowwave.alias_terms); NULL if nothing applies
--
-- A scope that was never counted is small. The function counts its documents, up to the bound of count_documents.
CREATE OR REPLACE FUNCTION slowwave.scope_stats(
    reader_tenant text, wanted_kinds text[], wanted_names text[], question text,
    OUT scopes jsonb, OUT terms jsonb, OUT variants jsonb,
    OUT aliases jsonb
)
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    v_scopes bigint[];
    v_languages text[];
    v_words jsonb;
BEGIN
    IF session_user <> current_user THEN PERFORM slowwave.require_tenant(reader_tenant); END IF;
    WITH named AS MATERIALIZED (
        SELECT k.id, k.kind, k.name,
               CASE WHEN k.counted_at IS NOT NULL THEN k.counted_documents ELSE slowwave.count_documents(k.id) END
                   AS documents,
               CASE WHEN k.counted_at IS NOT NULL THEN k.counted_mean_length END AS mean_length
        FROM unnest(wanted_kinds, wanted_names) AS wanted (kind, name)
        JOIN slowwave.scopes k ON k.tenant = reader_tenant AND k.kind = wanted.kind AND k.name = wanted.name
        -- The data of a forgotten agent is being deleted. No query reads it in the meantime (I10).
        WHERE NOT (k.kind = 'agent' AND EXISTS (
            SELECT FROM slowwave.agents a
            WHERE a.tenant = k.tenant AND a.name = k.name AND a.deleted_at IS NOT NULL))
    ), words AS MATERIALIZED (
        SELECT t.lexemes, l.languages
        FROM (SELECT slowwave.scope_languages(ARRAY(SELECT n.id FROM named n)) OFFSET 0) AS l (languages)
        CROSS JOIN LATERAL slowwave.question_terms(question, l.languages) AS t
    )
    SELECT (SELECT jsonb_agg(n) FROM named n),
           (SELECT jsonb_agg(jsonb_build_array(w.lexemes[1], (
                       SELECT sum(c.documents) FROM (
                           SELECT c.documents FROM slowwave.common_terms c
                           WHERE c.term = ANY (w.lexemes) AND c.scope_id IN (SELECT n.id FROM named n)
                           UNION ALL
                           -- The beginnings of compounds (slowwave.compound_terms), as ranges of the index.
                           SELECT c.documents
                           FROM unnest(w.lexemes) AS x (lexeme)
                           CROSS JOIN rtrim(x.lexeme, '*') AS b (beginning)
                           JOIN slowwave.common_terms c ON c.term >= b.beginning AND c.term < b.beginning || U&'\FFFD'
                               AND c.scope_id IN (SELECT n.id FROM named n)
                           WHERE x.lexeme ~ '^[<>].*\*$') AS c)))
            FROM words w),
           (SELECT jsonb_object_agg(w.lexemes[1], w.lexemes[2:]) FROM words w WHERE cardinality(w.lexemes) > 1),
           ARRAY(SELECT n.id FROM named n),
           (SELECT jsonb_agg(w.lexemes) FROM words w),
           (SELECT w.languages FROM words w LIMIT 1)
    INTO scopes, terms, variants, v_scopes, v_words, v_languages;
    aliases := slowwave.alias_terms(question, v_scopes, v_languages, v_words);
END
$$;
