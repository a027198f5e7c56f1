"""A producer: a process that plays its part of a plan through the client, at the plan's times, whatever the answers
are.

Run: python -m proof.load.producer PLAN RECORD RUN SEED. PLAN has hooks, one JSON list per line; RECORD gets a line for
each played hook. The process prints "ready", and reads the time of second 0 (Unix time) from its input. Settings come
from the environment.

Each session belongs to one thread, so its hooks keep their order. A busy thread begins the next hook late, and the
record has the planned time.
"""

import json
import os
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from proof.load.traffic import Hook, messages, session_name
from slowwave import Memory

THREADS = 8
"""As many as a client has connections."""


class Player:
    """Plays hooks and writes their results: {"hook", "scheduled", "began", "returned", "due", "boosted", "error"}.

    Times are Unix times in seconds.
    """

    def __init__(self, memory: Memory, out: TextIO, *, run: str, start: float, seed: int) -> None:
        self._memory = memory
        self._out = out
        self._run = run
        self._start = start
        self._seed = seed
        self._lock = threading.Lock()

    def play(self, hooks: Sequence[Hook]) -> None:
        """Play these hooks in order."""
        rest = threading.Event()
        for hook in hooks:
            scheduled = self._start + hook.at
            wait = scheduled - time.time()
            if wait > 0:
                rest.wait(wait)
            began = time.time()
            line = {"hook": hook, "scheduled": scheduled, "began": began} | self._call(hook)
            line["returned"] = time.time()
            with self._lock:
                self._out.write(json.dumps(line) + "\n")

    def _call(self, hook: Hook) -> dict[str, object]:
        agent, session = f"agent-{hook.agent}", session_name(self._run, hook.session)
        try:
            if hook.kind == "prompt":
                return {"boosted": self._memory.prompt_arrived(agent, session)}
            if hook.kind == "turn":
                key = f"{session}/{hook.turn}"
                receipt = self._memory.turn_completed(agent, session, messages(hook, self._seed), key=key)
            elif hook.kind == "idle":
                receipt = self._memory.session_idle(agent, session)
            else:
                receipt = self._memory.session_reset(agent, session)
        except Exception as error:  # noqa: BLE001 - a load goes on; what failed is counted and shown
            return {"error": type(error).__name__}
        return {"due": receipt.reason if receipt.due else None, "stored": receipt.stored}


def main(arguments: Sequence[str]) -> int:
    """Play a part of a plan."""
    plan, record, run, seed = arguments
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    hooks = [Hook(*json.loads(line)) for line in Path(plan).read_text("utf-8").splitlines()]
    with Memory.from_env() as memory, Path(record).open("w", encoding="utf-8", buffering=1 << 16) as out:
        memory.status()  # connects to both servers
        parts = [[hook for hook in hooks if hook.session % THREADS == place] for place in range(THREADS)]
        print("ready", flush=True)
        player = Player(memory, out, run=run, start=float(sys.stdin.readline()), seed=int(seed))
        threads = [threading.Thread(target=player.play, args=(part,)) for part in parts if part]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return 0


def _end_with(parent: int) -> None:
    """End this process when its parent has ended, because no process would read the record."""
    with suppress(KeyboardInterrupt):
        while os.getppid() == parent:
            time.sleep(1)
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
