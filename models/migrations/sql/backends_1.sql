-- register_backend: as before, and for mem0 also what it was told of at an earlier time: what is archived or gone since
-- is then taken from it. (Of files, their lines say what stands in them.)
CREATE OR REPLACE FUNCTION slowwave.register_backend(p_name text, p_now timestamptz) RETURNS boolean
LANGUAGE plpgsql
AS $$
BEGIN
    LOCK TABLE slowwave.memory_backends IN ACCESS EXCLUSIVE MODE;
    INSERT INTO slowwave.memory_backends (name, since) VALUES (p_name, p_now) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM slowwave.queue_all(p_name, p_now);
    IF p_name = 'file' THEN
        PERFORM slowwave.look_at_day(d.scope_id, d.day)
        FROM (SELECT DISTINCT s.scope_id, s.day FROM slowwave.day_summaries s) AS d;
    END IF;
    RETURN true;
END
$$;

-- queue_all: all that lives is queued for a backend, and all that it may have of an earlier time.
CREATE FUNCTION slowwave.queue_all(p_name text, p_now timestamptz) RETURNS void
LANGUAGE sql
AS $$
    INSERT INTO slowwave.outbox AS o (memory_id, backend, scope_id, queued_at)
    SELECT m.id, p_name, m.scope_id, p_now FROM slowwave.memories m WHERE m.status <> 'archived'
    UNION
    SELECT l.memory_id, p_name, l.scope_id, p_now FROM slowwave.memory_file_lines l WHERE p_name = 'file'
    UNION
    SELECT k.memory_id, p_name, k.scope_id, p_now FROM slowwave.outbox k WHERE k.backend = p_name AND p_name = 'mem0'
    ON CONFLICT (memory_id, backend) DO UPDATE SET
        changes = o.changes + 1,
        not_before = NULL,
        queued_at = CASE WHEN o.delivered = o.changes THEN excluded.queued_at ELSE o.queued_at END
$$;

-- unregister_backend: nothing is queued for it any more, and what was waiting is dropped. What mem0 was told of is kept
-- in mind: it may have these copies still, and a forget must find them there; what a forget asked for waits on. Answers
-- whether it was there.
CREATE OR REPLACE FUNCTION slowwave.unregister_backend(p_name text) RETURNS boolean
LANGUAGE plpgsql
AS $$
BEGIN
    DELETE FROM slowwave.memory_backends b WHERE b.name = p_name;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    DELETE FROM slowwave.outbox o WHERE o.backend = p_name AND p_name <> 'mem0';
    UPDATE slowwave.outbox o SET delivered = o.changes, attempts = 0, not_before = NULL, last_error = NULL
    WHERE o.backend = p_name AND o.delivered < o.changes AND NOT o.forgotten;
    RETURN true;
END
$$;

-- prepare_mem0: the place of mem0's rows in this Postgres, made when it is first wanted, since it needs the extension
-- `vector`. A row stands under its memory's id and goes with it, in the same transaction: so nothing that is forgotten
-- stays, or comes back in a delivery that read it before (I10).
--
-- Vectors have no fixed dimension and no index of their own: the rows of one scope are read by its names and compared one
-- by one, which is exact.
CREATE FUNCTION slowwave.prepare_mem0() RETURNS void
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
