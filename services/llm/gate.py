"""The gate to an endpoint, shared by all workers: closed while the endpoint is down, and limited to a number of calls.

    enter ──▶ breaker open? ──▶ wait for a slot ──▶ breaker: may this call pass? ──▶ the call
                   │                  │                                                │
                   └── at once        └── TransientError                               └── its outcome is stored

While the broker is unavailable, no call passes: model calls can wait, and workers get no messages anyway.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import uuid4

from redis import Redis

from slowwave.settings import Llm
from slowwave_server.domain.model_calls import ModelFailed, Unanswered
from slowwave_server.services.llm.breaker import Breaker
from slowwave_server.services.llm.drivers import AccessRefused
from slowwave_server.services.llm.slots import Slots

SLOT_WAIT_SECONDS = 5.0
LEASE_MARGIN_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class SharedGate:
    """The slots of all endpoints, and the breaker of one endpoint."""

    slots: Slots
    breaker: Breaker

    @contextmanager
    def enter(self) -> Iterator[None]:
        """Hold a slot for one call. The outcome of the block shows the state of the endpoint.

        Raises on entry: TransientError, or AccessRefused while the endpoint is known to refuse the key.
        """
        token = uuid4().hex
        self.breaker.look()
        with self.slots.taken():
            self.breaker.enter(token)
            try:
                yield
            except Unanswered as error:
                self.breaker.failed(token, "away", retry_after=error.retry_after)
                raise
            except AccessRefused:
                self.breaker.failed(token, "refused")
                raise
            except ModelFailed:
                self.breaker.succeeded()
                raise
            self.breaker.succeeded()


def build_gate(redis: Redis, endpoint: str, settings: Llm) -> SharedGate:
    """Return the gate to an endpoint (`Driver.endpoint`)."""
    # The connection takes time, too, and a busy machine is late.
    longest = 2 * settings.timeout_seconds + LEASE_MARGIN_SECONDS
    return SharedGate(
        Slots(redis, settings.max_concurrency, lease_seconds=longest, wait_seconds=SLOT_WAIT_SECONDS),
        Breaker(
            redis,
            endpoint,
            limit=settings.breaker_failures,
            open_seconds=settings.breaker_seconds,
            trial_seconds=longest,
        ),
    )
