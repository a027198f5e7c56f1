"""docs/reference/tables.md: every table of the schema with its columns and keys, from the models.

Descriptions come from the docstrings of the classes and the comments above the columns.
"""

import ast
import importlib
import pkgutil
from inspect import getdoc, getsource
from textwrap import dedent
from typing import Any

from sqlalchemy import Column, DefaultClause, Table
from sqlalchemy.engine import URL

from docs_reference.tables import code, paragraphs, table
from slowwave_server import models
from slowwave_server.models.base import SCHEMA, Base

HEAD = f"""# Tables, generated from the code

All tables are in the schema `{SCHEMA}`. They are internal: read them, but change data only through the client, the
command line or messages. Tables may change with any release; migrations keep their data. `\\d` in
`psql` lists the checks and indexes of a table.
"""
DIALECT = URL.create("postgresql+psycopg").get_dialect()()


def tables_page() -> str:
    """The page as Markdown."""
    for module in pkgutil.iter_modules(models.__path__):
        if module.name != "migrations":
            importlib.import_module(f"slowwave_server.models.{module.name}")
    classes = {mapper.local_table: mapper.class_ for mapper in Base.registry.mappers}
    described = [_described(one, classes[one]) for one in Base.metadata.sorted_tables if one in classes]
    index = ", ".join(f"[{name}](#{name})" for name in sorted(one.name for one in classes if isinstance(one, Table)))
    return "\n".join([HEAD, f"{index}\n", *sorted(described)])


def _described(one: Table, declared: type) -> str:
    meanings = column_comments(declared)
    keys = {column.name for column in one.primary_key.columns}
    rows = [_row(column, meanings.get(column.name, ""), in_key=column.name in keys) for column in one.columns]
    parts = [f"## {one.name}\n", f"{paragraphs(getdoc(declared) or '')}\n"]
    parts.append(table(("column", "type", "", "default", "meaning"), rows))
    return "\n".join(parts)


def column_comments(declared: type) -> dict[str, str]:
    """The comment right above each column of a mapped class, by the column's name."""
    lines = dedent(getsource(declared)).splitlines()
    (body,) = ast.parse("\n".join(lines)).body
    found = {}
    for node in getattr(body, "body", ()):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            at = node.lineno - 2
            comment: list[str] = []
            while lines[at].strip().startswith("#"):
                comment.insert(0, lines[at].strip().removeprefix("#").strip())
                at -= 1
            found[node.target.id] = " ".join(comment)
    return found


def _row(column: Column[Any], meaning: str, *, in_key: bool) -> tuple[str, str, str, str, str]:
    marks = ["key"] if in_key else []
    marks += [f"→ [{key.column.table.name}](#{key.column.table.name})" for key in column.foreign_keys]
    marks += ["may be NULL"] if column.nullable else []
    default = column.server_default
    shown = str(default.arg) if isinstance(default, DefaultClause) else ""
    generated = "generated" if column.identity is not None else ""
    return code(column.name), column.type.compile(DIALECT).lower(), ", ".join(marks), code(shown) or generated, meaning
