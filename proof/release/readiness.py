"""Check whether a commit may be released: the tree has no uncommitted changes, and the changelog has the version."""

import ast
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

VERSION_FILE = Path("client", "src", "slowwave", "version.py")
CHANGELOG = "CHANGELOG.md"
_VERSION = re.compile(r"\d+\.\d+\.\d+((a|b|rc)\d+)?")


class NotReady(Exception):
    """The commit can't be released; the message gives the reason and the fix."""


@dataclass(frozen=True, slots=True)
class Release:
    """A release. root: the repository; epoch: the commit's time in seconds, which all built files use."""

    root: Path
    version: str
    commit: str
    epoch: int
    date: str
    notes: str

    @property
    def tag(self) -> str:
        return f"v{self.version}"

    def next_steps(self, folder: Path) -> str:
        """Return the remaining manual steps."""
        return (
            f"    git tag --sign {self.tag} {self.commit} && git push origin {self.tag}\n"
            f"    twine upload {folder}/slowwave-{self.version}-*.whl    # the client; the server goes to no index\n"
            f"    npm publish {folder}/slowwave-*.tgz    # the client for TypeScript"
        )


def find_release(root: Path) -> Release:
    """Return the release of the checked-out commit. Raises NotReady."""
    version = read_version((root / VERSION_FILE).read_text(encoding="utf-8"))
    date, notes = read_entry((root / CHANGELOG).read_text(encoding="utf-8"), version)
    changed = _git(root, "status", "--porcelain")
    if changed:
        raise NotReady(f"commit or remove first:\n{changed}")
    commit = _git(root, "rev-parse", "HEAD").strip()
    known = _git(root, "tag", "--list", f"v{version}").strip()
    if known and _git(root, "rev-parse", f"{known}^{{commit}}").strip() != commit:
        raise NotReady(f"{known} is released already: raise VERSION in {VERSION_FILE}")
    epoch = int(_git(root, "log", "-1", "--format=%ct"))
    return Release(root, version, commit, epoch, date, notes)


def read_version(text: str) -> str:
    """Return the version in a module. Raises NotReady if it has none, or one that is invalid for a release."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "VERSION":
            version = str(ast.literal_eval(node.value))
            if _VERSION.fullmatch(version):
                return version
            raise NotReady(f"VERSION in {VERSION_FILE} is {version!r}: a release is called 1.2.3, or 1.2.3rc1")
    raise NotReady(f"{VERSION_FILE} has no VERSION")


def read_entry(changelog: str, version: str) -> tuple[str, str]:
    """Return date and text of a version's entry. Raises NotReady if the entry is missing or empty."""
    parts = re.split(r"^## (.+)$", changelog, flags=re.MULTILINE)
    entries = dict(zip(parts[1::2], parts[2::2], strict=True))
    for heading, said in entries.items():
        found = re.fullmatch(rf"\[{re.escape(version)}\] - (\d{{4}}-\d\d-\d\d)", heading)
        if found is not None:
            if not said.strip():
                raise NotReady(f"the entry of {version} in {CHANGELOG} says nothing")
            return found[1], said.strip() + "\n"
    raise NotReady(f"{CHANGELOG} has no entry `## [{version}] - YEAR-MONTH-DAY`")


def _git(root: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise NotReady(f"git {arguments[0]} failed: {getattr(error, 'stderr', '') or error}") from None
    return done.stdout
