"""This version and the previous release, unpacked from the repository's history."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_MIGRATIONS = "models/migrations/versions"
RELEASES = {"v0.1.0": "398ecce76ef0e9dca123ac62e3b34d5563032577"}
"""The commit of each release, oldest first: a clone may lack tags, never commits."""
_MIGRATE = """
import sys
from slowwave_server.models.engine import make_engine
from slowwave_server.models.schema import migrate
engine = make_engine(sys.argv[1])
migrate(engine)
engine.dispose()
"""


class NoHistory(Exception):
    """The repository or its history is missing; the message says which."""


@dataclass(frozen=True, slots=True)
class Version:
    """The files of a version. name: its commit; root: the folder of the files."""

    name: str
    root: Path

    @property
    def revision(self) -> str:
        """Return the newest schema revision of the version."""
        return max(file.name.split("_")[0] for file in (self.root / _MIGRATIONS).glob("[0-9]*_*.py"))

    def environment(self) -> dict[str, str]:
        """Return this process's variables, changed so that Python finds the version's modules first.

        Other packages are those of this environment. Settings of the caller are excluded.
        """
        own = ("SLOWWAVE_", "FLOWER_", "REMAP_", "PG", "PYTHONPATH")
        clean = {name: value for name, value in os.environ.items() if not name.startswith(own)}
        return clean | {"PYTHONPATH": os.pathsep.join((str(self.root), str(self.root / "client" / "src")))}

    def migrate(self, database_url: str) -> None:
        """Migrate an empty database with this version's own code, in a separate process."""
        command = [sys.executable, "-c", _MIGRATE, database_url]
        subprocess.run(command, env=self.environment(), cwd=self.root, check=True, capture_output=True)


THIS = Version("this version", ROOT)


def unpack_previous(folder: Path) -> Version:
    """Put the files of the previous release into an empty folder. Raises NoHistory."""
    commit = _previous()
    packed = _git("archive", "--format=tar", commit)
    # Without tarfile, because its filters need Python 3.11.4.
    subprocess.run(["tar", "--extract", "--directory", str(folder)], input=packed, check=True)
    return Version(commit[:12], folder)


def _previous() -> str:
    """Return the newest release from which this commit descends."""
    head = _git("rev-parse", "HEAD").decode().strip()
    for commit in reversed(RELEASES.values()):
        if commit != head and _git("merge-base", commit, "HEAD").decode().strip() == commit:
            return commit
    raise NoHistory(f"this history has none of the releases {', '.join(RELEASES)}")


def _git(*arguments: str) -> bytes:
    try:
        done = subprocess.run(["git", "-C", str(ROOT), *arguments], check=True, capture_output=True)
    except FileNotFoundError:
        raise NoHistory("git is not installed") from None
    except subprocess.CalledProcessError as error:
        raise NoHistory(f"git {arguments[0]}: {error.stderr.decode(errors='replace').strip()}") from None
    return done.stdout
