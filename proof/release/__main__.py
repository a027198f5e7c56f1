"""`python -m proof.release`: build the files of a release into a folder, or explain why the release is impossible."""

import argparse
import shutil
import sys
from pathlib import Path

from proof.release.bills import write_bills, write_image_bill
from proof.release.images import unpinned
from proof.release.npm import pack_twice
from proof.release.readiness import NotReady, Release, find_release
from proof.release.wheels import BuildFailed, build_twice, check_metadata, write_sums

ROOT = Path(__file__).parents[2]


def main() -> int:
    """Make a release. Exits with 1 if it is impossible."""
    options = _options()
    try:
        release = find_release(ROOT)
        print(f"{release.tag}, from commit {release.commit}, dated {release.date}", flush=True)
        _make(release, options.into)
    except (NotReady, BuildFailed) as error:
        print(f"no release: {error}", file=sys.stderr)
        return 1
    for image in sorted(unpinned(ROOT)):
        print(f"NOT PINNED: {image}; run `make digests` where its registry can be reached")
    print(f"\nWhat is left, by hand:\n{release.next_steps(options.into)}")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m proof.release", description=__doc__.splitlines()[0])
    parser.add_argument("--into", type=Path, default=ROOT / "dist", help="a folder, which is emptied first")
    return parser.parse_args()


def _make(release: Release, into: Path) -> None:
    shutil.rmtree(into, ignore_errors=True)
    into.mkdir(parents=True)
    wheels = build_twice(release, into)
    check_metadata(wheels)
    package = pack_twice(release, into)
    bills = [*write_bills(release, into), write_image_bill(release, into)]
    notes = into / "RELEASE_NOTES.md"
    notes.write_text(release.notes, encoding="utf-8")
    sums = write_sums(into, [*wheels, package, *bills, notes])
    for file in sorted(into.iterdir()):
        print(f"{sums.get(file.name, '')[:12]:12}  {file.stat().st_size:>10,}  {file.name}")


if __name__ == "__main__":
    sys.exit(main())
