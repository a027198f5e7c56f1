"""Work that may take longer than somebody wants to look at an empty page: it goes on beside, and the page says so.

Should the console end meanwhile, so does the work: what asks for it must bear that, as everything does that has a lease
or a transaction.

Must not know: any single page, what the work is.
"""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

log = logging.getLogger(__name__)

T = TypeVar("T")
WAIT_SECONDS = 8.0


@dataclass(frozen=True, slots=True)
class Finished(Generic[T]):
    """The work came to its end in time; what it answered."""

    value: T


def run_in_background(name: str, work: Callable[[], T], *, wait_seconds: float = WAIT_SECONDS) -> Finished[T] | None:
    """Do it in a thread of its own. None: it goes on after `wait_seconds`. Raises what it raised within that time; what
    it raises later stands in the log, by its kind alone: its text may quote what somebody said.
    """
    done: list[Finished[T]] = []
    failed: list[BaseException] = []
    given_up = threading.Event()

    def run() -> None:
        try:
            done.append(Finished(work()))
        except BaseException as error:  # noqa: BLE001 (it is raised where somebody waits for it)
            failed.append(error)
            if given_up.is_set():
                log.error("%s failed: %s", name, type(error).__name__)  # noqa: TRY400 (its text may quote somebody)

    thread = threading.Thread(target=run, name=f"console-{name}", daemon=True)
    thread.start()
    thread.join(wait_seconds)
    if thread.is_alive():
        given_up.set()
    if failed:
        raise failed[0]
    return done[0] if done else None
