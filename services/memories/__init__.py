"""Change memories: fields, links, merges, relations, each with a record of the change."""
