"""`slowwave up` as a process of its own, for tests: started, awaited, signalled, and searched for leftovers."""

import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from slowwave_server.workers.stack.environment import environment_of
from slowwave_server.workers.stack.errors import NotReady
from tests.support.processes import marked, wait_until

ROOT = Path(__file__).parents[2]
READY_SECONDS = 90
PROGRAM = Path(sys.executable).with_name("slowwave")


class StackProcess:
    """One run of `slowwave up` on a data folder; its output is kept in a file beside it.

    `program`: another installation's `slowwave`; `folder`: where it is called.
    """

    def __init__(
        self, data: Path, *options: str, program: Path = PROGRAM, folder: Path = ROOT, **variables: str
    ) -> None:
        self.data = data
        self.mark = f"STACK_TEST={uuid.uuid4().hex}"
        self._output = data.with_name(f"{data.name}-{uuid.uuid4().hex[:6]}.out")
        name, _, value = self.mark.partition("=")
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("SLOWWAVE_", "FLOWER_"))}
        with self._output.open("wb") as out:
            self.process = subprocess.Popen(
                [program, "up", "--data", data, "--concurrency", "1", *options],
                env={**clean, **variables, name: value},
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
            )

    @property
    def output(self) -> str:
        """What it has printed so far."""
        return self._output.read_text(encoding="utf-8", errors="replace")

    def says(self, text: str, seconds: float = 30) -> None:
        """Wait until it has printed this."""
        wait_until(lambda: text in self.output, seconds, f"{text!r} in:\n{self.output}")

    def ready(self) -> dict[str, str]:
        """Wait until it is ready, and answer its variables."""
        wait_until(lambda: self._variables() is not None or self.ended, READY_SECONDS, "the stack is ready")
        variables = self._variables()
        assert variables is not None, self.output
        return variables

    def _variables(self) -> dict[str, str] | None:
        try:
            return dict(line.split("=", 1) for line in environment_of(self.data))
        except NotReady:
            return None

    @property
    def ended(self) -> bool:
        return self.process.poll() is not None

    def stop(self, number: signal.Signals = signal.SIGINT, seconds: float = 30) -> int:
        """Send a signal, and answer the exit code, which must come within `seconds`."""
        self.process.send_signal(number)
        return self.process.wait(seconds)

    def left(self) -> set[int]:
        """The processes that carry this run's mark."""
        return marked(self.mark)


@contextmanager
def stack_process(
    data: Path, *options: str, program: Path = PROGRAM, folder: Path = ROOT, **variables: str
) -> Iterator[StackProcess]:
    """A run that is over when the block ends, whatever the test did."""
    run = StackProcess(data, *options, program=program, folder=folder, **variables)
    try:
        yield run
    finally:
        if not run.ended:
            run.process.terminate()
            run.process.wait(20)
        wait_until(lambda: not run.left(), 20, "no process of the stack is left")
