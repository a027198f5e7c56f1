"""Memory as files: exported and imported, kept up to date beside Postgres as a backend, and read back after a person's
edits.
"""
