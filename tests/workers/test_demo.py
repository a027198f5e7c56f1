"""`slowwave demo` as a process: what it shows was really done, and it leaves nothing running."""

import os
import re
import signal
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.processes import marked, wait_until
from tests.workers.stack_process import PROGRAM, ROOT

pytestmark = [pytest.mark.long, pytest.mark.servers, pytest.mark.workers, pytest.mark.timeout(240)]

SECONDS = 180
FILLER = ("Thanks", "You're welcome", "Noted", "keep that in mind")


class DemoProcess:
    """One run of `slowwave demo`, its output in a file."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.mark = f"DEMO_TEST={uuid.uuid4().hex}"
        self._output = folder / "demo.out"
        name, _, value = self.mark.partition("=")
        clean = {k: v for k, v in os.environ.items() if not k.startswith("SLOWWAVE_")}
        with self._output.open("wb") as out:
            self.process = subprocess.Popen(
                [PROGRAM, "demo", *options],
                env={**clean, "COLUMNS": "160", "TMPDIR": str(folder), name: value},
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
            )

    @property
    def lines(self) -> list[str]:
        """What it has printed so far, without indents."""
        text = self._output.read_text(encoding="utf-8", errors="replace")
        return [" ".join(line.split()) for line in text.splitlines()]

    def says(self, text: str) -> None:
        """Wait until it has printed this."""
        wait_until(lambda: any(text in line for line in self.lines), SECONDS, f"{text!r} in {self.lines}")


@contextmanager
def demo_process(folder: Path, *options: str) -> Iterator[DemoProcess]:
    """A run that has ended, with all that it started, when the block ends."""
    run = DemoProcess(folder, *options)
    try:
        yield run
    finally:
        if run.process.poll() is None:
            run.process.terminate()
            run.process.wait(60)
        wait_until(lambda: not marked(run.mark), 20, "no process of the demo is left")


def _shown_after(lines: list[str], title: str) -> list[str]:
    """The lines of the step with this title."""
    begin = next(number for number, line in enumerate(lines) if re.match(rf"\d\. {title}", line))
    rest = lines[begin + 1 :]
    end = next((number for number, line in enumerate(rest) if re.match(r"\d\. ", line)), len(rest))
    return rest[:end]


def test_demo_shows_what_the_workers_decided(tmp_path: Path) -> None:
    with demo_process(tmp_path) as run:
        assert run.process.wait(SECONDS) == 0, run.lines
        assert not marked(run.mark)
    assert not list(tmp_path.glob("slowwave-demo-*"))
    lines = run.lines
    first = _shown_after(lines, "A worker tidies up in")
    assert "merged “Maya enjoys hiking in the mountains.”" in first
    assert "into “Maya likes hiking in the mountains.”" in first
    second = _shown_after(lines, "A worker tidies up again")
    replaced = next(number for number, line in enumerate(second) if line.startswith("replaced “Maya lives in Porto.”"))
    assert second[replaced + 1] == "by “Maya lives in Bergen now.”"
    asked = " ".join(_shown_after(lines, "No rule decides"))
    assert "Which one holds?" in asked
    assert "restored “Maya's sister Ana likes mushrooms.”" in asked
    assert "restored “Maya's sister Ana doesn't like mushrooms.”" in asked
    assert "“Maya's sister Ana doesn't like mushrooms.” holds, and replaced" in asked
    known = " ".join(_shown_after(lines, "What the agent knows today"))
    assert "home: Bergen" in known
    assert "nothing is kept, 1 secret redacted" in " ".join(lines)


def test_demo_hides_servers_and_finds_no_filler(tmp_path: Path) -> None:
    with demo_process(tmp_path) as run:
        assert run.process.wait(SECONDS) == 0, run.lines
    text = "\n".join(run.lines)
    assert not re.search(r"^(postgres|valkey|schema|worker-\w+|beat) ", text, re.MULTILINE)
    assert not re.search("kill", text)
    found = text.partition("search(")[2].partition("What was true on")[0]
    assert "mushrooms" in found
    assert [word for word in FILLER if word in found] == []


@pytest.mark.parametrize("heard", ["They started", "2. A worker tidies up"])
def test_ctrl_c_in_the_demo_leaves_nothing(tmp_path: Path, heard: str) -> None:
    with demo_process(tmp_path, "--verbose") as run:
        run.says(heard)
        run.process.send_signal(signal.SIGINT)
        assert run.process.wait(60) == 130
        assert not marked(run.mark)
    assert not list(tmp_path.glob("slowwave-demo-*"))
    text = "\n".join(run.lines)
    assert "Stopped; nothing is left running." in text
    assert re.search(r"^postgres ready on ", text, re.MULTILINE)
    assert "kill" not in text
    assert "Traceback" not in text


def test_ctrl_c_while_the_demo_starts_leaves_nothing(tmp_path: Path) -> None:
    with demo_process(tmp_path, "--verbose") as run:
        run.says("creating a new database cluster")
        run.process.send_signal(signal.SIGINT)
        assert run.process.wait(60) == 130
        assert not marked(run.mark)
    assert "Stopped; nothing is left running." in run.lines
