SELECT l.scopes, l.terms
FROM slowwave.library(%(tenant)s::text, %(kinds)s::text[], %(names)s::text[], %(question)s::text) AS l
