"""Measure help and the common reads of `slowwave`, from the start of the interpreter to its end.

Run: python -m bench.startup [--rounds 20]. It starts its own Postgres and Valkey, records a turn, and runs `slowwave`
as a person does: with compiled modules (one call of each command goes before) and output into a pipe. The bound is for
processor time, which other programs of the machine disturb less than wall time. `status` imports Celery and waits up to
a second for the answers of workers if a worker listens; none runs here.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

from bench.hooks import BARE, Run, taken
from bench.report import Row, note
from slowwave.memory import Memory
from slowwave.settings import Settings
from slowwave_server.workers.scratch import scratch_servers

BOUND_MS = 300.0
COMMANDS = (
    *("--version", "--help", "search atlas boat", "context atlas", "memory list atlas", "session list atlas"),
    *("day list atlas", "run list", "agent list", "inbox list", "queue list", "status"),
)
PROGRAM = Path(sys.executable).with_name("slowwave")


def main() -> None:
    """Measure each command in turn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    with scratch_servers(Settings()) as settings:
        with Memory(settings) as memory:
            memory.turn_completed("atlas", "monday", [{"role": "user", "content": "My boat is called Heron."}])
        variables = {"DATABASE_URL": settings.database_url, "BROKER_URL": settings.broker_url, "SPOOL": settings.spool}
        environment = os.environ | {f"SLOWWAVE_{name}": str(value) for name, value in variables.items()}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installation compiles each module once

        def command(words: str) -> Run:
            given = [str(PROGRAM), *words.split()]
            # `status` ends with 1, since no worker answers.
            check = ["sh", "-c", '"$@"; test $? -le 1', "sh", *given]
            return lambda _: subprocess.run(check, env=environment, capture_output=True, check=False)

        runs = {BARE: lambda _: subprocess.run([sys.executable, "-c", ""], capture_output=True, check=False)}
        runs |= {words: command(words) for words in COMMANDS}
        taken(runs, 1)
        times = taken(runs, rounds)
    for words, (wall, worked) in times.items():
        print(f"{words:48} processor p50 {median(worked):6.1f} ms; wall p50 {median(wall):6.1f} ms")
        if words != BARE:
            mine = median(worked)
            note(Row("startup", f"slowwave {words}", mine, "allowed", BOUND_MS, "ms", mine / BOUND_MS, "<= 1"))


if __name__ == "__main__":
    main()
