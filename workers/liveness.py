"""Give signs of life to a program that restarts processes: touch a file, and notify systemd's watchdog.

A probe over the broker starts an interpreter each time, and fails during an outage of the broker, when a restart does
not help. So a process itself gives signs while its work proceeds: a worker while its event loop runs, beat while it
sends messages. While the broker does not answer, a thread gives the signs instead. The signs of a process that hangs
stop, and it is restarted; no other fault is detected.
"""

import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from celery import bootsteps
from celery.signals import after_task_publish, beat_init, worker_init
from redis.exceptions import RedisError

from slowwave.coordination.broker import connect_broker
from slowwave.settings import Settings

log = logging.getLogger(__name__)

LOOK_SECONDS = 5.0
"""How often the loop is seen to turn, and the sign renewed."""
PATIENCE_SECONDS = 20.0
"""A loop that did not turn, or a beat that sent nothing, for so long stands still: beat sends something every 5 s.
Whoever restarts must allow a reconnection (30 s) besides."""


class Liveness:
    """The progress of this process, and its signs of life.

    signs: functions that each give one sign. answers: returns True if the broker answers. monotonic: a monotonic clock
    in seconds. patience: the seconds without progress after which no sign is given.
    """

    def __init__(
        self,
        signs: Sequence[Callable[[], None]],
        *,
        answers: Callable[[], bool],
        monotonic: Callable[[], float],
        patience: float,
    ) -> None:
        self._signs = signs
        self._answers = answers
        self._monotonic = monotonic
        self._patience = patience
        self._seen: float | None = None

    def seen(self) -> None:
        """Note that the work proceeds."""
        self._seen = self._monotonic()

    def look(self) -> bool:
        """Give the signs, and return True, if work proceeds or the broker fails, which a restart would not mend."""
        works = self._seen is not None and self._monotonic() - self._seen <= self._patience
        alive = works or not self._answers()
        if alive:
            for sign in self._signs:
                try:
                    sign()
                except OSError as error:
                    log.warning("a sign of life could not be given: %s", error)
        return alive

    def start(self) -> None:
        """Check every few seconds from a thread, until the process ends."""
        timer = threading.Event()  # never set: the thread only waits

        def watch() -> None:
            while True:
                self.look()
                timer.wait(LOOK_SECONDS)

        threading.Thread(target=watch, name="liveness", daemon=True).start()


class LoopTurns(bootsteps.StartStopStep):
    """A part of a worker's consumer: its timer fires while the event loop runs."""

    requires = ("celery.worker.consumer.tasks:Tasks",)

    def __init__(self, consumer: Any, **options: Any) -> None:
        super().__init__(consumer, **options)
        self._timer: Any = None

    def start(self, consumer: Any) -> None:
        liveness: Liveness | None = getattr(consumer.app, "liveness", None)
        if liveness is not None:
            liveness.seen()
            self._timer = consumer.timer.call_repeatedly(LOOK_SECONDS, liveness.seen)

    def stop(self, _consumer: Any) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def signs_asked_for(settings: Settings, notify_socket: str | None) -> list[Callable[[], None]]:
    """Return the requested signs: a file, without the old one of another process; a message to systemd."""
    signs: list[Callable[[], None]] = []
    if settings.liveness_file:
        file = Path(settings.liveness_file).expanduser()
        file.unlink(missing_ok=True)
        signs.append(file.touch)
    if notify_socket:
        signs.append(lambda: _notify(notify_socket))
    return signs


def _notify(address: str) -> None:
    """Tell systemd that the process is up and alive. A name in the abstract namespace begins with @."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"READY=1\nWATCHDOG=1", address.replace("@", "\0", 1) if address.startswith("@") else address)


def broker_answers(settings: Settings) -> Callable[[], bool]:
    """Return a function that asks the broker, over its own connection, which is made at the first call."""
    client = connect_broker(settings)

    def answers() -> bool:
        try:
            return bool(client.ping())
        except (RedisError, OSError):
            return False

    return answers


@worker_init.connect
def worker_gives_signs(sender: Any = None, **_: Any) -> None:
    """If signs are requested, give them while the worker's event loop runs."""
    _start(getattr(sender, "app", None))


@beat_init.connect
def beat_gives_signs(sender: Any = None, **_: Any) -> None:
    """If signs are requested, give them while beat sends ticks to the broker."""
    liveness = _start(getattr(sender, "app", None))
    if liveness is not None:
        after_task_publish.connect(lambda **_: liveness.seen(), weak=False)


def _start(app: Any) -> Liveness | None:
    settings = getattr(app, "settings", None)
    if not isinstance(settings, Settings):
        return None  # another Celery app
    if getattr(app, "liveness", None) is not None:
        return None  # beat as a child of a worker: the worker gives the signs
    signs = signs_asked_for(settings, os.environ.get("NOTIFY_SOCKET"))
    if not signs:
        return None
    answers = broker_answers(settings)
    liveness = Liveness(signs, answers=answers, monotonic=time.monotonic, patience=PATIENCE_SECONDS)
    app.liveness = liveness
    liveness.start()
    return liveness
