-- passage_search_vectors: build the search vectors of consecutive events of a session, each with the two before it.
--
-- p_passages: [{seq, text, speaker, at, tool?, language?}, …]. The list begins two events early, so that the first new
--   event has the turns before it. tool: the event is a call or a result of a tool. Its text weighs less than speech,
--   and it is never the turn before another event: a listing must not answer for the reply that follows it.
-- A search vector holds at most 1 MB. So the caller bounds the texts together (services/flush_rows.py).
-- The function parses each text once, since parsing is nearly all of the cost.
CREATE OR REPLACE FUNCTION slowwave.passage_search_vectors(
    p_scope_id bigint, p_passages jsonb
) RETURNS TABLE (seq bigint, search tsvector)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    WITH parsed AS MATERIALIZED (
        SELECT p.seq, coalesce(p.tool, false) AS tool, p.speaker, p.at,
               slowwave.search_vector(p.text, 100000, coalesce(p.language, 'en')) AS words
        FROM jsonb_to_recordset(p_passages) AS p (
             seq bigint, text text, speaker text, at timestamptz, tool boolean, language text)
    )
    SELECT p.seq, slowwave.scoped_search_vector(
        p_scope_id,
        CASE WHEN p.tool THEN setweight(slowwave.search_vector(p.speaker, 200) || p.words, 'C')
             ELSE setweight(slowwave.search_vector(p.speaker, 200) || p.words, 'A')
                 || setweight(coalesce(lag(p.words, 1) OVER talk, ''), 'C')
                 || setweight(coalesce(lag(p.words, 2) OVER talk, ''), 'D') END,
        p.at)
    FROM parsed p
    WINDOW talk AS (PARTITION BY p.tool ORDER BY p.seq)
$$;
