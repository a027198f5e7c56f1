-- compound_terms: return how the index contains a German word as a part of compounds, and a compound by its parts.
--
--   '>urlaub*'        long words that begin with the word (Urlaubsfoto), and '<otof*' those that end with it: the index
--                     contains each long German word in both directions (slowwave.search_vector)
--   'strom rechnung'  both parts of the word, each by its stem. Where the word is cut is not known, so each place where
--                     the first part can end and the second part can begin is one element; the stemmer removes the
--                     letters between the parts (Kunden|dokumente). The most even cuts come first. Hardly any text contains both halves of a wrong cut
CREATE OR REPLACE FUNCTION slowwave.compound_terms(p_word text) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
    v_begin CONSTANT text := '^(?:[bcdfghjklmnprstvwz]?|bl|br|ch|dr|fl|fr|gl|gn|gr|kl|kn|kr|pf|pfl|ph|pl|pr|qu|rh|sch|schl'
        '|schm|schn|schr|schw|sk|sp|spr|spl|st|str|th|tr|ts|wr|zw)[aeiouyäöü]';
    v_end CONSTANT text := '(?:[bcdfgkptvwz][lmnrw]|[mn][lr]|[sz]r|[bdfgkpt]h|q|j|[^s]c|[^aeiouyäöü]{4})$';
    v_stem text := (ts_lexize('pg_catalog.german_stem', p_word))[1];
    v_terms text[] := '{}';
BEGIN
    IF v_stem IS NULL OR p_word !~ '^[a-zäöüß]{4,40}$' THEN
        RETURN v_terms;
    END IF;
    v_terms := v_terms || ('>' || CASE WHEN length(v_stem) >= 5 THEN v_stem ELSE slowwave.plain_letters(p_word) END || '*');
    IF length(v_stem) >= 4 THEN
        v_terms := v_terms || ('<' || reverse(v_stem) || '*');
    END IF;
    RETURN v_terms || ARRAY(
        SELECT s.first || ' ' || s.second
        FROM (
            SELECT (ts_lexize('pg_catalog.german_stem', c.head))[1] AS first,
                   (ts_lexize('pg_catalog.german_stem', c.tail))[1] AS second
            FROM (
                SELECT left(p_word, n.place) AS head, substr(p_word, n.place + 1) AS tail
                FROM generate_series(3, length(p_word) - 3) AS n (place)
                OFFSET 0
            ) AS c
            -- The last letters tell how a part ends: a regular expression takes time with each letter before them.
            WHERE c.tail ~ v_begin AND right(c.head, 4) !~ v_end AND c.head ~ '[aeiouyäöü]'
            OFFSET 0
        ) AS s
        WHERE length(s.first) >= 3 AND length(s.second) >= 3
        GROUP BY s.first, s.second
        ORDER BY least(length(s.first), length(s.second)) DESC, s.first
        LIMIT 8);
END
$$;
