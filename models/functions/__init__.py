"""The SQL functions of the schema, one file each, in the form that this version needs.

To change a function, edit its file and add a migration that applies it:

    def upgrade() -> None:
        apply_functions("capture_session")

If the arguments or the result type change, the migration drops the old function first: Postgres distinguishes functions
by their arguments, and can't replace one with another result type.

alembic-utils would do the same job, but each of its revisions repeats the whole text of the old and the new function.
Here, a fresh database and a migrated one use the same files, and a test compares their catalogues.
"""

import re
from importlib.resources import files

from alembic import op

from slowwave.recall.query_plan import MAX_TERMS

_TERM = re.compile(r"^(?!\s*--).*(?:[a-z]#|\[#\])")


def run_sql(text: str) -> None:
    """Execute statements unchanged: a colon in them marks no parameter."""
    op.execute(text.replace(":", r"\:"))


def apply_functions(*names: str) -> None:
    """Create or replace functions inside a migration, with their triggers. Without names: all functions.

    Postgres does not check the bodies here: a function may name a table that a later revision creates.
    """
    run_sql("SET LOCAL check_function_bodies = off")
    for name in names or known_functions():
        run_sql(_repeated((files(__package__) / f"{name}.sql").read_text("utf-8")))


def _repeated(text: str) -> str:
    """Return the text; each line of code that contains a number sign is repeated for each term that a search weighs."""
    return "".join(
        "".join(line.replace("#", str(term)) for term in range(1, MAX_TERMS + 1)) if _TERM.search(line) else line
        for line in text.splitlines(keepends=True)
    )


def known_functions() -> list[str]:
    """Return the names of all functions, in alphabetical order."""
    return sorted(file.name.removesuffix(".sql") for file in files(__package__).iterdir() if file.name.endswith(".sql"))
