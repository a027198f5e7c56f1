SELECT f.* FROM slowwave.search_hybrid(
    %(scopes)s::bigint[], %(any)s::tsquery, %(terms)s::text[]::tsquery[], %(held)s::float8[], %(beginnings)s::text[],
    %(documents)s::float8, %(mean_length)s::float8, %(events)s::boolean, %(limit)s::integer,
    %(review)s::boolean, %(model)s::text, %(question)s::real[], %(late)s::tsquery) AS f
