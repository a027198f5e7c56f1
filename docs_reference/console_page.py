"""docs/console.md, with the table of pages from the code."""

from pathlib import Path

from docs_reference.tables import code, table
from slowwave_server.workers.console.app_state import Link
from slowwave_server.workers.console.pages import NAVIGATION

PAGE = Path(__file__).parent.parent / "docs" / "console.md"
HEAD = ("group", "page", "keys", "shows")


def console_page() -> str:
    """The page as it is, except for the rows of this table."""
    before, head, after = PAGE.read_text(encoding="utf-8").partition(table(HEAD, ()))
    return before + table(HEAD, map(_row, NAVIGATION)) + after[after.index("\n\n") + 1 :] if head else before


def _row(link: Link) -> tuple[str, ...]:
    page = ", ".join((link.title, code(link.path), *map(code, link.also)))
    return link.group, page, code(f"g {link.key}" if link.key else ""), link.shows
