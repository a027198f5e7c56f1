"""The data folder of a stack without any server: its lock, its phases, ports and passwords."""

import fcntl
import os
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from slowwave_server.workers.stack.data_folder import DataFolder, write_private
from slowwave_server.workers.stack.environment import environment_of, write_environment
from slowwave_server.workers.stack.errors import AlreadyRunning, NotReady, PortTaken, StackFailed
from slowwave_server.workers.stack.ports import is_free, settle_ports


def test_environment_is_told_only_while_the_stack_is_ready(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "data")
    with pytest.raises(NotReady, match=r"no stack runs on .*: start one with `slowwave up --data "):
        environment_of(folder.root)
    with folder.claim():
        with pytest.raises(NotReady, match="still starting"):
            environment_of(folder.root)
        write_environment(folder, {"A": "1", "B": "x=y"})
        with pytest.raises(NotReady, match="still starting"):
            environment_of(folder.root)
        folder.enter("ready")
        assert environment_of(folder.root) == ["A=1", "B=x=y"]
        folder.enter("stopping")
        with pytest.raises(NotReady, match="is stopping"):
            environment_of(folder.root)
    with pytest.raises(NotReady, match="no stack runs"):
        environment_of(folder.root)
    assert not folder.environment.exists()


def test_a_second_stack_is_refused_with_the_process_that_holds_the_folder(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    with (
        folder.claim(),
        pytest.raises(AlreadyRunning, match=rf"already runs on {tmp_path} \(process {os.getpid()}\)"),
        DataFolder(tmp_path).claim(),
    ):
        pass
    with DataFolder(tmp_path).claim():
        pass


def test_a_stack_waits_for_what_a_killed_one_has_left(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    with folder.claim():
        pass
    # A guardian that holds the lock for a moment longer than the supervisor that wrote the state.
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    write_private(tmp_path / "state", f'{{"pid": {dead.pid}, "phase": "ready"}}')
    write_private(tmp_path / "environment", "A=1\n")
    hold = "import fcntl, sys, time\nlock = open(sys.argv[1])\nfcntl.flock(lock, fcntl.LOCK_EX)\nprint(flush=True)\n"
    guardian = subprocess.Popen(
        [sys.executable, "-c", hold + "time.sleep(1)", tmp_path / "lock"], stdout=subprocess.PIPE
    )
    with guardian:
        assert guardian.stdout is not None
        guardian.stdout.readline()
        with pytest.raises(NotReady, match="lost its supervisor"):
            environment_of(tmp_path)
        asked = time.monotonic()
        with folder.claim():
            assert time.monotonic() - asked > 0.5
            assert not folder.environment.exists()


def test_a_reader_that_looks_just_now_never_makes_a_start_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = DataFolder(tmp_path)
    with folder.claim():
        pass
    folder.enter("ready")
    with (tmp_path / "lock").open() as reader:
        fcntl.flock(reader, fcntl.LOCK_SH)
        # It has looked by the second try, however slow this machine is.
        monkeypatch.setattr(time, "sleep", lambda _seconds: reader.close())
        with folder.claim():
            assert reader.closed
            assert folder.is_claimed()
    assert not folder.is_claimed()


def test_passwords_are_made_once_and_private(tmp_path: Path) -> None:
    first = DataFolder(tmp_path).secret("valkey")
    assert DataFolder(tmp_path).secret("valkey") == first
    assert DataFolder(tmp_path).secret("flower") != first
    assert len(first) >= 32
    assert stat.S_IMODE((tmp_path / "secrets.json").stat().st_mode) == 0o600


def test_ports_stay_the_same_and_differ_from_each_other(tmp_path: Path) -> None:
    file = tmp_path / "ports.json"
    first = settle_ports(file, {"postgres": 0, "valkey": 0, "flower": 0})
    assert len(set(first.values())) == 3
    assert settle_ports(file, {"postgres": 0, "valkey": 0, "flower": 0}) == first
    # Started once without Flower: its port is remembered all the same.
    settle_ports(file, {"postgres": 0, "valkey": 0})
    assert settle_ports(file, {"postgres": 0, "valkey": 0, "flower": 0}) == first


def test_a_given_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert not is_free(port)
        with pytest.raises(PortTaken, match=f"port {port} for flower is taken"):
            settle_ports(tmp_path / "ports.json", {"flower": port})
    assert settle_ports(tmp_path / "ports.json", {"flower": port}) == {"flower": port}


def test_two_servers_never_get_the_same_given_port(tmp_path: Path) -> None:
    file = tmp_path / "ports.json"
    port = settle_ports(file, {"postgres": 0})["postgres"]
    with pytest.raises(PortTaken, match=f"port {port} is given for flower and for another"):
        settle_ports(file, {"postgres": port, "flower": port})


def test_a_remembered_port_that_somebody_took_meanwhile_is_replaced(tmp_path: Path) -> None:
    file = tmp_path / "ports.json"
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        write_private(file, f'{{"valkey": {port}}}')
        assert settle_ports(file, {"valkey": 0})["valkey"] != port


@pytest.mark.parametrize("text", ['{"valkey": 6', "", "[6379]", '{"valkey": "6379"}', "\x00\x00"])
def test_a_cut_off_file_of_ports_names_its_cure(tmp_path: Path, text: str) -> None:
    file = tmp_path / "ports.json"
    file.write_text(text)
    with pytest.raises(StackFailed, match=r"ports\.json .*: delete it; the next start chooses ports again"):
        settle_ports(file, {"valkey": 0})
    file.unlink()
    assert settle_ports(file, {"valkey": 0})["valkey"] > 0


@pytest.mark.parametrize("text", ['{"postgres": "secr', "", "7", '{"postgres": 7}'])
def test_a_cut_off_file_of_passwords_names_its_cure(tmp_path: Path, text: str) -> None:
    (tmp_path / "secrets.json").write_text(text)
    folder = DataFolder(tmp_path)
    for ask in (folder.secret, folder.has_secret):
        with pytest.raises(StackFailed, match=r"secrets\.json .*: delete it; the next start makes new passwords"):
            ask("postgres")
    assert (tmp_path / "secrets.json").read_text() == text
