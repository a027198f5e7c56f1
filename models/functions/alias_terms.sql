-- alias_terms: return what else the words of a question may be called, by the aliases of each scope.
--
--   p_words   the words of the question, each an array of lexemes (slowwave.question_terms)
--
-- The answer has one element per word, place and scope: {lexeme, slot, scope, lexemes, documents}. `lexeme` is the first
-- of the word, `lexemes` also count as the word in this scope, and `documents` says how many documents contain them, if
-- that number is known to be large. A word of the question has one slot. A name of one word whose alias has several
-- words has two, so that documents with both words of the alias weigh as much as documents with the name. NULL if
-- nothing applies.
--
-- From a name in the question, the function goes up from alias to name as far as there is one, and from there down to
-- all aliases. It never goes up again: if two people are called Bob, a question about the one does not find the other,
-- while a question about Bob finds both.
--
-- An alias does not count if it is a common word of the scope and the name in the question is not. A scope without
-- aliases costs one look at an index.
CREATE OR REPLACE FUNCTION slowwave.alias_terms(
    p_question text, p_scopes bigint[], p_languages text[], p_words jsonb
) RETURNS jsonb
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan
SET jit = off
AS $$
DECLARE
    -- Han, Kana, Hangul and Thai characters: names in them have no spaces around them.
    v_characters CONSTANT text := '[\u0e01-\u0e5b\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+';
    v_plain text;
    v_keys text[];
    v_answer jsonb;
BEGIN
    IF p_words IS NULL OR NOT EXISTS (
        SELECT FROM slowwave.aliases a WHERE a.scope_id = ANY (p_scopes) AND a.status <> 'removed') THEN
        RETURN NULL;
    END IF;
    -- The same form as domain.aliases.key_of. U.S. becomes us.
    v_plain := casefold(normalize(translate(left(p_question, 2000), U&'\2019_', ''' '), NFKC) COLLATE pg_unicode_fast);
    v_plain := regexp_replace(v_plain, '\m([[:alpha:]])\.(?=[[:alpha:]](\.|\M))', '\1', 'g');
    WITH words AS (
        -- Once as they stand (at&t, node.js), once in parts (k8s-cluster).
        SELECT w.how, w.place, regexp_replace(trim(w.word, '.,;:!?"''()[]{}（）【】*`~-–—“”„‘’«»‹›「」『』《》'), '''s$', '') AS word
        FROM (
            SELECT 1 AS how, x.place, x.word
            FROM regexp_split_to_table(v_plain, '\s+') WITH ORDINALITY AS x (word, place)
            UNION ALL
            SELECT 2, x.place, x.word
            FROM regexp_split_to_table(v_plain, '[^[:alnum:]]+') WITH ORDINALITY AS x (word, place)
        ) AS w
        WHERE w.place <= 200
    ), keys AS (
        SELECT k.key
        FROM (
            SELECT w.word AS w1, lead(w.word, 1) OVER line AS w2, lead(w.word, 2) OVER line AS w3,
                   lead(w.word, 3) OVER line AS w4, lead(w.word, 4) OVER line AS w5, lead(w.word, 5) OVER line AS w6
            FROM words w WHERE w.word <> ''
            WINDOW line AS (PARTITION BY w.how ORDER BY w.place)
        ) AS f
        CROSS JOIN LATERAL (
            VALUES (w1), (w1 || ' ' || w2), (w1 || ' ' || w2 || ' ' || w3), (w1 || ' ' || w2 || ' ' || w3 || ' ' || w4),
                   (concat_ws(' ', w1, w2, w3, w4, w5)), (concat_ws(' ', w1, w2, w3, w4, w5, w6))) AS k (key)
        UNION
        SELECT substr(r.found[1], at.place, n.characters)
        FROM regexp_matches(left(v_plain, 300), v_characters, 'g') AS r (found)
        CROSS JOIN generate_series(1, length(r.found[1])) AS at (place)
        CROSS JOIN generate_series(2, 10) AS n (characters)
    )
    SELECT array_agg(DISTINCT k.key) INTO v_keys FROM keys k WHERE length(k.key) BETWEEN 2 AND 80;
    IF NOT EXISTS (
        SELECT FROM slowwave.aliases a
        WHERE a.scope_id = ANY (p_scopes) AND a.name_key = ANY (v_keys) AND a.status <> 'removed'
        UNION ALL
        SELECT FROM slowwave.aliases a
        WHERE a.scope_id = ANY (p_scopes) AND a.alias_key = ANY (v_keys) AND a.status <> 'removed') THEN
        RETURN NULL;
    END IF;

    WITH RECURSIVE matched AS MATERIALIZED (
        SELECT a.scope_id, a.name_key AS key, a.name AS spelled FROM slowwave.aliases a
        WHERE a.scope_id = ANY (p_scopes) AND a.name_key = ANY (v_keys) AND a.status <> 'removed'
        UNION
        SELECT a.scope_id, a.alias_key, a.alias FROM slowwave.aliases a
        WHERE a.scope_id = ANY (p_scopes) AND a.alias_key = ANY (v_keys) AND a.status <> 'removed'
        ORDER BY 1, 2
        LIMIT 12
    ), up (scope_id, start, key, depth) AS (
        SELECT m.scope_id, m.key, m.key, 0 FROM matched m
        UNION
        SELECT u.scope_id, u.start, a.name_key, u.depth + 1
        FROM up u
        JOIN slowwave.aliases a ON a.scope_id = u.scope_id AND a.alias_key = u.key AND a.status <> 'removed'
        WHERE u.depth < 4
    ), down (scope_id, start, key, depth) AS (
        SELECT u.scope_id, u.start, u.key, 0 FROM up u
        UNION
        SELECT d.scope_id, d.start, a.alias_key, d.depth + 1
        FROM down d
        JOIN slowwave.aliases a ON a.scope_id = d.scope_id AND a.name_key = d.key AND a.status <> 'removed'
        WHERE d.depth < 4
    ), others AS MATERIALIZED (
        SELECT DISTINCT d.scope_id, d.start, s.spelled
        FROM (SELECT DISTINCT x.scope_id, x.start, x.key FROM down x LIMIT 60) AS d
        CROSS JOIN LATERAL (
            SELECT a.name AS spelled FROM slowwave.aliases a WHERE a.scope_id = d.scope_id AND a.name_key = d.key
            UNION
            SELECT a.alias FROM slowwave.aliases a WHERE a.scope_id = d.scope_id AND a.alias_key = d.key
        ) AS n
        CROSS JOIN LATERAL (
            -- Initials are written with dots or without.
            VALUES (n.spelled), (replace(n.spelled, '.', '')),
                   (CASE WHEN n.spelled ~ '^[[:upper:]]{2,6}$' THEN regexp_replace(n.spelled, '(?<=.)(?=.)', '.', 'g') END)
        ) AS s (spelled)
        WHERE s.spelled IS NOT NULL AND (d.key <> d.start OR s.spelled <> n.spelled OR s.spelled ~ '^[[:upper:].]+$')
    ), asked AS MATERIALIZED (
        SELECT w.place, ARRAY(SELECT jsonb_array_elements_text(w.word)) AS lexemes
        FROM jsonb_array_elements(p_words) WITH ORDINALITY AS w (word, place)
    ), starts AS MATERIALIZED (
        SELECT m.scope_id, m.key, (
            SELECT array_agg(l.lexeme)
            FROM slowwave.question_terms(min(m.spelled) || ' ' || m.key, p_languages) AS t
            CROSS JOIN LATERAL unnest(t.lexemes) AS l (lexeme)) AS lexemes
        FROM matched m
        GROUP BY m.scope_id, m.key
    ), own AS MATERIALIZED (
        -- The words of the question that make the name.
        SELECT m.scope_id, m.key AS start, a.lexemes, c.documents,
               row_number() OVER (PARTITION BY m.scope_id, m.key ORDER BY a.place) AS nth,
               count(*) OVER (PARTITION BY m.scope_id, m.key) AS words
        FROM starts m
        JOIN asked a ON a.lexemes && m.lexemes
        CROSS JOIN LATERAL (
            SELECT sum(c.documents) AS documents FROM slowwave.common_terms c
            WHERE c.scope_id = m.scope_id AND c.term = ANY (a.lexemes)) AS c
    ), said AS MATERIALIZED (
        -- The words of each other name, the rarest first. Long words are rarer than short ones.
        SELECT o.scope_id, o.start, o.spelled, t.lexemes, c.documents,
               row_number() OVER (
                   PARTITION BY o.scope_id, o.start, o.spelled
                   ORDER BY coalesce(c.documents, 0), length(t.lexemes[1]) DESC, t.lexemes[1]) AS nth,
               min(coalesce(c.documents, 0)) OVER (PARTITION BY o.scope_id, o.start, o.spelled) AS rarest,
               count(*) OVER (PARTITION BY o.scope_id, o.start, o.spelled) AS words
        FROM others o
        CROSS JOIN LATERAL slowwave.question_terms(o.spelled, p_languages) AS t
        CROSS JOIN LATERAL (
            SELECT sum(c.documents) AS documents FROM slowwave.common_terms c
            WHERE c.scope_id = o.scope_id AND c.term = ANY (t.lexemes)) AS c
    ), slots AS (
        SELECT g.scope_id, g.start, greatest(min(g.words), least(2, max(s.words))) AS slots,
               min(g.words) AS words, min(coalesce(g.documents, 0)) AS documents
        FROM own g JOIN said s ON s.scope_id = g.scope_id AND s.start = g.start
        GROUP BY g.scope_id, g.start
    ), terms AS (
        SELECT g.lexemes[1] AS lexeme, CASE WHEN k.words = 1 THEN n.slot ELSE 1 END AS slot, k.scope_id, s.lexemes,
               s.documents
        FROM slots k
        CROSS JOIN generate_series(1, k.slots) AS n (slot)
        JOIN own g ON g.scope_id = k.scope_id AND g.start = k.start AND g.nth = least(n.slot, k.words)
        JOIN slowwave.scopes c ON c.id = k.scope_id
        JOIN said s ON s.scope_id = k.scope_id AND s.start = k.start
            AND s.nth = ceil(n.slot * least(s.words, k.slots)::numeric / k.slots)
        WHERE NOT s.lexemes && g.lexemes
          AND NOT (s.rarest > 2 * k.documents AND s.rarest > 0.05 * c.counted_documents)
    )
    SELECT jsonb_agg(jsonb_build_object(
        'lexeme', t.lexeme, 'slot', t.slot, 'scope', t.scope_id, 'lexemes', t.lexemes, 'documents', t.documents))
    INTO v_answer
    FROM (
        SELECT x.lexeme, x.slot, x.scope_id, array_agg(DISTINCT l.lexeme ORDER BY l.lexeme) AS lexemes,
               sum(x.documents) AS documents
        FROM terms x CROSS JOIN LATERAL unnest(x.lexemes) AS l (lexeme)
        GROUP BY x.lexeme, x.slot, x.scope_id
        ORDER BY x.lexeme, x.slot, x.scope_id
    ) AS t;
    RETURN v_answer;
END
$$;
