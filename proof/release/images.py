"""`python -m proof.release.images [--check]`: pin each image that a deployment pulls to the present digest of its tag.

A tag can be moved to another image; a digest can't. The digest is the SHA-256 of the manifest (or of the list of
manifests if an image supports several architectures), which skopeo fetches from the registry of the image. If one
registry does not answer, no file is changed. --check changes nothing and lists the images without a digest.

Images built from this repository have no digest here, because only a push returns it.
"""

import argparse
import hashlib
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
OURS = "slowwave"
"""What our own image is called, in compose.yaml with the tag `local`, and in the manifests with none."""
UNPINNED = Path("deploy", "unpinned-images.txt")
"""Images without a digest, one on a line, behind the reason."""
_HEAD = "# Images that are named by a tag alone. `make digests` pins them, where their registries can be reached.\n"
_USED = re.compile(r"^( *image: |FROM )([^\s#]+)", re.MULTILINE)
SECONDS = 120

DigestOf = Callable[[str], str]


class NotAnswered(Exception):
    """A registry did not return the digest of an image; the message names both and the fix."""


def files(root: Path) -> Iterator[Path]:
    """Return the files that name images."""
    yield root / "compose.yaml"
    yield root / "deploy" / "Dockerfile"
    yield from sorted((root / "deploy" / "kubernetes").rglob("*.yaml"))


def used(root: Path) -> set[str]:
    """Return the third-party images in the files, with tag and digest."""
    found = {image for file in files(root) for _, image in _USED.findall(file.read_text(encoding="utf-8"))}
    return {image for image in found if image.partition(":")[0] != OURS}


def unpinned(root: Path) -> set[str]:
    """Return those of them without a digest."""
    return {image for image in used(root) if "@sha256:" not in image}


def listed(root: Path) -> dict[str, str]:
    """Return the images in the list of unpinned ones, each with the reason."""
    lines = (root / UNPINNED).read_text(encoding="utf-8").splitlines()
    entries = (line.partition("  ") for line in lines if line and not line.startswith("#"))
    return {image: reason.strip() for image, _, reason in entries}


def pin(root: Path, digest_of: DigestOf) -> dict[str, str]:
    """Write the digest of each image behind its tag, and empty the list. Raises NotAnswered; nothing is then written.

    Return the digest of each image.
    """
    digests = {image: digest_of(image) for image in sorted({image.partition("@")[0] for image in used(root)})}
    for file in files(root):
        before = file.read_text(encoding="utf-8")
        after = _USED.sub(lambda found: found[1] + _pinned(found[2], digests), before)
        if after != before:
            file.write_text(after, encoding="utf-8")
    (root / UNPINNED).write_text(_HEAD, encoding="utf-8")
    return digests


def _pinned(image: str, digests: dict[str, str]) -> str:
    tagged = image.partition("@")[0]
    return f"{tagged}@{digests[tagged]}" if tagged in digests else image


def ask_registry(image: str, options: Sequence[str] = ()) -> str:
    """Return the present digest of an image's tag. options: options of skopeo. Raises NotAnswered."""
    skopeo = shutil.which("skopeo")
    if skopeo is None:
        raise NotAnswered(
            "skopeo is not installed, which asks registries: apt-get install skopeo, or brew install skopeo"
        )
    command = [skopeo, *options, "inspect", "--raw", f"docker://{image}"]
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise NotAnswered(f"the registry of {image} did not answer within {SECONDS} s: try again") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise NotAnswered(f"the registry of {image} did not answer: {''.join(said)}")
    return f"sha256:{hashlib.sha256(done.stdout).hexdigest()}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code: 1 if an image has no digest, or if a registry did not answer."""
    parser = argparse.ArgumentParser(prog="python -m proof.release.images", description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; list the images without a digest")
    if parser.parse_args(arguments).check:
        left = sorted(unpinned(ROOT))
        print("\n".join(f"NOT PINNED: {image}" for image in left) or "every image has a digest")
        return int(bool(left))
    try:
        for image, digest in pin(ROOT, ask_registry).items():
            print(f"{image}  {digest}")
    except NotAnswered as error:
        print(f"nothing was changed: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
