"""Run beat as a child of a worker (`slowwave worker --beat`): it ends with its worker, even after SIGKILL.

If a worker stops in order, Celery stops this child. If a worker is killed, the child would otherwise send ticks for
ever.
"""

import os
import signal
import threading
from typing import Any

from celery.signals import beat_embedded_init

LOOK_SECONDS = 1.0


def beat_ends_with_its_worker() -> None:
    """From now on, let each beat that starts as a child of this process watch this process."""
    beat_embedded_init.connect(watch_the_worker)


def watch_the_worker(**_: Any) -> None:
    """Watch the parent process from a thread. Celery calls this in the child when beat starts."""
    worker = os.getppid()
    threading.Thread(target=_watch, args=(worker,), name="worker-watch", daemon=True).start()


def _watch(worker: int) -> None:
    timer = threading.Event()  # never set: the thread only waits
    while os.getppid() == worker:
        timer.wait(LOOK_SECONDS)
    os.kill(os.getpid(), signal.SIGKILL)  # the next beat repeats a tick that is lost now
