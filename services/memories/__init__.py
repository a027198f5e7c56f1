"""Changes of memories: fields, links, merges, relations, each with its record."""
