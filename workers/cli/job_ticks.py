"""The loop of `slowwave job daemon`: a tick, a pause, until a signal ends it."""

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING

from sqlalchemy.exc import DBAPIError

from slowwave_server.models.errors import first_line
from slowwave_server.workers.cli.sentences import complain
from slowwave_server.workers.shared.shell import Shell

if TYPE_CHECKING:
    from slowwave_server.services.maintenance.scheduler import Scheduler, TickReport

RETRY_SECONDS = 30.0
"""While Postgres does not answer, the loop retries after this time, or at the next tick if that is sooner."""


def run_ticks(
    shell: Shell, scheduler: "Scheduler", *, interval_seconds: float, tell: "Callable[[TickReport], None]"
) -> None:
    """Tick now and after every interval. SIGTERM or SIGINT ends it after the running job, a second signal at once.

    While Postgres does not answer, it retries. Raises WrongSchema.
    """
    stop = threading.Event()

    def end(_number: int, _frame: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        while not stop.is_set():
            rest = interval_seconds
            try:
                shell.check_database()
                tell(scheduler.tick(should_stop=stop.is_set))
            except DBAPIError as error:
                complain(f"no tick: Postgres does not answer: {first_line(error)}")
                rest = min(interval_seconds, RETRY_SECONDS)
            stop.wait(rest)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
