"""What docs/you-have-postgres-and-redis.md shows is what happens, on a Postgres and a Valkey that ran before."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from slowwave.settings import PREFIX
from tests.support.documents import ROOT, blocks
from tests.workers.fleet import Program
from tests.workers.terminal import Step, Terminal, steps

pytestmark = [pytest.mark.long, pytest.mark.servers, pytest.mark.workers, pytest.mark.timeout(300)]

PAGE = ROOT / "docs" / "you-have-postgres-and-redis.md"
MOST_STEPS = 5


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith((PREFIX, "FLOWER_"))}
    path = f"{Path(sys.executable).parent}:{clean['PATH']}"
    return clean | {"PATH": path, "COLUMNS": "120", "HOME": str(tmp_path)}


@pytest.fixture
def terminal(environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    monkeypatch.chdir(tmp_path)
    terminal = Terminal(tmp_path, environment)
    yield terminal
    terminal.close()


def test_five_steps_lead_to_the_first_memory(
    terminal: Terminal, environment: dict[str, str], empty_url: str, valkey_url: str, tmp_path: Path
) -> None:
    redis.Redis.from_url(valkey_url).flushall()
    servers = {"SLOWWAVE_DATABASE_URL": empty_url, "SLOWWAVE_BROKER_URL": valkey_url}
    worker: Program | None = None
    try:
        for block in blocks(of=PAGE, info="console"):
            for step in steps(block):
                if "background" in block.info:
                    worker = Program(step.command.split(), environment | servers, tmp_path / "worker.log", tmp_path)
                elif step.command.startswith("export "):
                    name = step.command.removeprefix("export ").partition("=")[0]
                    terminal.follow(Step(f"export {name}='{servers[name]}'", ()))
                else:
                    terminal.follow(step)
    finally:
        if worker is not None:
            worker.send(signal.SIGTERM)
            worker.wait(60)
    assert worker is not None


def test_the_page_has_at_most_five_steps() -> None:
    headings = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("## ")]
    assert 0 < len([line for line in headings if line[3].isdigit()]) <= MOST_STEPS
