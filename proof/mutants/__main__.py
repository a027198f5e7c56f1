"""Break each guarantee, one at a time, in a copy of the tree; a test must fail.

Run: python -m proof.mutants [NAME …] [--write]. The unchanged copy must pass the same tests first. Exits with 1 if a
mutant survives, or proves nothing. --write: also write docs/proof/mutants.md.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.machine import machine
from proof.mutants.catalogue import Mutant, Unfit, chosen, read_catalogue
from proof.mutants.running import ROOT, Outcome, check_imports, copy_tree, run_tests, try_mutant

REPORT = ROOT / "docs" / "proof" / "mutants.md"
AT_A_TIME = 2
HEAD = """# Mutants

`make mutants` generates this page. It breaks the code of Slowwave's guarantees, one place at a time, in a copy of the
tree, and runs the tests named in [the catalogue](../../proof/mutants/catalogue.toml) on real servers. If no test
noticed a mutant, no test would protect the guarantee. The unchanged copy passes the same tests in the same run.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Try the requested mutants (default: all). Return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", help="default: all")
    parser.add_argument("--write", action="store_true", help="write the report, too")
    options = parser.parse_args(arguments)
    try:
        mutants = chosen(read_catalogue(), options.names)
    except Unfit as problem:
        print(problem, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="slowwave-mutants-") as folder:
        if not _passes_unbroken(mutants, Path(folder) / "unbroken"):
            return 1
        outcomes = _try_all(mutants, Path(folder))
    if options.write:
        REPORT.parent.mkdir(parents=True, exist_ok=True)
        REPORT.write_text(f"{HEAD}\nMachine: {machine()}.\n\n{_table(mutants, outcomes)}\n", encoding="utf-8")
    survived = [m.name for m, outcome in zip(mutants, outcomes, strict=True) if outcome.verdict != "failed"]
    print(f"\n{len(mutants) - len(survived)} of {len(mutants)} mutants were noticed")
    for name in survived:
        print(f"not noticed: {name}")
    return 1 if survived else 0


def _passes_unbroken(mutants: Sequence[Mutant], folder: Path) -> bool:
    tests = sorted({test for mutant in mutants for test in mutant.tests})
    copy_tree(folder)
    check_imports(folder)
    outcome = run_tests(folder, tests, processes=AT_A_TIME)
    print(f"unbroken: {outcome.verdict} ({len(tests)} tests or files of tests, {outcome.seconds:.0f} s)", flush=True)
    if outcome.verdict != "passed":
        print(outcome.tail)
    return outcome.verdict == "passed"


def _try_all(mutants: Sequence[Mutant], folder: Path) -> list[Outcome]:
    def one(mutant: Mutant) -> Outcome:
        outcome = try_mutant(mutant, folder / mutant.name)
        words = f"noticed by {outcome.noticed}" if outcome.verdict == "failed" else "NOT NOTICED"
        print(f"{mutant.name}: {words} ({outcome.seconds:.0f} s)", flush=True)
        if outcome.verdict == "broken":
            print(outcome.tail, flush=True)
        return outcome

    with ThreadPoolExecutor(AT_A_TIME) as pool:
        return list(pool.map(one, mutants))


def _table(mutants: Sequence[Mutant], outcomes: Sequence[Outcome]) -> str:
    noticed = sum(outcome.verdict == "failed" for outcome in outcomes)
    numbers = {mutant.mistake for mutant in mutants if mutant.mistake}
    lines = [
        (
            f"{noticed} of {len(mutants)} noticed. {len(numbers)} of them revert the fix of a mistake of other systems"
            " ([the numbers](../mistakes.md))."
        ),
        "",
        "| mutant | mistake | noticed by |",
        "| --- | ---: | --- |",
    ]
    for mutant, outcome in zip(mutants, outcomes, strict=True):
        by = f"`{outcome.noticed}`" if outcome.verdict == "failed" else "**nothing**"
        lines.append(f"| {mutant.promise} | {mutant.mistake or ''} | {by} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
