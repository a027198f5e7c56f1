-- schedule_summary: reset the modification time of a day's file, so that it is checked again (models.files.FileState).
CREATE OR REPLACE FUNCTION slowwave.schedule_summary(p_scope_id bigint, p_day date) RETURNS void
LANGUAGE sql
AS $$
    INSERT INTO slowwave.memory_files (scope_id, path, digest, size, modified_ns, checked_at)
    VALUES (p_scope_id, format('daily/%s.md', to_char(p_day, 'YYYY-MM-DD')), '', 0, 0, clock_timestamp())
    ON CONFLICT (scope_id, path) DO UPDATE SET modified_ns = 0
$$;
