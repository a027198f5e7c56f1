-- create_mem0_schema: create the schema for mem0's rows in this database, on first use.
--
-- The schema is created on first use because it needs the extension `vector`. A row has the id of its memory and is
-- deleted with the memory in the same transaction. So no forgotten data stays, and a delivery that read the memory
-- earlier cannot bring it back (I10).
--
-- Vectors have no fixed dimension and no vector index. A query reads the rows of one scope by the scope's names and
-- compares them one by one, which is exact.
CREATE OR REPLACE FUNCTION slowwave.create_mem0_schema() RETURNS void
LANGUAGE plpgsql
SET client_min_messages = warning
AS $$
DECLARE
    v_vector text;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('slowwave.mem0', 0));
    IF to_regclass('slowwave_mem0.memories') IS NOT NULL THEN
        RETURN;
    END IF;
    CREATE EXTENSION IF NOT EXISTS vector;
    SELECT format('%I.vector', n.nspname) INTO v_vector
    FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
    WHERE e.extname = 'vector';
    CREATE SCHEMA IF NOT EXISTS slowwave_mem0;
    EXECUTE format(
        'CREATE TABLE slowwave_mem0.memories ('
        ' id uuid PRIMARY KEY REFERENCES slowwave.memories (id) ON DELETE CASCADE, vector %s, payload jsonb)', v_vector);
    CREATE INDEX memories_scope_idx ON slowwave_mem0.memories ((payload ->> 'user_id'), (payload ->> 'agent_id'));
    CREATE INDEX memories_text_lemmatized_idx ON slowwave_mem0.memories
    USING gin (to_tsvector('simple', payload ->> 'text_lemmatized'));
END
$$;
