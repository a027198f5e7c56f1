SELECT f.* FROM slowwave.passages_around(
    %(scopes)s::bigint[], %(sessions)s::bigint[], %(seqs)s::bigint[], %(parts)s::integer[], %(around)s::integer) AS f
