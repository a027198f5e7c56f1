"""A worker's turn: the flush that its message asks for, and for a moment those that wait right behind it.

The way of a message through broker, worker and pool costs about as much as a flush by rules. So with a backlog a turn
goes on with the next ones of `flush`, in their order, as long as nothing urgent waits. A flush by a model takes longer
than a turn may last, so it stays alone in its own.

Must not know: Celery, Postgres, what is done after a flush.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from slowwave.identity import SessionRef
from slowwave.tracing import flush_span
from slowwave_server.services.flush.flusher import Flusher, FlushResult
from slowwave_server.services.log_context import bind


@dataclass(frozen=True, slots=True)
class FlushBatch:
    """The collaborators of a turn. seconds: no other flush begins after them. monotonic: seconds from any beginning."""

    flusher: Flusher
    seconds: float
    monotonic: Callable[[], float]

    def flush(self, ref: SessionRef, *, goes_on: bool) -> Iterator[tuple[SessionRef, FlushResult]]:
        """Flush a session, then others where the turn may go on; each with its result, as it ends, in its own span.

        Raises as `Flusher.flush`, for any of them; what came before is done.
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
