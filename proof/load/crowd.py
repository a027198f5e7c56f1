"""Producers of one run: a plan is divided among processes, which play it."""

import json
import select
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from proof.load.traffic import Hook

PROCESSES = 2
READY_SECONDS = 60.0
LEAD_SECONDS = 0.5
"""From the moment at which all are ready to second 0."""

Deal = Callable[[Hook], int]
"""Answers the number of the process that plays a hook; hooks of one session go to one process."""


def by_session(hook: Hook) -> int:
    """Divide sessions evenly."""
    return hook.session // 8 % PROCESSES


class Crowd:
    """Running producers. start: the time of second 0 (Unix time); pids: their process ids."""

    def __init__(
        self,
        hooks: Sequence[Hook],
        *,
        run: str,
        folder: Path,
        environment: Mapping[str, str],
        deal: Deal = by_session,
        seed: int = 0,
    ) -> None:
        self.run = run
        self._processes: list[subprocess.Popen[bytes]] = []
        self._records: list[Path] = []
        parts: dict[int, list[Hook]] = {}
        for hook in hooks:
            parts.setdefault(deal(hook), []).append(hook)
        for place, part in sorted(parts.items()):
            plan, record = folder / f"{run}-{place}.plan", folder / f"{run}-{place}.record"
            plan.write_text("".join(json.dumps(hook) + "\n" for hook in part), encoding="utf-8")
            self._records.append(record)
            command = [sys.executable, "-m", "proof.load.producer", str(plan), str(record), run, str(seed)]
            self._processes.append(
                subprocess.Popen(command, env=dict(environment), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            )
        self.start = self._begin()

    @property
    def pids(self) -> list[int]:
        return [process.pid for process in self._processes]

    def _begin(self) -> float:
        """Wait until all are ready, and send them the start time. Raises TimeoutError."""
        deadline = time.monotonic() + READY_SECONDS
        for process in self._processes:
            pipe = process.stdout
            if pipe is None or not select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))[0]:
                self.end()
                raise TimeoutError(f"a producer was not ready within {READY_SECONDS:g} s")
            if pipe.readline() != b"ready\n":
                self.end()
                raise ChildProcessError(f"a producer ended with code {process.wait()} before it began")
        start = time.time() + LEAD_SECONDS
        for process in self._processes:
            if process.stdin is not None:
                process.stdin.write(f"{start}\n".encode())
                process.stdin.close()
        return start

    def wait(self, seconds: float) -> bool:
        """Wait until all have played their parts. Return False if some had to be ended after `seconds`."""
        deadline = time.monotonic() + seconds
        ended = True
        for process in self._processes:
            try:
                ended = process.wait(max(0.1, deadline - time.monotonic())) == 0 and ended
            except subprocess.TimeoutExpired:
                ended = False
                self._end(process)
        return ended

    def end(self) -> None:
        """End the remaining processes."""
        for process in self._processes:
            if process.poll() is None:
                self._end(process)
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()

    def lines(self) -> list[dict[str, Any]]:
        """Return the records in the order of the plan; an incomplete line is omitted."""
        found = []
        for record in self._records:
            if record.exists():
                for line in record.read_text("utf-8").splitlines():
                    with suppress(ValueError):
                        found.append(json.loads(line))
        return sorted(found, key=lambda line: float(line["scheduled"]))

    def _end(self, process: "subprocess.Popen[bytes]") -> None:
        process.terminate()
        try:
            process.wait(3)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(3)
