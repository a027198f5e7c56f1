"""The stores of this process: a forked child makes its own, and the exit of the process closes all."""

import atexit
import os
import weakref
from contextlib import ExitStack
from typing import Protocol


class HookedStore(Protocol):
    """A store with connections, a queue and a spool."""

    def begin_anew(self) -> None:
        """In a forked child: abandon what the parent opened, and start empty."""

    def close(self) -> None:
        """Deliver or spool the queue, and close the connections."""


stores: "weakref.WeakSet[HookedStore]" = weakref.WeakSet()
inherited: list[object] = []
"""What a forked child got from its parent. It must neither use nor close it: closing would use the parent's
connections.
"""


def _after_fork() -> None:
    for store in list(stores):
        store.begin_anew()


def _at_exit() -> None:
    with ExitStack() as closing:  # a store that can't be closed must not keep the others open
        for store in list(stores):
            closing.callback(store.close)


os.register_at_fork(after_in_child=_after_fork)
atexit.register(_at_exit)
