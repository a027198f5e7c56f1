"""Changes of memories: fields, links, merges, relations, each with its record.

Must not know: Celery, HTTP, the command line.
"""
