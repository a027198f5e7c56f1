SELECT f.* FROM slowwave.search(
    %(scopes)s::bigint[], %(any)s::tsquery, %(terms)s::text[]::tsquery[], %(held)s::float8[], %(beginnings)s::text[],
    %(documents)s::float8, %(mean_length)s::float8, %(events)s::boolean, %(limit)s::integer, %(ranking)s::jsonb,
    %(review)s::boolean, %(late)s::tsquery, %(model)s::text, %(question)s::real[], %(from)s::timestamptz,
    %(to)s::timestamptz, %(names)s::integer[]) AS f
