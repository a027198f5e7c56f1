"""The pages of docs/reference are what the code gives, and what people wrote about defaults is true."""

import re

import pytest

from docs_reference.__main__ import FOLDER, PAGES
from docs_reference.settings_page import defaults
from tests.support.documents import ROOT

NOTHING = {"none", "empty", ""}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_what_the_code_gives(name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == PAGES[name](), (
        "run `make reference` and commit what it writes"
    )


def test_nothing_else_stands_among_the_pages_that_are_made() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {name for name in PAGES if "/" not in name}


def test_the_defaults_on_the_page_about_settings_are_those_of_the_code() -> None:
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    written = dict(re.findall(r"^\| `([a-z0-9_.]+)` \| ([^|]*?) ?\|", page, re.MULTILINE))
    differ = {}
    for key, default in defaults().items():
        says, holds = (text.strip().strip("`").replace(",", "") for text in (written.get(key, "?"), default))
        if says != holds and not (says in NOTHING and not holds):
            differ[key] = (says, holds)
    assert differ == {}, "what the page says, and what holds"
