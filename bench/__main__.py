"""Every measured comparison, one after the other, then one table.

Run: python -m bench [PART …] [--beside CLONE] [--markdown FILE] [--rows FOLDER]. Each part runs in a separate process,
one after the other. Parts that read public data sets are skipped, with a message, if the data is missing. With a folder
of rows, a part can be measured again alone: the table has the last measurement of each part.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.machine import machine
from bench.report import FILE_VARIABLE, as_markdown, read

PARTS = {
    "capture": "a, b, f: what a hook costs",
    "offer": "c: what an offer costs",
    "hooks": "what a coding agent's host waits for its hooks",
    "startup": "what help and the common reads take",
    "flush": "d: flush throughput",
    "search_speed": "e: search and context as a scope grows",
    "context": "what an agent reads before its first word, and whether budgets hold",
    "sweep": "g: what sweeps drain",
    "consolidate": "a pass, an item, as its scope grows",
    "sleep": "do passes help or harm later questions",
    "extraction": "what becomes a memory, beside two baselines and version 1 of the rules",
    "realmem_search": "do memories alone answer later questions, by search",
    "recall": "do search and context find the evidence, beside BM25, a recipe and another clone",
    "recall_twice": "do the same data, loaded in another order, give the same answers",
    "silence": "are questions of other persons and projects answered with nothing",
    "precisionmem": "does search find the right belief and nothing else, beside published figures",
    "days": "do summaries of days say what people would",
    "similarity": "what the similarity says of labelled pairs",
    "blocking": "do memories that are alike find each other",
    "candidates": "does a pass find the other half of a pair among 100,000 memories",
    "days_size": "what a day costs as it grows",
    "model_cost": "what a model costs for the same conversations",
    "gateway": "what HTTP costs, beside the hook and a bare route",
    "console": "what every page of the console takes at 100,000 memories",
}
NEEDS_DATA = {
    "sleep": "realmem-dev.json",
    "extraction": "realmem-dev.json",
    "realmem_search": "realmem-dev.json",
    "recall": "realmem-dev.json",
    "recall_twice": "realmem-dev.json",
    "silence": "realmem-dev.json",
    "precisionmem": "precisionmem-retrieval.cases.json",
    "days": "locomo-dev.json",
    "blocking": "sick-dev.jsonl",
    "candidates": "pairs-dev.jsonl",
    "similarity": "sick-dev.jsonl",
}
HEAD = """# Benchmarks

Written by `python -m bench --markdown FILE`. Each row compares two medians that were measured in one run on one
machine: Slowwave's (*measured*) and that of the alternative (*beside*). Parts ran one after the other; some were
measured again later (`--rows FOLDER`), always with both sides. *Ratio* is measured divided by beside, unless the bound
of the row needs the opposite. ✓ marks a bound that holds, ✗ one that does not.
"""
ROOT = Path(__file__).parent.parent


def data_folder() -> Path:
    """The folder of the public data sets, if it exists."""
    return Path(os.environ.get("SLOWWAVE_SHARED", ROOT.parent / "shared")) / "data"


def measured(part: str, rows: Path) -> bool:
    """Run one part and replace its old rows. Return False if it ended with an error."""
    print(f"\n== {part}: {PARTS[part]}", flush=True)
    if part in NEEDS_DATA and not (data_folder() / NEEDS_DATA[part]).is_file():
        print(f"left out: no {NEEDS_DATA[part]} in {data_folder()}")
        return True
    rows.unlink(missing_ok=True)
    environment = os.environ | {FILE_VARIABLE: str(rows)}
    done = subprocess.run([sys.executable, "-m", f"bench.{part}"], cwd=ROOT, env=environment, check=False)
    return not done.returncode


def main() -> int:
    """Run the requested parts (default: all), and print the table. Return 1 if a part failed or a bound is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="default: all")
    parser.add_argument("--beside", type=Path, help="another clone, set up, whose search the part recall compares with")
    parser.add_argument("--markdown", type=Path, help="write the table to this file too")
    parser.add_argument("--rows", type=Path, help="keep the rows of each part here, and show all that are here")
    options = parser.parse_args()
    if options.beside:
        os.environ["BENCH_BESIDE"] = str(options.beside.resolve())
    with tempfile.TemporaryDirectory(prefix="slowwave-bench-") as folder:
        kept = options.rows or Path(folder)
        kept.mkdir(parents=True, exist_ok=True)
        failed = [part for part in options.parts or PARTS if not measured(part, (kept / f"{part}.jsonl").resolve())]
        rows = [row for part in PARTS for row in read(kept / f"{part}.jsonl")]
    table = as_markdown(rows)
    print(f"\n{machine()}\n\n{table}")
    if options.markdown:
        options.markdown.write_text(f"{HEAD}\nMachine: {machine()}.\n\n{table}\n", encoding="utf-8")
    broken = [f"{row.part}: {row.what}" for row in rows if row.holds is False]
    for complaint in [*(f"part {part} ended with an error" for part in failed), *broken]:
        print(f"does not hold: {complaint}")
    return 1 if failed or broken else 0


if __name__ == "__main__":
    sys.exit(main())
