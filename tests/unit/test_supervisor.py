"""The supervisor with small real processes: restarts, stages, and nothing left behind whoever is killed."""

import os
import re
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave_server.workers.stack.backoff import FIRST_SECONDS, HEALTHY_SECONDS, LONGEST_SECONDS, next_delay
from slowwave_server.workers.stack.child import Child, Program, describe, rotate
from slowwave_server.workers.stack.supervisor import Supervisor
from tests.support.processes import marked, wait_until

Make = Callable[[str], Program]

SLEEPER = "import time\nwhile True: time.sleep(60)"
STUBBORN = f"import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('deaf', flush=True)\n{SLEEPER}"
# Starts a grandchild that leaves the group and the session and is deaf to SIGTERM, then sleeps.
PARENT = f"import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', {STUBBORN!r}], start_new_session=True)\n"


class Heard:
    """Collects what a supervisor says."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def __call__(self, name: str, text: str) -> None:
        self.lines.append(f"{name}: {text}")


@pytest.fixture
def mark() -> Iterator[str]:
    """A variable that every process of this test carries; none may be left at its end."""
    mark = f"SUPERVISOR_TEST={uuid.uuid4().hex}"
    yield mark
    wait_until(lambda: not marked(mark), 5, "no process is left")


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def supervisor(tmp_path: Path, heard: Heard, mark: str) -> Iterator[Supervisor]:
    """A supervisor that has stopped everything when the test ends; `mark` looks for leftovers after it."""
    supervisor = Supervisor(tmp_path / "logs", heard)
    yield supervisor
    supervisor.hurry()
    supervisor.stop()


@pytest.fixture
def program(mark: str) -> Make:
    """Makes a program that runs some Python and carries the mark."""
    name, _, value = mark.partition("=")
    return lambda code: Program("sleeper", (sys.executable, "-I", "-S", "-c", code), {name: value})


def _running(child: Child) -> int:
    wait_until(lambda: child.pid is not None, 5, f"{child.program.name} runs")
    assert child.pid is not None
    return child.pid


def _printed(child: Child, word: str) -> None:
    wait_until(lambda: child.log.exists() and word in child.log.read_text(), 5, f"{child.program.name} says {word}")


def test_who_is_killed_is_started_again_and_that_is_said(supervisor: Supervisor, program: Make, heard: Heard) -> None:
    child = supervisor.start(program(SLEEPER))
    first = _running(child)
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: child.pid not in (None, first), 5, "it runs again")
    assert child.deaths == 1
    assert re.match(
        r"sleeper: was killed by SIGKILL after \d s; starting it again in 0\.5 s \(log: ", heard.lines[0]
    ), heard.lines


def test_an_exit_code_is_said_and_the_wait_grows(supervisor: Supervisor, program: Make, heard: Heard) -> None:
    supervisor.start(program("raise SystemExit(7)"))
    wait_until(lambda: len(heard.lines) >= 2, 10, "it died twice")
    assert ["exited with code 7" in line for line in heard.lines[:2]] == [True, True]
    assert [line.partition("again in ")[2].split()[0] for line in heard.lines[:2]] == ["0.5", "1"]


def test_a_command_that_does_not_exist_is_said_and_logged(
    supervisor: Supervisor, heard: Heard, mark: str, tmp_path: Path
) -> None:
    supervisor.start(Program("ghost", ("/no/such/program",), {}))
    wait_until(lambda: bool(heard.lines), 5, "its death is said")
    assert "exited with code 127" in heard.lines[0]
    assert "can't run /no/such/program" in (tmp_path / "logs" / "ghost.log").read_text()


def test_the_highest_stage_stops_first(supervisor: Supervisor, program: Make, tmp_path: Path) -> None:
    order = tmp_path / "order"
    for label, stage in (("server", 0), ("worker", 2), ("beat", 1)):
        leave = f"open({str(order)!r}, 'a').write('{label} ')"
        code = f"import signal, sys\nsignal.signal(signal.SIGTERM, lambda *_: ({leave}, sys.exit()))\n"
        child = supervisor.start(
            replace(program(f"{code}print('listening', flush=True)\n{SLEEPER}"), name=label, stage=stage)
        )
        _printed(child, "listening")
    supervisor.stop()
    assert order.read_text().split() == ["worker", "beat", "server"]


def test_who_does_not_hear_is_killed_after_its_grace(supervisor: Supervisor, program: Make, mark: str) -> None:
    child = supervisor.start(replace(program(STUBBORN), grace_seconds=0.3))
    _printed(child, "deaf")
    asked = time.monotonic()
    supervisor.stop()
    assert 0.3 <= time.monotonic() - asked < 3
    assert not marked(mark)


def test_the_whole_stop_has_a_limit_whatever_graces_add_up_to(supervisor: Supervisor, program: Make, mark: str) -> None:
    for stage in (0, 1):
        stubborn = replace(program(STUBBORN), name=f"deaf-{stage}", stage=stage, grace_seconds=60)
        _printed(supervisor.start(stubborn), "deaf")
    asked = time.monotonic()
    supervisor.stop(within=0.5)
    assert time.monotonic() - asked < 5
    assert not marked(mark)


def test_a_closing_server_gets_its_whole_grace(supervisor: Supervisor, program: Make, heard: Heard, mark: str) -> None:
    worker = replace(program(STUBBORN), name="worker", stage=2, grace_seconds=60)
    _printed(supervisor.start(worker), "deaf")
    leave = (
        "signal.signal(signal.SIGTERM, lambda *_: (time.sleep(1), print('checkpoint written', flush=True), sys.exit()))"
    )
    code = f"import signal, sys, time\n{leave}\nprint('listening', flush=True)\n{SLEEPER}"
    server = supervisor.start(
        replace(program(code), name="server", stage=0, grace_seconds=30, closing="writing its last checkpoint")
    )
    _printed(server, "listening")
    supervisor.stop(within=0.3, tell_after=0.1)
    assert "checkpoint written" in server.log.read_text()
    assert heard.lines == [
        "worker: did not stop in time; its processes are ended",
        "server: is still writing its last checkpoint; a second Ctrl-C ends it before that",
    ]
    assert not marked(mark)


def test_a_hurry_kills_at_once(supervisor: Supervisor, program: Make, mark: str) -> None:
    child = supervisor.start(replace(program(STUBBORN), grace_seconds=60))
    _running(child)
    supervisor.hurry()
    supervisor.stop()
    assert not marked(mark)


def test_grandchildren_of_a_killed_program_die_before_it_is_started_again(
    supervisor: Supervisor, program: Make, mark: str
) -> None:
    child = supervisor.start(program(PARENT + SLEEPER))
    first = _running(child)
    _printed(child, "deaf")
    before = marked(mark)
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: child.pid not in (None, first), 5, "it runs again")
    assert not before & marked(mark)


def test_a_killed_guardian_takes_its_program_along_and_both_are_started_again(
    supervisor: Supervisor, program: Make, heard: Heard, mark: str
) -> None:
    child = supervisor.start(program(SLEEPER))
    first = _running(child)
    guardian = int(Path(f"/proc/{first}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(guardian, signal.SIGKILL)
    wait_until(lambda: child.pid not in (None, first), 5, "it runs again")
    assert first not in marked(mark)
    assert "lost its guardian" in heard.lines[0]


def test_nothing_is_left_when_the_supervisor_itself_is_killed(tmp_path: Path, mark: str) -> None:
    name, _, value = mark.partition("=")
    command = (sys.executable, "-I", "-S", "-c", PARENT + SLEEPER)
    code = f"""
import sys, threading
from pathlib import Path
from slowwave_server.workers.stack.child import Program
from slowwave_server.workers.stack.supervisor import Supervisor
supervisor = Supervisor(Path({str(tmp_path)!r}), print)
supervisor.start(Program("family", {command!r}, {{{name!r}: {value!r}}}, grace_seconds=0.5))
threading.Event().wait()
"""
    outer = subprocess.Popen([sys.executable, "-c", code], env={**os.environ, name: value})
    # The supervisor, its guardian, the program and its deaf grandchild.
    wait_until(lambda: len(marked(mark)) == 4, 15, "the whole family runs")
    outer.kill()
    outer.wait()
    wait_until(lambda: not marked(mark), 5, "all of it is gone")


@given(st.floats(0, 100), st.floats(0, 1000))
def test_the_wait_is_bounded_grows_and_starts_anew_after_health(previous: float, alive: float) -> None:
    delay = next_delay(previous, alive)
    assert FIRST_SECONDS <= delay <= LONGEST_SECONDS
    if alive >= HEALTHY_SECONDS:
        assert delay == FIRST_SECONDS
    elif previous > 0:
        assert delay >= min(previous, LONGEST_SECONDS)


def test_exit_codes_in_words() -> None:
    assert [describe(code) for code in (0, 3, -9, -200)] == [
        "exited with code 0",
        "exited with code 3",
        "was killed by SIGKILL",
        "was killed by signal 200",
    ]


def test_a_log_that_has_grown_moves_aside_and_the_oldest_goes(tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    for number in range(5):
        log.write_text(f"life {number}\n")
        rotate(log, limit=3, kept=2)
    assert not log.exists()
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == {
        "x.log.1": "life 4\n",
        "x.log.2": "life 3\n",
    }
    log.write_text("ab")
    rotate(log, limit=3, kept=2)
    assert log.read_text() == "ab"


def test_a_log_is_set_aside_while_its_program_runs(tmp_path: Path, heard: Heard, mark: str) -> None:
    name, _, value = mark.partition("=")
    talk = "n = 0\nwhile True:\n    print(f'line {n:09}', flush=True)\n    n += 1\n"
    talker = Program("talker", (sys.executable, "-c", talk), {**os.environ, name: value})
    supervisor = Supervisor(tmp_path / "logs", heard, log_bytes=20_000, look_seconds=0.01)
    log = tmp_path / "logs" / "talker.log"
    try:
        child = supervisor.start(talker)
        wait_until(log.with_name("talker.log.3").exists, 30, "the log was set aside three times")
        pid = child.pid
        wait_until(lambda: log.stat().st_size > 0, 30, "the program goes on in the emptied log")
        assert (child.pid, child.deaths) == (pid, 0)
    finally:
        supervisor.hurry()
        supervisor.stop()
    assert sorted(path.name for path in log.parent.iterdir()) == ["talker.log", *(f"talker.log.{n}" for n in (1, 2, 3))]
    assert b"\0" not in log.read_bytes()
    assert heard.lines == []
