"""Signs of life: given while the work goes on or can't, withheld by a process that could work and does not."""

import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from slowwave.settings import Settings
from slowwave_server.beat_schedule import schedule
from slowwave_server.workers.liveness import PATIENCE_SECONDS, Liveness, signs_asked_for


@dataclass
class World:
    """A clock and a broker that can be away."""

    now: float = 100.0
    answers: bool = True
    asked: int = 0
    signs: int = 0

    def sign(self) -> None:
        self.signs += 1

    def ask(self) -> bool:
        self.asked += 1
        return self.answers

    def liveness(self, *signs: Callable[[], None]) -> Liveness:
        given = signs or (self.sign,)
        return Liveness(given, answers=self.ask, monotonic=lambda: self.now, patience=20)


def test_a_process_that_works_says_so_without_asking_the_broker() -> None:
    world = World()
    liveness = world.liveness()
    liveness.seen()
    world.now += 20
    assert liveness.look()
    assert (world.signs, world.asked) == (1, 0)


def test_a_process_that_could_work_and_does_not_falls_silent_until_it_works_again() -> None:
    world = World()
    liveness = world.liveness()
    assert not liveness.look(), "it has not begun"
    liveness.seen()
    world.now += 20.1
    assert not liveness.look()
    assert world.signs == 0
    liveness.seen()
    assert liveness.look()


def test_no_one_is_restarted_because_the_broker_is_away() -> None:
    world = World(answers=False)
    liveness = world.liveness()
    for _ in range(3):
        assert liveness.look()
        world.now += 600
    world.answers = True
    assert not liveness.look()
    assert world.signs == 3


def test_a_sign_that_can_not_be_given_keeps_no_other_from_being_given(caplog: pytest.LogCaptureFixture) -> None:
    def fails() -> None:
        raise OSError("no space left")

    world = World(answers=False)
    assert world.liveness(fails, world.sign).look()
    assert world.signs == 1
    assert "no space left" in caplog.text


def test_nothing_is_asked_for_unless_a_file_or_systemd_is_named(tmp_path: Path) -> None:
    assert signs_asked_for(Settings(), None) == []
    file = tmp_path / "alive"
    file.touch()
    (touch,) = signs_asked_for(Settings(liveness_file=str(file)), None)
    assert not file.exists(), "what another process has left is no sign of this one"
    touch()
    assert file.exists()


@pytest.mark.parametrize("name", ["notify", "@slowwave-test-of-notify"])
def test_systemd_is_told_in_its_own_words(tmp_path: Path, name: str) -> None:
    address = name if name.startswith("@") else str(tmp_path / name)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(address.replace("@", "\0", 1))
        systemd.settimeout(5)
        (tell,) = signs_asked_for(Settings(), address)
        tell()
        assert systemd.recv(100).split() == [b"READY=1", b"WATCHDOG=1"]


def test_beat_sends_something_well_within_the_patience_with_it() -> None:
    slow = {"auto_flush": {"flush_interval_seconds": 3600}}
    for settings in (Settings(), Settings.model_validate({"memory": slow})):
        assert 3 * min(tick["schedule"] for tick in schedule(settings).values()) <= PATIENCE_SECONDS
