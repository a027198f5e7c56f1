-- keep_tombstones: note that memories were deleted, without a word of theirs, and wake those who listen.
--
-- Who mirrors memories has to learn that one is gone. A forget deletes the history of a memory before the memory itself; an
-- undo leaves the history, and the memory may come back. So the history tells the two apart.
CREATE OR REPLACE FUNCTION slowwave.keep_tombstones() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    INSERT INTO slowwave.memory_tombstones (memory_id, scope_id, cause)
    SELECT g.id, g.scope_id,
           CASE WHEN EXISTS (SELECT FROM slowwave.memory_changes c WHERE c.memory_id = g.id) THEN 'removed'
                ELSE 'forgotten' END
    FROM gone g;
    IF EXISTS (SELECT FROM slowwave.change_listeners l WHERE l.until > now()) THEN
        PERFORM pg_notify(l.channel, '')
        FROM slowwave.change_listeners l
        WHERE l.until > now() AND l.tenant IN (
            SELECT k.tenant FROM gone g JOIN slowwave.scopes k ON k.id = g.scope_id);
    END IF;
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER memories_tombstones AFTER DELETE ON slowwave.memories
REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION slowwave.keep_tombstones();
