"""A database that many examples share is emptied between them.

`TRUNCATE … CASCADE` makes new files for each table and index it reaches, which took most of the time of such tests;
there is next to nothing in them, so that deleting it takes a few milliseconds.
"""

_EMPTY = """
DO $$
DECLARE reached text;
BEGIN
    SET LOCAL session_replication_role = replica;  -- neither triggers nor foreign keys, as with TRUNCATE
    FOR reached IN
        WITH RECURSIVE closure AS (
            SELECT unnest(ARRAY[{tables}]::regclass[])::oid AS id
            UNION
            SELECT f.conrelid FROM pg_constraint f JOIN closure c ON f.confrelid = c.id WHERE f.contype = 'f'
        )
        SELECT id::regclass::text FROM closure
    LOOP
        EXECUTE 'DELETE FROM ' || reached;
    END LOOP;
    SET LOCAL session_replication_role = origin;
END $$
"""


def emptying(*tables: str) -> str:
    """The SQL that deletes all rows of these tables of ours, and of all that refer to them; for a superuser."""
    return _EMPTY.format(tables=", ".join(f"'slowwave.{table}'" for table in tables))
