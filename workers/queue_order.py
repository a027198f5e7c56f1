"""The order in which a worker looks into its queues: strict, but for one turn of the second after many of the first.

In strict order alone, an agent whose prompts never end keeps `flush.high` from ever being empty, and on a worker with
one process no other agent's flush would begin. So when URGENT_IN_A_ROW messages in a row came from the first queue, the
second one is looked into before it until it has given one. More in a row than one prompt boosts (5 by default): what a
prompt asks for still overtakes all that is queued.
"""

from collections.abc import Iterable, Sequence

URGENT_IN_A_ROW = 10


class BoundedPriority:
    """A queue order for `queue_order_strategy`: kombu asks it before each look, and tells it what each look gave."""

    def __init__(self, queues: Iterable[str] = ()) -> None:
        self._queues = list(queues)
        self._in_a_row = 0

    def update(self, queues: Iterable[str]) -> None:
        """Hear which queues the worker takes from, in the order of its `-Q`."""
        self._queues = list(queues)

    def consume(self, n: int) -> Sequence[str]:
        """Answer the first `n` queues in the order in which the server is to look into them."""
        queues = self._queues[:n]
        if self._in_a_row >= URGENT_IN_A_ROW:
            queues[:2] = reversed(queues[:2])
        return queues

    def rotate(self, last_used: str) -> None:
        """Hear which queue has just given a message."""
        urgent = self._queues[:1] == [last_used]
        self._in_a_row = self._in_a_row + 1 if urgent else 0
