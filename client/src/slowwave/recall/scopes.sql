SELECT l.scopes, l.terms, l.variants, l.aliases
FROM slowwave.scope_stats(%(tenant)s::text, %(kinds)s::text[], %(names)s::text[], %(question)s::text) AS l
