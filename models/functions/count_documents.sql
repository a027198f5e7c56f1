-- count_documents: how many documents a scope holds, no further than 2,000 of each kind.
-- Without sequential scans: to the planner a bound makes them look cheap, and for a small scope among large ones they
-- read everything.
CREATE OR REPLACE FUNCTION slowwave.count_documents(p_scope_id bigint) RETURNS bigint
LANGUAGE sql STABLE
SET enable_seqscan = off
AS $$
    SELECT (SELECT count(*) FROM (SELECT FROM slowwave.passages p WHERE p.scope_id = p_scope_id LIMIT 2000) AS p)
        + (SELECT count(*) FROM (
               SELECT FROM slowwave.memories m
               WHERE m.scope_id = p_scope_id AND m.status <> 'archived' LIMIT 2000) AS m)
$$;
