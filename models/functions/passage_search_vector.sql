-- passage_search_vector: build the search vector of one event alone, with its speaker and its date.
--
-- p_speaker may be NULL.
CREATE OR REPLACE FUNCTION slowwave.passage_search_vector(
    p_scope_id bigint, p_content text, p_speaker text, p_happened_at timestamptz, p_language text DEFAULT 'en'
) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT slowwave.scoped_search_vector(
        p_scope_id,
        setweight(slowwave.search_vector(p_speaker, 200) || slowwave.search_vector(p_content, 100000, p_language), 'A'),
        p_happened_at)
$$;
