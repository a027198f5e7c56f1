"""`python -m docs_reference`: write docs/reference, docs/openapi.json and docs/tasks.schema.json.

`--check` says what differs, and exits 1.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from docs_reference.console_page import console_page
from docs_reference.http_page import http_page
from docs_reference.keys_page import keys_page
from docs_reference.openapi_document import openapi_document
from docs_reference.settings_page import settings_page
from docs_reference.shell_page import shell_page
from docs_reference.tables_page import tables_page
from docs_reference.tasks_page import payload_schemas, tasks_page

FOLDER = Path(__file__).parent.parent / "docs" / "reference"
PAGES: dict[str, Callable[[], str]] = {
    "../openapi.json": openapi_document,
    "../tasks.schema.json": payload_schemas,
    "../console.md": console_page,
    "http.md": http_page,
    "redis-keys.md": keys_page,
    "settings.md": settings_page,
    "shell.md": shell_page,
    "tables.md": tables_page,
    "tasks.md": tasks_page,
}


def main() -> int:
    """Write or compare; answer the exit code."""
    parser = argparse.ArgumentParser(prog="python -m docs_reference", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; say which pages differ from the code")
    check = parser.parse_args().check
    FOLDER.mkdir(parents=True, exist_ok=True)
    differ = []
    for name, page in PAGES.items():
        file, text = FOLDER / name, page()
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            differ.append(name)
            if not check:
                file.write_text(text, encoding="utf-8")
    for name in differ:
        sys.stdout.write(f"{name} {'differs: run python -m docs_reference' if check else 'written'}\n")
    return 1 if check and differ else 0


if __name__ == "__main__":
    sys.exit(main())
