"""Memory as files: carried out and in, kept beside Postgres as a backend, and read back when somebody edits them."""
