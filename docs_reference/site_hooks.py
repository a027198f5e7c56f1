"""Hooks of mkdocs: the repository's pages as a site.

Pages are written for the repository, where a link may lead to any file. Here links are made to lead to the same place
in the site: pages beside `docs/` become pages, other files are copied, folders lose their link.
"""

import os
import re
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"

# Pages that stand beside docs/, and what they are called in the site.
BESIDE = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "weaknesses.md",
    "client/README.md": "package.md",
    "examples/README.md": "examples.md",
}
# Where the copies of linked files stand.
COPIES = "files"
# In the navigation: a folder's pages, and whatever no other entry names.
FOLDER = re.compile(r"^(.*)/\*$")
REST = "*"

# How much a search's score of a page counts, by the beginning of its path; the first that fits. Guides: the default.
BOOSTS = (
    ("proof/", 0.3),
    ("changelog", 0.2),
    ("decisions/", 0.5),
    ("reference/", 0.7),
    ("architecture", 0.8),
    ("runbooks/", 0.9),
)
GUIDE_BOOST = 2.0

_FENCE = re.compile(r"^(```+)(.*?)^\1", re.MULTILINE | re.DOTALL)
_INFO = re.compile(r"^(```+)([\w-]+) [^\n]*$", re.MULTILINE)
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Expand the navigation entries that name a folder."""
    if config.nav is not None:
        named = set(_named(config.nav))
        filled = [entry for entry in (_filled(entry, named) for entry in config.nav) if entry is not None]
        config.nav = filled
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages outside docs/, and a copy of each file that a page links to."""
    for source, name in BESIDE.items():
        files.append(File.generated(config, name, abs_src_path=str(ROOT / source)))
    for page in [file for file in files if file.is_documentation_page()]:
        here = Path(page.abs_src_path or "")
        for _, _, target in _LINK.findall(_FENCE.sub("", here.read_text(encoding="utf-8"))):
            path = _in_repository(here, target)
            copy = None if path is None else _site_name(path)
            if copy is not None and copy.startswith(f"{COPIES}/") and files.get_file_from_path(copy) is None:
                files.append(File.generated(config, copy, abs_src_path=str(ROOT / str(path))))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001 (mkdocs names them)
    """Make a page's links those of the site, and its fences what the highlighter takes: one word, the language."""
    source = Path(page.file.abs_src_path or "")
    page.meta.setdefault("search", {"boost": boost_of(page.file.src_uri)})

    def relinked(match: re.Match[str]) -> str:
        image, text, target = match.groups()
        address, hash_sign, anchor = target.partition("#")
        if not address or (path := _in_repository(source, target)) is None:
            return match[0]
        name = _site_name(path)
        if name is None:
            return text
        there = os.path.relpath(name, PurePosixPath(page.file.src_uri).parent)
        return f"{image}[{text}]({there}{hash_sign}{anchor})"

    parts: list[str] = []
    at = 0
    for fence in _FENCE.finditer(markdown):
        parts += [_LINK.sub(relinked, markdown[at : fence.start()]), _INFO.sub(r"\1\2", fence[0])]
        at = fence.end()
    return "".join([*parts, _LINK.sub(relinked, markdown[at:])])


def boost_of(name: str) -> float:
    """How much a search's score of a page counts."""
    return next((boost for start, boost in BOOSTS if name.startswith(start)), GUIDE_BOOST)


def _in_repository(source: Path, target: str) -> PurePosixPath | None:
    """What a link of a page means, as a path from the root; None for an address elsewhere, or in the page itself."""
    address = target.partition("#")[0]
    if not address or "://" in address or address.startswith("mailto:"):
        return None
    path = (source.parent / address).resolve()
    return PurePosixPath(path.relative_to(ROOT).as_posix()) if path.is_relative_to(ROOT) else None


def _site_name(path: PurePosixPath) -> str | None:
    """The site's name of a file of the repository; None for a folder that has no page."""
    if (ROOT / path).is_dir():
        page = path / "README.md"
        return _site_name(page) if (ROOT / page).exists() else None
    if str(path) in BESIDE:
        return BESIDE[str(path)]
    if path.parts[0] == "docs":
        return str(path.relative_to("docs"))
    # A copy of a page is no page.
    return f"{COPIES}/{path}.txt" if path.suffix == ".md" else f"{COPIES}/{path}"


def _named(entry: Any) -> list[str]:
    """Every page that an entry of the navigation names, those of folders too."""
    if isinstance(entry, list):
        return [name for part in entry for name in _named(part)]
    if isinstance(entry, dict):
        return [name for part in entry.values() for name in _named(part)]
    folder = FOLDER.match(entry)
    return [entry] if folder is None else _pages_of(folder[1])


def _filled(entry: Any, named: set[str]) -> Any:
    """The same entry with pages in place of patterns; None if no page is left."""
    if isinstance(entry, str):
        return entry
    ((title, inner),) = entry.items()
    if inner == REST:
        inner = sorted(set(_pages_of("")) - named)
    elif isinstance(inner, str) and (folder := FOLDER.match(inner)):
        inner = _pages_of(folder[1])
    elif isinstance(inner, list):
        inner = [part for part in (_filled(part, named) for part in inner) if part is not None]
    return {title: inner} if inner else None


def _pages_of(folder: str) -> list[str]:
    """The pages below a folder of docs/, its own first."""
    found = {path.relative_to(DOCS).as_posix() for path in (DOCS / folder).rglob("*.md")}
    return sorted(found, key=lambda name: (not name.endswith("/README.md"), name))
