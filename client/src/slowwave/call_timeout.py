"""A timeout for calls to an endpoint or a vector store, and a pause after a call that timed out.

Each call runs in its own thread, because a client's own timeout covers neither name resolution nor a response that
arrives slowly byte by byte. After a timeout the thread runs until its call ends. Until then no other call starts, so
threads can't pile up.
"""

import queue
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from slowwave.errors import SlowwaveError

T = TypeVar("T")

PAUSE_SECONDS = 30.0


class CallTimedOut(SlowwaveError):
    """The call timed out, or the pause after an earlier timeout has not ended."""


class CallTimeout:
    """Runs calls with a timeout of `seconds`. Threads may share one object."""

    def __init__(
        self, seconds: float, pause: float = PAUSE_SECONDS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._seconds = seconds
        self._pause = pause
        self._clock = clock
        self._rests_until = float("-inf")
        self._late: list[threading.Thread] = []

    def run(self, work: Callable[[], T]) -> T:
        """Return the result of `work`, or raise its exception. Raises CallTimedOut."""
        self._late = [thread for thread in self._late if thread.is_alive()]
        if self._late or self._clock() < self._rests_until:
            raise CallTimedOut(f"there was no answer within {self._seconds:g} s a moment ago")
        ended: queue.SimpleQueue[Callable[[], T]] = queue.SimpleQueue()
        thread = threading.Thread(target=_run, args=(work, ended), name="slowwave-call-timeout", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            raise CallTimedOut("no thread can be started") from None
        try:
            answer = ended.get(timeout=self._seconds)
        except queue.Empty:
            self._rests_until = self._clock() + self._pause
            self._late = [*self._late, thread]
            raise CallTimedOut(f"there was no answer within {self._seconds:g} s") from None
        return answer()


def _run(work: Callable[[], T], ended: "queue.SimpleQueue[Callable[[], T]]") -> None:
    try:
        value = work()
    except BaseException as error:  # noqa: BLE001 (raised where it is waited for)
        failure = error

        def fail() -> T:
            raise failure

        ended.put(fail)
    else:
        ended.put(lambda: value)
