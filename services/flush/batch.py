"""Run a batch of flushes: the one that a message requests, and for a short time the next ones in the queue.

The transport of a message through broker, worker and pool costs about as much as a flush by rules. So if there is a
backlog, a batch continues with the next messages of `flush`, in order, while no urgent message waits. A flush by a
model takes longer than a batch may last, so its batch has one flush.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from slowwave.identity import SessionRef
from slowwave.tracing import flush_span
from slowwave_server.services.flush.flusher import Flusher, FlushResult
from slowwave_server.services.log_context import bind


@dataclass(frozen=True, slots=True)
class FlushBatch:
    """The collaborators of a batch. seconds: the time after which no other flush begins."""

    flusher: Flusher
    seconds: float
    monotonic: Callable[[], float]

    def flush(self, ref: SessionRef, *, goes_on: bool) -> Iterator[tuple[SessionRef, FlushResult]]:
        """Flush a session, then others while the batch may go on; yield each with its result, in its own span.

        Raises the errors of `Flusher.flush`, for any flush; earlier flushes are complete.
        """
        began = self.monotonic()

        def has_time() -> bool:
            return goes_on and self.monotonic() - began < self.seconds

        result, taken = self.flusher.run(self.flusher.claim(ref), has_time)
        yield ref, result
        while taken is not None:
            ref = taken.ref
            bind(tenant=ref.tenant, agent=ref.agent, session=ref.session)
            with flush_span(ref, taken.trace):
                result, taken = self.flusher.run(taken, has_time)
                yield ref, result
