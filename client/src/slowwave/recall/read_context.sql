SELECT b.* FROM slowwave.read_context(
    %(tenant)s::text, %(agent)s::text, %(kinds)s::text[], %(names)s::text[], %(session)s::text, %(now)s::timestamptz,
    %(days)s::integer, %(relevant)s::uuid[], %(line_characters)s::integer, %(raw_characters)s::integer) AS b
