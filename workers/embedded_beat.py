"""Beat as a child of a worker (`slowwave worker --beat`): it ends when its worker has ended, even if by SIGKILL.

Celery stops this child when the worker stops in order. A killed worker can't, and the child would send ticks for ever.
"""

import os
import signal
import threading
from typing import Any

from celery.signals import beat_embedded_init

LOOK_SECONDS = 1.0


def beat_ends_with_its_worker() -> None:
    """From here on each beat that starts as a child of this process watches this process."""
    beat_embedded_init.connect(watch_the_worker)


def watch_the_worker(**_: Any) -> None:
    """Watch the parent process from a thread. Celery calls this in the child, once beat starts there."""
    worker = os.getppid()
    threading.Thread(target=_watch, args=(worker,), name="worker-watch", daemon=True).start()


def _watch(worker: int) -> None:
    timer = threading.Event()  # never set: it only waits
    while os.getppid() == worker:
        timer.wait(LOOK_SECONDS)
    os.kill(os.getpid(), signal.SIGKILL)  # a tick that is lost now comes from the next beat
