-- create_vector_index: create an HNSW index on the vectors of one space.
--
-- The index holds half-precision numbers: it has half the size and allows up to 4,000 dimensions. It finds candidates,
-- which nearest_vectors then scores exactly. Postgres scans a space with more dimensions.
--
-- The bodies of the vector functions (create_vector_index, nearest_vectors, stored_cosines) name types of the extension
-- `vector`. Postgres looks a type up when a function runs. So the functions can be created without the extension. No
-- code calls them then.
CREATE OR REPLACE FUNCTION slowwave.create_vector_index(p_space_id bigint, p_dimension integer) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    v_table text;
BEGIN
    IF p_dimension > 4000 THEN
        RETURN;
    END IF;
    FOREACH v_table IN ARRAY ARRAY['memory_vectors', 'passage_vectors'] LOOP
        EXECUTE format(
            'CREATE INDEX IF NOT EXISTS %I ON slowwave.%I USING hnsw ((embedding::halfvec(%s)) halfvec_ip_ops)'
            ' WHERE space_id = %s',
            v_table || '_space_' || p_space_id || '_idx', v_table, p_dimension, p_space_id);
    END LOOP;
END
$$;
