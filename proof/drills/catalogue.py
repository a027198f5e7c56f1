"""Read the schema from Postgres' catalogue as sorted lines: two databases with equal lines have equal schemas."""

from sqlalchemy import Engine, text

_QUERIES = {
    "relation": """
        SELECT c.relname, c.relkind, c.relpersistence, c.reloptions, c.relrowsecurity, c.relforcerowsecurity,
               pg_get_expr(c.relpartbound, c.oid), obj_description(c.oid, 'pg_class')
        FROM pg_class c WHERE c.relnamespace = 'slowwave'::regnamespace AND c.relkind <> 'i'""",
    "column": """
        SELECT c.relname, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity,
               a.attgenerated, a.attstorage, a.attcompression, a.attstattarget, pg_get_expr(d.adbin, d.adrelid)
        FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
        LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
        WHERE c.relnamespace = 'slowwave'::regnamespace AND c.relkind IN ('r', 'p') AND a.attnum > 0""",
    "constraint": """
        SELECT c.conrelid::regclass, c.conname, c.contype, c.convalidated, pg_get_constraintdef(c.oid)
        FROM pg_constraint c WHERE c.connamespace = 'slowwave'::regnamespace""",
    "index": """
        SELECT pg_get_indexdef(i.indexrelid), i.indisvalid
        FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relnamespace = 'slowwave'::regnamespace""",
    "policy": """
        SELECT p.polrelid::regclass, p.polname, p.polcmd, p.polpermissive, p.polroles::regrole[]::text,
               pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid)
        FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid WHERE c.relnamespace = 'slowwave'::regnamespace""",
    "trigger": """
        SELECT pg_get_triggerdef(t.oid), t.tgenabled
        FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
        WHERE c.relnamespace = 'slowwave'::regnamespace AND NOT t.tgisinternal""",
    "function": """
        SELECT pg_get_functiondef(p.oid), p.proowner::regrole::text, p.proacl::text
        FROM pg_proc p WHERE p.pronamespace = 'slowwave'::regnamespace""",
    "job": """
        SELECT j.id, j.job_type, j.cadence, j.interval_minutes, j.weekday, j.window_start, j.window_end, j.time_zone,
               j.enabled, j.metadata
        FROM slowwave.maintenance_jobs j""",
    "revision": "SELECT v.version_num FROM slowwave.alembic_version v",
}


def catalogue(engine: Engine) -> list[str]:
    """Return one line for each object of the schema, and for each row that a migration inserts, in a fixed order."""
    with engine.connect() as connection:
        # With a fixed search path Postgres writes every name with its schema.
        connection.execute(text("SET LOCAL search_path = pg_catalog"))
        return [
            " | ".join((kind, *map(str, row)))
            for kind, query in _QUERIES.items()
            for row in sorted(connection.exec_driver_sql(query), key=str)
        ]
