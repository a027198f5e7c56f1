"""Budgets of model calls (I7): tokens are reserved in Postgres before a call, and settled after it.

Each of the three statements is its own transaction and one round trip; no transaction is open during a call.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID, uuid4, uuid5

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError, OperationalError

from slowwave.settings import Llm
from slowwave_server.domain.failures import TransientError
from slowwave_server.domain.model_calls import BudgetReached, Spender

log = logging.getLogger(__name__)

Outcome = Literal["answered", "failed", "unanswered"]

_RESERVE = (
    "SELECT p_cap, p_until FROM slowwave.reserve_call(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
)
_SETTLE = "SELECT slowwave.settle_call(%s, %s, %s, %s, %s)"
_RELEASE = "SELECT slowwave.release_call(%s, %s)"
# A statement does not see its own new row, so `once` counts it.
_SILENCE = (
    "WITH once AS (UPDATE slowwave.llm_calls c SET about = %s WHERE c.id = %s AND c.tenant = %s"
    "  RETURNING c.tenant, c.model, c.about, c.reserved_at)"
    " SELECT count(c.id) + 1 AS times,"
    "  coalesce(extract(epoch FROM o.reserved_at - min(c.reserved_at)), 0)::double precision AS seconds"
    " FROM once o LEFT JOIN slowwave.llm_calls c ON c.tenant = o.tenant AND c.about = o.about AND c.model = o.model"
    "  AND c.reserved_at > o.reserved_at - interval '1 day' AND c.id <> %s GROUP BY o.reserved_at"
)
_QUESTIONS = UUID("6f0d0b9e-6a3e-4b53-9a55-3f1f6c1c2f7b")


@dataclass(frozen=True, slots=True)
class ReservationRequest:
    """The request for a reservation: the call's purpose, driver and model, the prompt's name and number, the highest
    possible number of tokens, and the seconds after which the call counts as lost.
    """

    purpose: str
    model: str
    prompt: str
    tokens: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Reservation:
    """Reserved tokens of one call; settled or released once."""

    id: UUID
    tenant: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Silence:
    """The number of times that a question got no answer within a day, and the seconds since the first of them."""

    times: int
    seconds: float


class Budget:
    """The caps of `memory.llm`, over all workers."""

    def __init__(self, engine: Engine, caps: Llm, clock: Callable[[], datetime]) -> None:
        self._engine = engine
        self._caps = caps
        self._clock = clock

    def reserve(self, spender: Spender, wanted: ReservationRequest) -> Reservation:
        """Reserve tokens. Raises BudgetReached, and TransientError without Postgres: none may be spent unreserved."""
        caps, call = self._caps, uuid4()
        values = (
            call, spender.tenant, spender.agent, spender.run, wanted.purpose, wanted.model, wanted.prompt,
            wanted.tokens, self._clock(), wanted.seconds, caps.daily_token_budget, caps.weekly_token_budget,
            caps.agent_daily_token_budget, caps.agent_weekly_token_budget, caps.max_calls_per_run,
        )  # fmt: skip
        try:
            cap, until = self._row(_RESERVE, values)
        except DBAPIError as error:
            if not _is_away(error):
                raise
            raise TransientError("tokens can't be reserved: Postgres is not reachable") from None
        if cap is not None:
            raise BudgetReached(f"memory.llm.{cap}", until)
        return Reservation(call, spender.tenant, wanted.tokens)

    def settle(self, reservation: Reservation, outcome: Outcome, tokens: int | None) -> None:
        """Settle the cost of a call; None: the cost is unknown, and the whole reservation counts."""
        self._end(_SETTLE, (reservation.id, reservation.tenant, outcome, tokens, self._clock()))

    def release(self, reservation: Reservation) -> None:
        """Cancel the reservation, because the model was not called."""
        self._end(_RELEASE, (reservation.id, reservation.tenant))

    def note_silence(self, reservation: Reservation, about: str) -> Silence:
        """Note that a call got no answer. Return how often this was so for the same question (stored as a digest)."""
        call, tenant = reservation.id, reservation.tenant
        try:
            row = self._row(_SILENCE, (uuid5(_QUESTIONS, about), call, tenant, call))
        except DBAPIError as error:
            if not _is_away(error):
                raise
            return Silence(1, 0.0)
        return Silence(row.times, row.seconds)

    def _end(self, statement: str, values: tuple[Any, ...]) -> None:
        try:
            self._row(statement, values)
        except DBAPIError as error:
            if not _is_away(error):
                raise
            # The answer is usable; if its cost can't be stored, the whole reservation counts when it expires.
            log.warning("a call of the model could not be settled, Postgres is not reachable: it counts in full")

    def _row(self, statement: str, values: tuple[Any, ...]) -> Any:
        """Return one row of one transaction; on a broken connection, repeat it once. Statements may be sent twice."""
        try:
            return self._send(statement, values)
        except DBAPIError as error:
            if not _is_away(error):
                raise
            return self._send(statement, values)

    def _send(self, statement: str, values: tuple[Any, ...]) -> Any:
        with self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            return connection.exec_driver_sql(statement, values).one()


def _is_away(error: DBAPIError) -> bool:
    return error.connection_invalidated or isinstance(error, OperationalError)
