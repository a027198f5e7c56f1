"""A worker's turn: the flush that its message asks for, and for a moment those that wait right behind it.

The way of a message through broker, worker and pool costs about as much as a flush by rules. So with a backlog a turn
goes on with the next ones of `flush`, in their order, as long as nothing urgent waits. A flush by a model takes longer
than a turn may last, so it stays alone in its own.

Must not know: Celery, Postgres, what is done after a flush.
"""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from redis.exceptions import RedisError

from slowwave.coordination.answers import Taken
from slowwave.coordination.flush_queue import FlushQueue
from slowwave.identity import SessionRef
from slowwave.tracing import flush_span
from slowwave_server.services.flush import Flusher, FlushResult
from slowwave_server.services.work_ids import bind

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FlushTurn:
    """The collaborators of a turn. seconds: no other flush begins after them. monotonic: seconds from any beginning."""

    flusher: Flusher
    queue: FlushQueue
    seconds: float
    monotonic: Callable[[], float]

    def flush(self, ref: SessionRef, *, goes_on: bool) -> Iterator[tuple[SessionRef, FlushResult]]:
        """Flush a session, then others where the turn may go on; each with its result, as it ends, in its own span.

        Raises as `Flusher.flush`, for any of them; what came before is done.
        """
        began = self.monotonic()
        yield ref, self.flusher.flush(ref)
        while goes_on and self.monotonic() - began < self.seconds:
            taken = self._take()
            if taken is None:
                return
            bind(tenant=taken.ref.tenant, agent=taken.ref.agent, session=taken.ref.session)
            with flush_span(taken.ref, taken.trace):
                yield taken.ref, self.flusher.flush(taken.ref)

    def _take(self) -> Taken | None:
        try:
            return self.queue.take()
        except RedisError as error:
            log.debug("the turn ends: %s", type(error).__name__)
            return None
