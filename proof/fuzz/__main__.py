"""Run the properties of `tests/attacks/test_fuzz_*.py` and of the HTTP gateway in rounds, and report the examples.

Each round has other examples.

A round is pytest with a multiple of the suite's examples and a printed seed; the same seed gives the same examples. The
report lists failures with their seed; the printed log of the round has the failing examples.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.machine import machine

ROOT = Path(__file__).parents[2]
REPORT = ROOT / "docs" / "proof" / "fuzz.md"
PROPERTIES = (
    *sorted((ROOT / "tests" / "attacks").glob("test_fuzz_*.py")),
    *sorted((ROOT / "tests" / "gateway").glob("test_*_fuzz.py")),
)
PYTEST = (sys.executable, "-m", "pytest", "-q", "--tb=short", "--timeout=0", "-rfE")
GROUPS = {
    "AsyncMemory": "methods of `AsyncMemory`, in background mode",
    "Memory": "methods of `Memory`",
    "http": "paths and tools of the gateway",
    "import": "folders of `slowwave memory import`",
    "mcp": "tools of MCP",
    "memory": "memory files",
    "model": "answers of a model",
    "slowwave": "commands",
    "task": "Celery tasks",
}
"""What the report calls entry points whose names begin with this word; others have a row of their own."""
FACTOR = 4
"""A round tries so many times what the suite tries: long enough to be worth starting servers for."""


@dataclass
class Rounds:
    """The examples of all rounds. failed: the names of properties, by the seed of the round."""

    files: Sequence[Path] = PROPERTIES
    seeds: list[int] = field(default_factory=list)
    tried: Counter[str] = field(default_factory=Counter)
    failed: dict[int, list[str]] = field(default_factory=dict)
    seconds: float = 0.0

    def run(self, factor: float) -> None:
        """Run one more round."""
        seed = random.randrange(2**32)
        self.seeds.append(seed)
        with tempfile.TemporaryDirectory() as folder:
            tally = Path(folder) / "tally.json"
            variables = {"FUZZ_FACTOR": str(factor), "FUZZ_TALLY": str(tally)}
            started = time.monotonic()
            ended = subprocess.run(
                [*PYTEST, f"--hypothesis-seed={seed}", *map(str, self.files)],
                cwd=ROOT,
                env=os.environ | variables,
                capture_output=True,
                text=True,
                check=False,
            )
            self.seconds += time.monotonic() - started
            if tally.exists():
                self.tried += Counter(json.loads(tally.read_text(encoding="utf-8")))
        if ended.returncode:
            print(ended.stdout[-20_000:], ended.stderr[-2000:])
            named = [line.split("::")[-1] for line in ended.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
            self.failed[seed] = named or [f"pytest ended with {ended.returncode}"]


def report(rounds: Rounds) -> str:
    """Return the report in Markdown: examples, failures, machine."""
    entrances = sorted(name for name in rounds.tried if not name.endswith(" (taken)"))
    total = sum(rounds.tried[name] for name in entrances)
    lines = [
        "# Fuzzing of every entry point",
        "",
        f"{total:,} examples at {len(entrances)} entry points in {rounds.seconds / 60:.1f} minutes;",
        f"{sum(map(len, rounds.failed.values()))} properties failed. Machine: {machine()}.",
        "",
        "Invalid input is refused with a reason and without any write. `python -m proof.fuzz --minutes 10`",
        f"tries other examples each time. Seeds of these rounds: {', '.join(map(str, rounds.seeds))}.",
        "",
        "| entry points | how many | examples | accepted |",
        "| --- | ---: | ---: | ---: |",
    ]
    groups: dict[str, list[str]] = {}
    for name in entrances:
        groups.setdefault(GROUPS.get(re.split(r"[ .:]", name)[0], name), []).append(name)
    for group, names in sorted(groups.items()):
        tried, taken = (sum(rounds.tried[name + end] for name in names) for end in ("", " (taken)"))
        lines.append(f"| {group} | {len(names)} | {tried:,} | {taken / tried:.0%} |")
    for seed, names in rounds.failed.items():
        lines += ["", f"Failed with seed {seed}:", "", *(f"- `{name}`" for name in names)]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Run the rounds. Return 1 if a property failed."""
    parser = argparse.ArgumentParser(prog="proof.fuzz", description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--minutes", type=float, default=10.0, help="a new round begins until these are over")
    parser.add_argument("--factor", type=float, default=FACTOR, help="examples of a round, in those of the suite")
    parser.add_argument("--only", default="", help="part of a file's name: only the properties there, and no report")
    asked = parser.parse_args()
    rounds = Rounds([file for file in PROPERTIES if asked.only in file.name])
    end = time.monotonic() + asked.minutes * 60
    while not rounds.seeds or time.monotonic() < end:
        rounds.run(asked.factor)
        print(f"round {len(rounds.seeds)}, seed {rounds.seeds[-1]}: {rounds.failed.get(rounds.seeds[-1], 'all hold')}")
    if not asked.only:
        REPORT.parent.mkdir(parents=True, exist_ok=True)
        REPORT.write_text(report(rounds), encoding="utf-8")
    print(report(rounds))
    return 1 if rounds.failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
