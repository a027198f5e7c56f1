-- Vectors of search: see slowwave.recall.
CREATE FUNCTION slowwave.passage_vector(p_scope_id bigint, p_content text, p_speaker text, p_happened_at timestamptz,
    p_previous text) RETURNS tsvector LANGUAGE sql IMMUTABLE AS $$ SELECT to_tsvector('pg_catalog.english', p_content) $$;
CREATE FUNCTION slowwave.memory_vector(p_scope_id bigint, p_content text, p_valid_from timestamptz, p_entities text[])
RETURNS tsvector LANGUAGE sql IMMUTABLE AS $$ SELECT to_tsvector('pg_catalog.english', p_content) $$;
CREATE FUNCTION slowwave.vector_length(p_vector tsvector) RETURNS integer LANGUAGE sql IMMUTABLE
AS $$ SELECT length(p_vector) $$;
