"""What docs/tutorial.md shows is what happens, and what docs/other-languages.md sends arrives: on one stack."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from slowwave.settings import PREFIX
from tests.support.documents import ROOT, Block, blocks
from tests.support.processes import wait_until
from tests.workers.stack_process import StackProcess, stack_process
from tests.workers.terminal import Terminal, steps

pytestmark = [pytest.mark.long, pytest.mark.servers, pytest.mark.workers, pytest.mark.timeout(600)]

# On a machine that is busy with something else the tutorial's conversations must not come to rest by themselves.
SLOW = {
    "SLOWWAVE_MEMORY__AUTO_FLUSH__IDLE_SECONDS": "3600",
    "SLOWWAVE_MEMORY__AUTO_FLUSH__MAX_DIRTY_AGE_SECONDS": "7200",
}
TUTORIAL = ROOT / "docs" / "tutorial.md"
LANGUAGES = ROOT / "docs" / "other-languages.md"
SAID = """
    SELECT e.content FROM slowwave.events e JOIN slowwave.sessions s ON s.id = e.session_id
    WHERE s.name IN ('monday', 'sunday') AND e.key IS NOT NULL ORDER BY e.content
"""


def blocks_of(page: Path) -> list[Block]:
    return [block for block in blocks(of=page) if block.info[:1] == ("console",)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tutorial")


@pytest.fixture(scope="module")
def stack(folder: Path) -> Iterator[StackProcess]:
    """What the page's first terminal shows: `slowwave up` on the folder `data`."""
    (block,) = [block for block in blocks_of(TUTORIAL) if "background" in block.info]
    assert [step.command for step in steps(block)][-1] == "slowwave up --data data"
    with stack_process(folder / "data", **SLOW) as run:
        run.ready()
        yield run


@pytest.fixture
def terminal(stack: StackProcess, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    """The page's second terminal, with the virtual environment that is active."""
    monkeypatch.chdir(folder)
    clean = {name: value for name, value in os.environ.items() if not name.startswith((PREFIX, "FLOWER_"))}
    path = f"{Path(sys.executable).parent}:{clean['PATH']}"
    terminal = Terminal(folder, clean | SLOW | {"PATH": path, "COLUMNS": "120", "HOME": str(folder)})
    yield terminal
    terminal.close()


def test_each_command_of_the_tutorial_prints_what_the_page_shows(terminal: Terminal) -> None:
    for block in blocks_of(TUTORIAL):
        if "background" not in block.info:
            for step in steps(block):
                terminal.follow(step)


@pytest.mark.skipif(shutil.which("curl") is None, reason="the page sends with curl")
def test_what_programs_in_other_languages_send_is_recorded(stack: StackProcess, terminal: Terminal) -> None:
    terminal.run('eval "$(slowwave config env --export --data data)"')
    sent = [block for block in blocks(of=LANGUAGES) if "runnable" in block.info or "curl" in block.text]
    assert len(sent) == 3
    for block in sent:
        terminal.run(block.text if block.info == ("sh",) else f"python - <<'END'\n{block.text}\nEND")
    url = stack.ready()["SLOWWAVE_DATABASE_URL"]
    expected = ["How do you like it?", "I moved to Lisbon.", "I moved to Lisbon.", "I teach physics in Oslo."]

    def recorded() -> list[str]:
        with psycopg.connect(url) as connection:
            return [content for (content,) in connection.execute(SAID) if content in expected]

    wait_until(lambda: len(recorded()) >= len(expected), 20, "all of it is recorded")
    assert recorded() == expected
