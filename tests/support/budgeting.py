"""A budget on a test's database, with a clock that is set by hand."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from sqlalchemy import Engine, text

from slowwave.settings import Llm
from slowwave_server.domain.model_calls import Spender
from slowwave_server.services.llm.budget import Budget, Reservation, ReservationRequest

THURSDAY = datetime(2026, 3, 5, 12, tzinfo=UTC)


@dataclass
class SetClock:
    """Says what it was set to."""

    now: datetime = THURSDAY

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **span: float) -> None:
        self.now += timedelta(**span)


@dataclass
class Purse:
    """A budget of one database, and what its tables say."""

    engine: Engine
    caps: Llm
    clock: SetClock = field(default_factory=SetClock)

    def __post_init__(self) -> None:
        self.budget = Budget(self.engine, self.caps, self.clock)

    def reserve(self, spender: Spender, tokens: int, *, seconds: float = 60) -> Reservation:
        return self.budget.reserve(spender, ReservationRequest("extract", "fake small", "extract/1", tokens, seconds))

    def counted(self, tenant: str, agent: str = "", period: str = "day") -> tuple[int, int, int, int]:
        """calls, failures, reserved, settled, over all days or weeks."""
        query = text(
            "SELECT coalesce(sum(calls), 0), coalesce(sum(failures), 0), coalesce(sum(tokens_reserved), 0),"
            " coalesce(sum(tokens_settled), 0) FROM slowwave.llm_usage"
            " WHERE tenant = :tenant AND agent = :agent AND period = :period"
        )
        with self.engine.connect() as connection:
            row = connection.execute(query, {"tenant": tenant, "agent": agent, "period": period}).one()
        calls, failures, reserved, settled = (int(number) for number in row)
        return calls, failures, reserved, settled

    def ledger(self, tenant: str) -> tuple[int, int, int, int]:
        """The same four, from the rows of single calls."""
        query = text(
            "SELECT count(*), count(*) FILTER (WHERE outcome <> 'answered'),"
            " coalesce(sum(tokens_reserved) FILTER (WHERE outcome IS NULL), 0), coalesce(sum(tokens_settled), 0)"
            " FROM slowwave.llm_calls WHERE tenant = :tenant"
        )
        with self.engine.connect() as connection:
            row = connection.execute(query, {"tenant": tenant}).one()
        calls, failures, reserved, settled = (int(number) for number in row)
        return calls, failures, reserved, settled


def at_once(work: Callable[[int], None], count: int) -> None:
    """Run work(0), work(1), … in a thread each; raises what the first of them raised."""
    with ThreadPoolExecutor(count) as pool:
        for done in [pool.submit(work, number) for number in range(count)]:
            done.result()
