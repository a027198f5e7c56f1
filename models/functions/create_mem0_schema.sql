-- create_mem0_schema: the place of mem0's rows in this Postgres, made when it is first wanted, since it needs the extension
-- `vector`. A row stands under its memory's id and goes with it, in the same transaction: so nothing that is forgotten
-- stays, or comes back in a delivery that read it before (I10).
--
-- Vectors have no fixed dimension and no index of their own: the rows of one scope are read by its names and compared one
-- by one, which is exact.
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
