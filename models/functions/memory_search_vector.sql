-- memory_search_vector: build the search vector of a memory from its text, entities and first valid day.
CREATE OR REPLACE FUNCTION slowwave.memory_search_vector(
    p_scope_id bigint, p_content text, p_valid_from timestamptz, p_entities text[], p_language text DEFAULT 'en'
) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT slowwave.scoped_search_vector(
        p_scope_id,
        setweight(slowwave.search_vector(p_content, 40000, p_language), 'A')
            || setweight(slowwave.search_vector(array_to_string(p_entities, ' '), 2000, p_language), 'C'),
        p_valid_from)
$$;
