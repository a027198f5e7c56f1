-- Vectors: spaces, and which memories and events of some scopes lie near a question.
--
-- The bodies name the type `vector`, which is looked up when they run: without the extension they can be created, and
-- nobody calls them.

-- create_vector_index: an HNSW index on the vectors of one space. Numbers of half precision find the candidates, which are then
-- weighed exactly: half the size, and up to 4,000 dimensions. A space of more is scanned.
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
