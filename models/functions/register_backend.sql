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
    PERFORM slowwave.enqueue_all(p_name, p_now);
    IF p_name = 'file' THEN
        PERFORM slowwave.schedule_summary(d.scope_id, d.day)
        FROM (SELECT DISTINCT s.scope_id, s.day FROM slowwave.day_summaries s) AS d;
    END IF;
    RETURN true;
END
$$;
