-- passage_search_vectors: build the search vectors of consecutive events of a session, one per passage.
--
-- p_passages: [{seq, text, speaker, at, tool?, language?, parts?}, …]. The list begins two events early, so that the
--   first new event has the turns before it.
--   parts: [[part, begins, ends, heading], …], with offsets in `text`. An event without this key is one passage.
--   tool: the event is a call or a result of a tool. Its text weighs less than speech, and it is never the turn before
--   another event: a listing must not answer for the reply that follows it.
-- Every passage of an event has its heading as context, and the two turns before the event: short ones whole, of long
-- ones the last 200 characters. Context is short, because the words of a long turn would outweigh the passage.
CREATE OR REPLACE FUNCTION slowwave.passage_search_vectors(
    p_scope_id bigint, p_passages jsonb
) RETURNS TABLE (seq bigint, part integer, begins integer, ends integer, search tsvector)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    WITH told AS MATERIALIZED (
        SELECT p.seq, coalesce(p.tool, false) AS tool, p.text, p.at, coalesce(p.language, 'en') AS language, p.parts,
               slowwave.search_vector(p.speaker, 200) AS speaker,
               -- The words of a short event are its passage and the context of the next events: parse them once.
               CASE WHEN length(p.text) <= 400 THEN slowwave.search_vector(p.text, 400, coalesce(p.language, 'en'))
                    WHEN NOT coalesce(p.tool, false)
                    THEN slowwave.search_vector(right(p.text, 200), 200, coalesce(p.language, 'en')) END AS tail
        FROM jsonb_to_recordset(p_passages) AS p (
             seq bigint, text text, speaker text, at timestamptz, tool boolean, language text, parts jsonb)
    ), following AS (
        SELECT t.*,
               CASE WHEN t.tool THEN ''::tsvector ELSE setweight(coalesce(lag(t.tail, 1) OVER talk, ''), 'C')
                   || setweight(coalesce(lag(t.tail, 2) OVER talk, ''), 'D') END AS context
        FROM told t
        WINDOW talk AS (PARTITION BY t.tool ORDER BY t.seq)
    ), parted AS (
        SELECT f.seq, (x.part ->> 0)::integer AS part, (x.part ->> 1)::integer AS begins,
               (x.part ->> 2)::integer AS ends, x.part ->> 3 AS heading
        FROM told f CROSS JOIN jsonb_array_elements(f.parts) AS x (part)
        UNION ALL
        SELECT f.seq, 0, 0, length(f.text), '' FROM told f WHERE f.parts IS NULL
    )
    SELECT f.seq, p.part, p.begins, p.ends, slowwave.scoped_search_vector(
        p_scope_id,
        setweight(f.speaker || CASE WHEN f.parts IS NULL AND length(f.text) <= 400 THEN f.tail
                                    ELSE slowwave.search_vector(substr(f.text, p.begins + 1, p.ends - p.begins),
                                                                100000, f.language) END,
                  CASE WHEN f.tool THEN 'C'::"char" ELSE 'A'::"char" END)
            || CASE WHEN p.heading = '' THEN ''::tsvector
                    ELSE setweight(slowwave.search_vector(p.heading, 400, f.language), 'C') END
            || f.context,
        f.at)
    FROM following f JOIN parted p USING (seq)
$$;
