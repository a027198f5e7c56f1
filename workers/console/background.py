"""Run slow work in a background thread, so that the page can answer before the work ends and say that it continues.

If the console process ends, the work ends with it. The caller must tolerate such an end; work under a lease or in a
transaction does.
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
    """The result of work that ended within the waiting time."""

    value: T


def run_in_background(name: str, work: Callable[[], T], *, wait_seconds: float = WAIT_SECONDS) -> Finished[T] | None:
    """Run `work` in its own thread and wait at most `wait_seconds`; None means that the work continues.

    Raises the work's exception if it comes within that time. For a later exception, the log gets only its type, because
    its text may quote a conversation.
    """
    done: list[Finished[T]] = []
    failed: list[BaseException] = []
    given_up = threading.Event()

    def run() -> None:
        try:
            done.append(Finished(work()))
        except BaseException as error:  # noqa: BLE001 (the waiting thread raises it again)
            failed.append(error)
            if given_up.is_set():
                log.error("%s failed: %s", name, type(error).__name__)  # noqa: TRY400 (its text may quote a conversation)

    thread = threading.Thread(target=run, name=f"console-{name}", daemon=True)
    thread.start()
    thread.join(wait_seconds)
    if thread.is_alive():
        given_up.set()
    if failed:
        raise failed[0]
    return done[0] if done else None
