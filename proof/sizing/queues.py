"""Queues in strict order, and slots that wait for messages: one message a slot; started tasks are not interrupted.

Must not know: the meaning of messages.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Pool:
    """So many slots (processes or threads) that take from these queues, in this order."""

    slots: int
    queues: tuple[str, ...]


class Queues:
    """Messages by queue, oldest first; a slot that waits gets the next one that it listens to."""

    def __init__(self, env: Any, names: Sequence[str], pools: Sequence[Pool]) -> None:
        self._env = env
        self._messages: dict[str, deque[Any]] = {name: deque() for name in names}
        self._idle: dict[Pool, deque[Any]] = {pool: deque() for pool in pools}

    def put(self, name: str, message: Any) -> None:
        """Add a message, for the slot that has waited longest or the next free one."""
        for pool, idle in self._idle.items():
            if name in pool.queues and idle:
                idle.popleft().succeed(message)
                return
        self._messages[name].append(message)

    def take(self, pool: Pool) -> Any:
        """Answer a message of the first of its queues that has one, or an event that brings one."""
        event = self._env.event()
        for name in pool.queues:
            if self._messages[name]:
                return event.succeed(self._messages[name].popleft())
        self._idle[pool].append(event)
        return event

    def first(self, name: str) -> Any | None:
        """The message that is next in it; None where none waits."""
        return self._messages[name][0] if self._messages[name] else None

    def pop(self, name: str) -> Any:
        """Take that message, for a slot that has one already."""
        return self._messages[name].popleft()

    def depth(self, name: str) -> int:
        """How many messages wait in it."""
        return len(self._messages[name])
