SELECT p.* FROM slowwave.pair_memories(%(scopes)s::bigint[], %(ids)s::uuid[]) AS p
