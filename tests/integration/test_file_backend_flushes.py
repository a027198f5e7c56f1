"""Hand edits to both files survive the flushes that come after them, from the hook to the file."""

from pathlib import Path

import pytest
from sqlalchemy import Engine

from slowwave_server.domain.memory_files import parse_document
from slowwave_server.services.memory_files.backends import choose_backend
from slowwave_server.services.memory_files.delivery import FileRules, deliver
from slowwave_server.services.memory_files.disk import CURATED, Disk
from tests.support.flushing import Scene

pytestmark = pytest.mark.servers


class Reader:
    """The files of the agent of a scene, and somebody who edits them."""

    def __init__(self, engine: Engine, scene: Scene, root: Path) -> None:
        self._engine = engine
        self._scene = scene
        self._rules = FileRules(root)
        self.folder = root / "default" / "agent" / "maya"

    def deliver(self) -> None:
        scope = self._scene.sql("SELECT id FROM slowwave.scopes WHERE name = 'maya'")[0].id
        report = deliver(self._engine, scope, rules=self._rules, disk=Disk(), now=self._scene.clock())
        assert report.state == "current"

    def turn(self, *lines: str, session: str) -> None:
        """A conversation, its flush, a delivery."""
        self._scene.say(session, *lines, trigger="idle")
        assert self._scene.flush(session).outcome == "stored"
        self.deliver()

    @property
    def daily(self) -> str:
        return f"daily/{self._scene.clock():%Y-%m-%d}.md"

    def edit(self, path: str, old: str, new: str) -> None:
        file = self.folder / path
        text = file.read_text(encoding="utf-8") if file.exists() else ""
        assert old in text
        file.write_text(text.replace(old, new, 1) if old else text + new, encoding="utf-8")

    def says(self, path: str) -> set[str]:
        entries = parse_document((self.folder / path).read_text(encoding="utf-8")).entries
        return {entry.memory.content for entry in entries if entry.memory is not None}


def test_hand_edits_to_both_files_survive_three_more_flushes(engine: Engine, scene: Scene, tmp_path: Path) -> None:
    choose_backend(engine, "file", scene.clock())
    reader = Reader(engine, scene, tmp_path)
    reader.turn("I live in Turin", "I have a cat", session="one")
    reader.edit(reader.daily, "I live in Turin", "I live in Genoa, near the harbour")
    reader.edit(reader.daily, "", "\nShe sounded tired today.\n\n## Mine\n\n- ask about the boat\n")
    reader.edit(CURATED, "", "- Maya prefers short answers\n\nKeep this page short.\n")
    for number in range(3):
        reader.turn(f"I read book {number}", "I have a cat", session=f"later {number}")
    books = {"I read book 0", "I read book 1", "I read book 2"}
    assert reader.says(reader.daily) == books | {
        "I live in Genoa, near the harbour",
        "I have a cat",
        "Maya prefers short answers",
    }
    assert reader.says(CURATED) == {"Maya prefers short answers"}
    daily = (reader.folder / reader.daily).read_text(encoding="utf-8")
    assert "\nShe sounded tired today.\n\n## Mine\n\n- ask about the boat\n" in daily
    assert "\n\nKeep this page short.\n" in (reader.folder / CURATED).read_text(encoding="utf-8")
    assert "ask about the boat" not in scene.memories()
    trusts = dict(scene.sql("SELECT content, trust FROM slowwave.memories WHERE status <> 'archived'"))
    assert trusts["I live in Genoa, near the harbour"] == trusts["Maya prefers short answers"] == "hand"
    # Said again, it is evidence as ever: what a person wrote is no wall around the rest.
    assert trusts["I have a cat"] == "user"
