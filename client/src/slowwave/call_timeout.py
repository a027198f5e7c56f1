"""How long a reader waits for what is outside (an endpoint, a vector store), and when it stops asking.

What is waited for runs in a thread of its own: no time-out of a client covers names that are not resolved, or answers
that come drop by drop. A thread that is waited for no more ends when its work does; until then no other is begun, so
that they can't pile up.

Must not know: what is waited for, who answers instead.
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
    """There was no answer in time, now or a moment ago."""


class CallTimeout:
    """Any number of threads may share one. seconds: how long work may take before nobody waits for it any more."""

    def __init__(
        self, seconds: float, pause: float = PAUSE_SECONDS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._seconds = seconds
        self._pause = pause
        self._clock = clock
        self._rests_until = float("-inf")
        self._late: list[threading.Thread] = []

    def run(self, work: Callable[[], T]) -> T:
        """What `work` answers or raises; after it took too long, for a while nothing is begun. Raises CallTimedOut."""
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
