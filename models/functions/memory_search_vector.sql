-- memory_search_vector: a memory, with the day since which it holds and the names that it was filed under.
CREATE OR REPLACE FUNCTION slowwave.memory_search_vector(
    p_scope_id bigint, p_content text, p_valid_from timestamptz, p_entities text[]
) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT slowwave.scoped_search_vector(
        p_scope_id,
        setweight(slowwave.search_vector(p_content, 40000), 'A')
            || setweight(slowwave.search_vector(array_to_string(p_entities, ' '), 2000), 'C'),
        p_valid_from)
$$;
