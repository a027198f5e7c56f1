"""The file backend through a real worker and a real beat: said, read in a file, edited there, remembered."""

from pathlib import Path

import pytest
from sqlalchemy import Engine

from slowwave import Memory
from tests.support.processes import wait_until
from tests.workers.effects import value
from tests.workers.fleet import PLAIN_APP, Fleet

pytestmark = [pytest.mark.servers, pytest.mark.workers, pytest.mark.timeout(180)]

_HAND = "SELECT count(*) FROM slowwave.memories WHERE content = :content AND trust = 'hand' AND status <> 'archived'"
_WAITING = "SELECT count(*) FROM slowwave.outbox WHERE delivered < changes"


def _text(folder: Path) -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.md")))


@pytest.mark.long
def test_what_is_said_stands_in_a_file_and_what_is_written_there_is_remembered(
    fleet: Fleet, memory: Memory, look: Engine
) -> None:
    root = fleet.folder / "memory"
    fleet.environment["SLOWWAVE_MEMORY__BACKEND"] = "file"
    fleet.environment["SLOWWAVE_MEMORY__FILES__ROOT"] = str(root)
    fleet.environment["SLOWWAVE_MEMORY__FILES__SYNC_SECONDS"] = "1"
    worker = fleet.worker(app=PLAIN_APP)
    wait_until(lambda: value(look, "SELECT count(*) FROM slowwave.memory_backends") == 1, 10, "it is registered")
    fleet.beat()
    memory.turn_completed("atlas", "monday", [{"role": "user", "content": "I live in Turin.", "name": "Maya"}])
    memory.session_idle("atlas", "monday")
    folder = root / "default" / "agent" / "atlas"
    wait_until(lambda: "Turin" in _text(folder), 30, f"a file tells of it:\n{worker.log[-2000:]}")
    daily = next(folder.glob("daily/*.md"))
    daily.write_text(daily.read_text(encoding="utf-8") + "- Maya plays the cello\n", encoding="utf-8")
    wait_until(lambda: value(look, _HAND, content="Maya plays the cello") == 1, 30, "it was read back")
    wait_until(lambda: value(look, _WAITING) == 0, 30, "nothing waits")
    wait_until(lambda: "- Maya plays the cello <!-- slowwave " in _text(folder), 30, "the line has its mark")
    worker.end()
    fleet.environment["SLOWWAVE_MEMORY__BACKEND"] = "postgres"
    fleet.worker(app=PLAIN_APP)
    wait_until(lambda: value(look, "SELECT count(*) FROM slowwave.memory_backends") == 0, 10, "it is fed no more")
