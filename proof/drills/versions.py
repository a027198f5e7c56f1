"""This version, and the release before it, unpacked from the repository's history into a folder.

The release before is the newest tag `v…` behind this commit. As long as nothing is tagged it is the last commit whose
schema was older than this one's, which is the harder case of the two: every upgrade has a migration.

Must not know: what is run of a version.
"""

import io
import os
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_MIGRATIONS = "models/migrations/versions"


class NoHistory(Exception):
    """There is no repository with enough of a past; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Version:
    """Files of a version. name: its tag or commit; root: where they lie."""

    name: str
    root: Path

    @property
    def revision(self) -> str:
        """The newest revision of the schema that it knows."""
        return max(file.name.split("_")[0] for file in (self.root / _MIGRATIONS).glob("[0-9]*_*.py"))

    def environment(self) -> dict[str, str]:
        """The variables of this process with which Python finds this version's modules before all others.

        Other packages are those of this environment. Settings of the caller are left out.
        """
        own = ("SLOWWAVE_", "FLOWER_", "REMAP_", "PG", "PYTHONPATH")
        clean = {name: value for name, value in os.environ.items() if not name.startswith(own)}
        return clean | {"PYTHONPATH": os.pathsep.join((str(self.root), str(self.root / "client" / "src")))}


THIS = Version("this version", ROOT)


def unpack_previous(folder: Path) -> Version:
    """Put the files of the release before this one into an empty folder. Raises NoHistory."""
    name = _previous()
    packed = _git("archive", "--format=tar", name)
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    return Version(name, folder)


def _previous() -> str:
    try:
        return _git("describe", "--tags", "--abbrev=0", "--match", "v[0-9]*", "HEAD~1").decode().strip()
    except NoHistory:
        newest = _git("log", "-1", "--diff-filter=A", "--format=%H", "--", _MIGRATIONS).decode().strip()
        if not newest:
            raise NoHistory("no commit of this history adds a migration") from None
        return _git("rev-parse", "--short", f"{newest}~1").decode().strip()


def _git(*arguments: str) -> bytes:
    try:
        done = subprocess.run(["git", "-C", str(ROOT), *arguments], check=True, capture_output=True)
    except FileNotFoundError:
        raise NoHistory("git is not installed") from None
    except subprocess.CalledProcessError as error:
        raise NoHistory(f"git {arguments[0]}: {error.stderr.decode(errors='replace').strip()}") from None
    return done.stdout
