"""The site of the documentation: it has every page, and a reader's browser asks nobody else for anything."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import slowwave
from docs_reference.site_hooks import BESIDE, DOCS
from slowwave import Memory
from tests.support.documents import DOCUMENTS, ROOT

ELSEWHERE = re.compile(
    r"""<(?:script|img|iframe)[^>]+src="?https?:|<link[^>]+(?:stylesheet|preload)[^>]+href="?https?:"""
)

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    program = [Path(sys.executable).with_name("mkdocs"), "build", "--strict", "--quiet", "--site-dir", folder]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    result = subprocess.run(
        program, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert result.returncode == 0, result.stderr
    return folder


def page_of(document: Path) -> str:
    name = BESIDE.get(document.relative_to(ROOT).as_posix()) or document.relative_to(DOCS).as_posix()
    return re.sub(r"README\.md$", "index.md", name).removesuffix(".md") + ".html"


def test_every_document_is_a_page_that_the_navigation_names(site: Path) -> None:
    pages = {page_of(document) for document in DOCUMENTS}
    assert {page for page in pages if not (site / page).exists()} == set()
    home = (site / "index.html").read_text(encoding="utf-8")
    assert {page for page in pages if f'href="{page}"' not in home.replace("./", "")} - {"index.html"} == set()


def test_no_page_asks_another_host_for_anything(site: Path) -> None:
    for file in [*site.rglob("*.html"), *site.rglob("*.svg")]:
        text = file.read_text(encoding="utf-8")
        assert ELSEWHERE.search(text) is None, file
        assert "url(http" not in text, file
    for file in site.rglob("*.css"):
        assert "url(http" not in file.read_text(encoding="utf-8"), file


def test_search_ranks_guides_before_proofs(site: Path) -> None:
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    boosts = {entry["location"].partition("#")[0]: entry.get("boost", 1) for entry in index["docs"]}
    guides = [boosts[name] for name in ("tutorial.html", "cookbook.html", "scale.html", "operate/undo.html")]
    proofs = [boost for name, boost in boosts.items() if name.startswith("proof/")]
    assert proofs
    assert min(guides) > max(proofs)


def test_reference_has_every_public_name_and_method(site: Path) -> None:
    page = (site / "api.html").read_text(encoding="utf-8")
    methods = [f"Memory.{name}" for name in dir(Memory) if not name.startswith("_") and callable(getattr(Memory, name))]
    named = set(re.findall(r'id="slowwave\.([\w.]+)"', page))
    assert {*slowwave.__all__, *methods} - named == set()
