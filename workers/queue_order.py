"""The order in which a worker reads its queues: strict, except that the second queue gets one message after many of the
first.

In a strictly fixed order, an agent with endless prompts would keep `flush.high` full, and on a worker with one process
no other agent's flush would begin. So after URGENT_IN_A_ROW consecutive messages from the first queue, the second one
is read first until it has given one message. This number is larger than the number of sessions that one prompt boosts
(5 by default), so they still overtake all queued messages.
"""

from collections.abc import Iterable, Sequence

URGENT_IN_A_ROW = 10


class BoundedPriority:
    """A queue order for `queue_order_strategy`: kombu asks it before each read, and reports the result of each read."""

    def __init__(self, queues: Iterable[str] = ()) -> None:
        self._queues = list(queues)
        self._in_a_row = 0

    def update(self, queues: Iterable[str]) -> None:
        """Note the worker's queues, in the order of its `-Q`."""
        self._queues = list(queues)

    def consume(self, n: int) -> Sequence[str]:
        """Return the first `n` queues in the order in which the server must read them."""
        queues = self._queues[:n]
        if self._in_a_row >= URGENT_IN_A_ROW:
            queues[:2] = reversed(queues[:2])
        return queues

    def rotate(self, last_used: str) -> None:
        """Note which queue has just given a message."""
        urgent = self._queues[:1] == [last_used]
        self._in_a_row = self._in_a_row + 1 if urgent else 0
