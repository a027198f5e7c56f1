"""Each recipe of docs/cookbook.md, and each quick start by curl, does on a real stack what its page shows."""

import json
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from slowwave.settings import PREFIX
from tests.support.documents import ROOT, Block, blocks
from tests.workers.stack_process import StackProcess, stack_process
from tests.workers.terminal import Step, Terminal, steps

pytestmark = [pytest.mark.long, pytest.mark.servers, pytest.mark.workers, pytest.mark.timeout(600)]

COOKBOOK = ROOT / "docs" / "cookbook.md"
RECIPES = re.findall(r"^## (\d+)\. (.+)$", COOKBOOK.read_text(encoding="utf-8"), re.MULTILINE)
# No conversation may go quiet by itself while a busy machine runs the recipes.
SLOW = {"SLOWWAVE_MEMORY__AUTO_FLUSH__IDLE_SECONDS": "3600"}


def steps_of(number: str) -> list[Step]:
    """The steps of a recipe: programs with the output that follows them, and lines of consoles."""
    text = COOKBOOK.read_text(encoding="utf-8")
    start = text.count("\n", 0, text.index(f"## {number}. ")) + 1
    later = [text.count("\n", 0, match.start()) + 1 for match in re.finditer(r"^## ", text, re.MULTILINE)]
    end = min((line for line in later if line > start), default=text.count("\n") + 1)
    found: list[Step] = []
    for block in blocks(of=COOKBOOK):
        if start < block.line < end:
            found += _steps(block, found)
    return found


def _steps(block: Block, before: list[Step]) -> list[Step]:
    if block.info == ("python", "recipe"):
        return [Step(f"python - <<'END'\n{block.text}END", ())]
    if block.info == ("text", "output"):
        last = before.pop()
        return [Step(last.command, tuple(block.text.splitlines()))]
    return steps(block) if block.info == ("console",) else []


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cookbook")


@pytest.fixture(scope="module")
def stack(folder: Path) -> Iterator[StackProcess]:
    with stack_process(folder / "data", **SLOW) as run:
        run.ready()
        yield run


@pytest.fixture
def terminal(stack: StackProcess, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    monkeypatch.chdir(folder)
    clean = {name: value for name, value in os.environ.items() if not name.startswith((PREFIX, "FLOWER_"))}
    path = f"{Path(sys.executable).parent}:{clean['PATH']}"
    given = clean | stack.ready() | SLOW | {"PATH": path, "COLUMNS": "120", "HOME": str(folder)}
    terminal = Terminal(folder, given)
    yield terminal
    terminal.close()


def test_cookbook_has_twelve_recipes_in_order() -> None:
    assert [int(number) for number, _ in RECIPES] == list(range(1, 13))


@pytest.mark.parametrize("number", [number for number, _ in RECIPES], ids=[title for _, title in RECIPES])
def test_recipe_prints_what_the_page_shows(terminal: Terminal, number: str) -> None:
    found = steps_of(number)
    assert found, "the recipe has blocks that run"
    for step in found:
        terminal.follow(step)


@pytest.mark.skipif(shutil.which("curl") is None, reason="the pages send with curl")
@pytest.mark.parametrize("page", ["README.md", "docs/http.md"])
def test_quick_start_by_curl_answers_without_a_problem(terminal: Terminal, page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    found = [textwrap.dedent(one) for one in re.findall(r"^ *```sh\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL)]
    parts = [one for one in found if "curl" in one or "admin keys add" in one]
    answers = [json.loads(answer) for one in parts for answer in _json_lines(terminal.run(one))]
    assert len(answers) == 3, "a turn, a request in another session, and one more"
    assert [answer for answer in answers if "status" in answer and "title" in answer] == []
    assert answers[0]["added"] >= 1


def _json_lines(printed: str) -> list[str]:
    """The JSON documents that curl printed one behind the other, without line ends between them."""
    decoder, rest, found = json.JSONDecoder(), printed[printed.find("{") :], []
    while rest.startswith("{"):
        _, end = decoder.raw_decode(rest)
        found.append(rest[:end])
        rest = rest[end:].lstrip()
    return found
