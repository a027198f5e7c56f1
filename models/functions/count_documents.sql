-- count_documents: count the documents of a scope, up to 2,000 of each kind (passages and memories).
--
-- Sequential scans are off. The bound makes them look cheap to the planner, and for a small scope among large ones they
-- read the whole table.
CREATE OR REPLACE FUNCTION slowwave.count_documents(p_scope_id bigint) RETURNS bigint
LANGUAGE sql STABLE
SET enable_seqscan = off
AS $$
    SELECT (SELECT count(*) FROM (SELECT FROM slowwave.passages p WHERE p.scope_id = p_scope_id LIMIT 2000) AS p)
        + (SELECT count(*) FROM (
               SELECT FROM slowwave.memories m
               WHERE m.scope_id = p_scope_id AND m.status <> 'archived' LIMIT 2000) AS m)
$$;
