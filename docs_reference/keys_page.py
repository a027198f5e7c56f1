"""docs/reference/redis-keys.md: every key of Slowwave in Redis."""

from docs_reference.tables import code, table
from slowwave.coordination.keys import OUR_KINDS

HEAD = """# Keys in Redis, generated from the code

Each key of Slowwave in Redis or Valkey. Words in capitals stand for values. Losing any of these keys costs time, never
data, because Postgres lists all due work. [Security](../security.md) says which user may use which kind of key.
"""


def keys_page() -> str:
    """The page as Markdown."""
    rows = ((kind.name, code(kind.key), kind.type, kind.lives) for kind in OUR_KINDS)
    return f"{HEAD}\n{table(('kind', 'key', 'type', 'value and lifetime'), rows)}"
