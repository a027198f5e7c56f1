"""Walks through all pages of the console: which addresses there are, and a world that has something on each of them."""

import re
from collections.abc import Iterator
from typing import Any

from sqlalchemy import text

from slowwave_server.workers.console.pages import PAGES
from slowwave_server.workers.console.routing import Page
from tests.console.conftest import Console
from tests.support.midday import TODAY
from tests.support.walls import PLACES

MARKUP = "<img src=x onerror=alert(1)>{{7*7}}"
WORDS = {tenant: [place.word for place in PLACES if place.tenant == tenant] for tenant in ("acme", "globex")}
NUMBERS = {
    "memory": "SELECT m.id FROM slowwave.memories m JOIN slowwave.scopes k ON k.id = m.scope_id WHERE tenant = :tenant",
    "run": "SELECT r.id FROM slowwave.maintenance_runs r JOIN slowwave.scopes k ON k.id = r.scope_id"
    " WHERE k.tenant = :tenant",
    "item": "SELECT 'q' || q.id FROM slowwave.review_items q JOIN slowwave.scopes k ON k.id = q.scope_id"
    " WHERE tenant = :tenant UNION ALL SELECT 'c' || c.id FROM slowwave.memory_conflicts c"
    " JOIN slowwave.scopes k ON k.id = c.scope_id WHERE tenant = :tenant",
    "letter": "SELECT id FROM slowwave.dead_letters WHERE tenant = :tenant",
    "day": f"SELECT '{TODAY}'",
    "job": "SELECT 'light'",
    "key": "SELECT id FROM slowwave.api_keys WHERE tenant = :tenant",
}
"""Values of parameters of paths: some of a tenant's."""
OF_A_TENANT = NUMBERS.keys() - {"day", "job"}
"""The parameters whose values belong to one tenant."""
GUARDED = [page for page in PAGES if page.role is not None]
QUERIES = ("", "agent=atlas&day={day}&session={word}-talk&query={word}&text={word}&entity={word}", "scope=room:kitchen")


def mark(connection: Any) -> None:
    """Put markup beside each word of acme's, wherever it stands."""
    columns = connection.execute(
        text(
            "SELECT c.table_name, c.column_name, c.data_type FROM information_schema.columns c"
            " JOIN information_schema.tables t USING (table_schema, table_name)"
            " WHERE table_schema = 'slowwave' AND t.table_type = 'BASE TABLE' AND c.is_generated = 'NEVER'"
            " AND c.data_type IN ('text', 'jsonb') AND c.table_name !~ '^(events_|alembic)'"
        )
    ).all()
    connection.exec_driver_sql("SET LOCAL session_replication_role = replica")
    for table, column, kind in columns:
        for word in WORDS["acme"]:
            connection.execute(
                text(
                    f"UPDATE slowwave.{table} SET {column} = CAST(replace(CAST({column} AS text), :word, :marked)"
                    f" AS {kind}) WHERE strpos(CAST({column} AS text), :word) > 0"
                ),
                {"word": word, "marked": word + MARKUP},
            )


def paths_of(console: Console, page: Page, tenant: str) -> list[str]:
    """The page's path, for up to two values of each of its parameters."""
    paths = [page.path]
    for name, whole in {found[1]: found[0] for found in re.finditer(r"{(\w+)(?::\w+)?}", page.path)}.items():
        with console.engine.connect() as connection:
            rows = connection.execute(text(f"{NUMBERS[name]} ORDER BY 1 LIMIT 2"), {"tenant": tenant}).scalars()
            values = [str(value) for value in rows]
        assert values, f"nothing of {tenant} is a {name}"
        paths = [path.replace(whole, value) for path in paths for value in values]
    return paths


def addresses(console: Console, tenant: str) -> Iterator[str]:
    """Addresses of every page that is looked at: bare, and for agents and scopes that something is known of."""
    marked = {"acme": WORDS["acme"][0] + "%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E%7B%7B7*7%7D%7D"}
    word = marked.get(tenant, WORDS[tenant][0])
    for page in GUARDED:
        if page.method == "GET":
            for path in paths_of(console, page, tenant):
                for query in QUERIES if "{" not in page.path else QUERIES[:1]:
                    yield f"{path}?{query.format(word=word, day=TODAY)}"
