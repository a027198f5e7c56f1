"""Memory as files: exported, imported, kept up to date beside Postgres, and read back after a person's edits."""
