-- nearest_vectors: return the memories ('memory') or events ('passage') of some scopes that are nearest to a question.
--
-- Each row also describes the distribution of the cosines of all vectors of these scopes: their number, their mean, and
-- the mean of their squares.
--
-- The function reads all vectors of the scopes if there are up to some thousand, or if they are a small part of the
-- table. In the second case an index over all scopes would read many vectors of other scopes before it found enough. In
-- both cases the scope is a condition of the statement itself (I8).
CREATE OR REPLACE FUNCTION slowwave.nearest_vectors(
    p_kind text, p_space_id bigint, p_dimension integer, p_scopes bigint[], p_question real[], p_limit integer
) RETURNS TABLE (
    memory_id uuid, session_id bigint, seq bigint, part integer, cosine double precision, vectors double precision,
    mean double precision, square double precision
)
LANGUAGE plpgsql STABLE
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    v_table text := p_kind || '_vectors';
    v_keys text := CASE p_kind WHEN 'memory' THEN 'v.memory_id, NULL::bigint AS session_id, NULL::bigint AS seq, '
                                            'NULL::integer AS part'
                   ELSE 'NULL::uuid AS memory_id, v.session_id, v.seq, v.part' END;
    v_where text := format('v.space_id = %s AND v.scope_id = ANY ($2) AND v.embedding IS NOT NULL', p_space_id);
    v_all double precision;
    v_few double precision;
    v_count double precision;
BEGIN
    -- A scan takes 3.5 us per vector of 384 numbers. The index takes about 20 us per vector that it reads, of whatever
    -- scope.
    SELECT greatest(c.reltuples, 0) INTO v_all FROM pg_class c WHERE c.oid = format('slowwave.%I', v_table)::regclass;
    v_few := CASE WHEN p_dimension > 4000 THEN 'infinity' ELSE greatest(4000, sqrt(600 * v_all)) END;
    -- Counting a large scope would take longer than its search; the planner's statistics know how large it is.
    SELECT v_all * sum(f.share) INTO v_count
    FROM pg_stats s CROSS JOIN unnest(s.most_common_vals::text::bigint[], s.most_common_freqs) AS f (scope_id, share)
    WHERE s.schemaname = 'slowwave' AND s.tablename = v_table AND s.attname = 'scope_id' AND f.scope_id = ANY (p_scopes);
    IF v_count IS NULL OR v_count <= 2 * v_few THEN
        EXECUTE format('SELECT count(*) FROM (SELECT FROM slowwave.%I v WHERE %s LIMIT %s) AS v', v_table, v_where,
                       CASE WHEN v_few = 'infinity' THEN 'ALL' ELSE (v_few::bigint + 1)::text END)
            INTO v_count USING p_question, p_scopes;
    END IF;
    IF v_count = 0 THEN
        RETURN;
    END IF;
    IF v_count <= v_few THEN
        RETURN QUERY EXECUTE format(
            'WITH every AS MATERIALIZED ('
            ' SELECT %s, -(v.embedding::vector <#> $1::vector) AS cosine FROM slowwave.%I v WHERE %s)'
            ' SELECT e.*, s.* FROM every e CROSS JOIN ('
            ' SELECT count(*)::float8, avg(cosine), avg(cosine * cosine) FROM every) AS s'
            ' ORDER BY e.cosine DESC LIMIT $3', v_keys, v_table, v_where)
            USING p_question, p_scopes, p_limit;
        RETURN;
    END IF;
    -- The index scan continues if the nearest vectors of all scopes include too few of these scopes.
    PERFORM set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.ef_search', '100', true);
    RETURN QUERY EXECUTE format(
        'WITH near AS MATERIALIZED ('
        ' SELECT %1$s, -(v.embedding::vector <#> $1::vector) AS cosine FROM slowwave.%2$I v WHERE %3$s'
        ' ORDER BY v.embedding::halfvec(%4$s) <#> $1::halfvec(%4$s) LIMIT $3),'
        ' sampled AS MATERIALIZED ('
        ' SELECT -(v.embedding::vector <#> $1::vector) AS cosine FROM slowwave.%2$I v WHERE %3$s LIMIT 500)'
        ' SELECT n.*, s.* FROM near n CROSS JOIN (SELECT $4, avg(cosine), avg(cosine * cosine) FROM sampled) AS s'
        ' ORDER BY n.cosine DESC', v_keys, v_table, v_where, p_dimension)
        USING p_question, p_scopes, p_limit, v_count;
END
$$;
