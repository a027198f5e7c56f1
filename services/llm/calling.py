"""Call a model: reserve, wait for a slot, call, settle. Each attempt is a separate call with its own reservation.

    reserve ──▶ gate ──▶ driver ──▶ settle    the reported cost, or an unknown cost
       │          └── release                     no slot, or the endpoint is down: no call was made
       └── BudgetReached                          nothing was reserved

The caller retries a call without an answer. A question without an answer is given up after enough attempts over a long
enough time (I3); an outage of an hour is not long enough.
"""

import logging
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from typing import Protocol

from slowwave.tracing import model_span
from slowwave_server.domain.model_calls import Answer, ModelFailed, Prompt, Spender, Unanswered
from slowwave_server.services.llm.budget import Budget, Reservation, ReservationRequest
from slowwave_server.services.llm.drivers import Driver, RequestRefused, UnfitAnswer, prompt_tokens

log = logging.getLogger(__name__)

MORE_TRIES: dict[type[ModelFailed], int] = {UnfitAnswer: 1, RequestRefused: 5}
"""Failures after which another call may do better, and how many more are made of each: an endpoint may refuse as many
fields as `services.llm.dialect` draws arrows."""
LOST_AFTER_SECONDS = 60.0
"""On top of two time-outs: whoever has not settled by then has died."""


GIVEN_UP_AFTER = 8
GIVEN_UP_SECONDS = 7200.0
"""A question is given up that got no answer so many times within a day, for at least so long."""


class Gate(Protocol):
    """Limits the number of concurrent calls of all workers, and rejects calls while the endpoint is down."""

    def enter(self) -> AbstractContextManager[None]:
        """Hold a slot for one call, whose outcome shows the endpoint's state. Raises TransientError on entry."""
        ...


@dataclass(frozen=True, slots=True)
class Caller:
    """Calls one model, and implements `AskModel`. Threads may share one object.

    total_seconds: no further attempt begins that might end later than this after the start of the first; None: no
    limit.
    """

    driver: Driver
    gate: Gate
    budget: Budget
    max_output_tokens: int
    timeout_seconds: float
    total_seconds: float | None = None
    monotonic: Callable[[], float] = time.monotonic

    @property
    def name(self) -> str:
        return self.driver.name

    def ask(self, prompt: Prompt, spender: Spender) -> Answer:
        """Send the prompt, with no transaction open. Raises TransientError, BudgetReached, ModelFailed."""
        tries: Counter[type[ModelFailed]] = Counter()
        began = self.monotonic()
        while True:
            try:
                return self._call(prompt, spender)
            except (UnfitAnswer, RequestRefused) as error:
                kind = type(error)
                tries[kind] += 1
                log.info("%s, %s: %s", self.name, prompt.version, error)
                if tries[kind] > MORE_TRIES.get(kind, 0) or self._too_late(began):
                    raise

    def _too_late(self, began: float) -> bool:
        return self.total_seconds is not None and (self.monotonic() - began + self.timeout_seconds > self.total_seconds)

    def _call(self, prompt: Prompt, spender: Spender) -> Answer:
        """Make one call, reserved before it and settled after any outcome."""
        reservation = self.budget.reserve(spender, self._wanted(prompt))
        try:
            with ExitStack() as place:
                try:
                    place.enter_context(self.gate.enter())
                except BaseException:
                    self.budget.release(reservation)
                    raise
                return self._settled(prompt, reservation)
        except Unanswered as error:
            # Outside the gate, which treats any other failure as a sign that the endpoint works.
            given_up = self._given_up(prompt, reservation, error)
        if isinstance(given_up, ModelFailed):
            log.warning("%s, %s: given up: %s", self.name, prompt.version, given_up)
        raise given_up

    def _given_up(self, prompt: Prompt, reservation: Reservation, error: Unanswered) -> Unanswered | ModelFailed:
        """Return the error for a call without an answer. A refusal before any work does not count."""
        if error.tokens is not None or prompt.about is None:
            return error
        silence = self.budget.note_silence(reservation, prompt.about)
        if silence.times < GIVEN_UP_AFTER or silence.seconds < GIVEN_UP_SECONDS:
            return error
        return ModelFailed(f"{error}, {silence.times} times in {silence.seconds / 3600:.1f} h", reservation.tokens)

    def _settled(self, prompt: Prompt, reservation: Reservation) -> Answer:
        try:
            with model_span(self.name, prompt.purpose):
                answer = self.driver.complete(
                    prompt, max_output_tokens=self.max_output_tokens, timeout_seconds=self.timeout_seconds
                )
        except ModelFailed as error:
            self.budget.settle(reservation, "failed", error.tokens)
            raise
        except Unanswered as error:
            self.budget.settle(reservation, "unanswered", error.tokens)
            raise
        except BaseException:
            # A time limit of the task, or a stop of the worker: the endpoint may still work on the call, so the whole
            # reservation counts.
            self.budget.settle(reservation, "unanswered", None)
            raise
        self.budget.settle(reservation, "answered", answer.tokens)
        return answer

    def _wanted(self, prompt: Prompt) -> ReservationRequest:
        return ReservationRequest(
            purpose=prompt.purpose,
            model=self.name,
            prompt=prompt.version,
            tokens=prompt_tokens(prompt) + self.max_output_tokens,
            seconds=2 * self.timeout_seconds + LOST_AFTER_SECONDS,
        )
