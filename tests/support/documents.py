"""The project's documents as tests read them: their links, code spans and fenced blocks."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "client").glob("*.md"), *(ROOT / "docs").rglob("*.md")])
# What people wrote: pages that are made from the code name everything by themselves.
WRITTEN = [document for document in DOCUMENTS if document.parent != ROOT / "docs" / "reference"]

_FENCED = re.compile(r"^```(.*?)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block. info: what stands after the fence, as words; line: where it begins."""

    document: Path
    line: int
    info: tuple[str, ...]
    text: str

    @property
    def name(self) -> str:
        return f"{self.document.relative_to(ROOT)}:{self.line}"


def blocks(*, of: Path | None = None, info: str | None = None) -> list[Block]:
    """The fenced blocks of a document, or of all; those whose first word is `info`, or all."""
    found = []
    for document in DOCUMENTS if of is None else [of]:
        text = document.read_text(encoding="utf-8")
        for match in _FENCED.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            found.append(Block(document, line, tuple(match[1].split()), match[2]))
    return [block for block in found if info is None or block.info[:1] == (info,)]


def spans(document: Path) -> list[str]:
    """What stands between backticks in the running text."""
    return _SPAN.findall(_FENCED.sub("", document.read_text(encoding="utf-8")))


def links(document: Path) -> list[str]:
    """The targets of links."""
    return _LINK.findall(_FENCED.sub("", document.read_text(encoding="utf-8")))


def commands(document: Path) -> list[str]:
    """Lines of shell: of blocks marked sh or console (after the prompt), and spans. Comments are cut off."""
    lines = []
    for block in blocks(of=document):
        if block.info[:1] == ("sh",):
            lines += block.text.replace("\\\n", " ").splitlines()
        elif block.info[:1] == ("console",):
            lines += [line.removeprefix("$ ") for line in block.text.splitlines() if line.startswith("$ ")]
    return [re.sub(r"(^|\s)#.*$", "", line).strip() for line in [*lines, *spans(document)]]


def curls(document: Path) -> list[tuple[str, str]]:
    """The calls of Flower's API in shell blocks: (task, body)."""
    text = "\n".join(block.text for block in blocks(of=document, info="sh"))
    return re.findall(r"\$FLOWER_URL/api/task/send-task/([\w.]+)\" -d '(.*?)'", text, re.DOTALL)
