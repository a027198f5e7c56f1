"""`python -m proof.chaos`: inject faults while agents talk, then check every invariant; exit with 1 on a finding."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from proof.chaos import report
from proof.chaos.faults import impossible
from proof.chaos.plan import draw
from proof.chaos.run import Outcome, describe_folder, run_plan
from proof.chaos.world import Options, World
from proof.servers import remove

_NAMESPACE = "CHAOS_NAMESPACE"
_FULL = {"faults": 56, "events": 20_000, "seconds": 300.0}
_SHORT = {"faults": 26, "events": 2_000, "seconds": 55.0}


def main() -> int:
    """Run each seed in its own world."""
    options = _options()
    disks = _own_file_systems()
    began, outcomes = time.monotonic(), list[Outcome]()
    for seed in options.seeds:
        outcomes.append(_run(seed, options, disks=disks))
    print(report.table(outcomes))
    print(f"{len(outcomes)} seeds in {time.monotonic() - began:.0f} s")
    if options.write:
        print(f"written: {report.write(outcomes, options.redis_server, disks=disks, short=options.short)}")
    return 1 if any(outcome.findings for outcome in outcomes) else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m proof.chaos", description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[int(time.time()) % 1_000_000])
    parser.add_argument("--faults", type=int, help="how many, a seed")
    parser.add_argument("--events", type=int, help="how many are recorded at least, a seed")
    parser.add_argument("--seconds", type=float, help="how long the faults take, at least")
    parser.add_argument("--redis-server", type=Path, help="a program to run in place of Valkey")
    parser.add_argument("--short", action="store_true", help="three minutes in all; shorter tickets and retries")
    parser.add_argument("--write", action="store_true", help="write docs/proof/chaos.md")
    parser.add_argument("--keep", action="store_true", help="keep the folder of each run")
    options = parser.parse_args()
    for name, value in (_SHORT if options.short else _FULL).items():
        if getattr(options, name) is None:
            setattr(options, name, value)
    return options


def _own_file_systems() -> bool:
    """Return True if this process may mount. If so, it continues in a mount namespace that ends with the process."""
    if os.environ.get(_NAMESPACE):
        return True
    unshare = shutil.which("unshare")
    if unshare is None:
        return False
    private = [unshare, "--mount", "--propagation", "private"]
    probe = "d=$(mktemp -d) && mount -t tmpfs tmpfs $d && umount $d; s=$?; rmdir $d; exit $s"
    if subprocess.run([*private, "sh", "-c", probe], check=False, capture_output=True).returncode == 0:
        sys.stdout.flush()
        os.environ[_NAMESPACE] = "1"
        os.execv(unshare, [*private, sys.executable, "-m", "proof.chaos", *sys.argv[1:]])  # noqa: S606 (no shell)
    return False


def _run(seed: int, options: argparse.Namespace, *, disks: bool) -> Outcome:
    plan = draw(seed, options.faults, options.seconds, without=impossible(disks=disks), short=options.short)
    print(f"seed {seed}: {len(plan.faults)} faults in {plan.seconds:.0f} s")
    print("".join(f"    {fault}\n" for fault in plan.faults), flush=True)
    folder = Path(tempfile.mkdtemp(prefix=f"slowwave-chaos-{seed}-"))
    places = describe_folder(folder)
    small = Options(seed, 2, 12, options.events, plan.seconds, 30_000, short=True, redis_server=options.redis_server)
    large = Options(seed, 4, 12, options.events, plan.seconds, 150_000, redis_server=options.redis_server)
    with (places.logs / "supervisor.log").open("a", encoding="utf-8") as said:

        def say(part: str, line: str) -> None:
            said.write(f"{time.time():.3f} {part}: {line}\n")
            said.flush()

        with World(places, small if options.short else large, say, disks=disks) as world:
            quiet = 180.0 if options.short else 300.0
            outcome = run_plan(world, plan, _print, talk_seconds=90.0, quiet_seconds=quiet)
    _tell(outcome, folder, again=" ".join(sys.argv[1:]), keep=options.keep)
    return outcome


def _tell(outcome: Outcome, folder: Path, *, again: str, keep: bool) -> None:
    for finding in outcome.findings:
        print(f"FOUND {finding}")
    said = f"{outcome.events} events, {outcome.flushes} flushes, {outcome.overlaps} overlaps that a fault explains"
    print(f"seed {outcome.plan.seed}: {said}, {len(outcome.findings)} findings, {outcome.seconds:.0f} s", flush=True)
    if outcome.findings or keep:
        print(f"kept: {folder} (logs, journals, dump.sql)")
        print(f"again: python -m proof.chaos {again} --seeds {outcome.plan.seed}")
    else:
        remove(folder)


def _print(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
