"""A small world in which two producers have talked, all is flushed, consolidated and settled, and all is well."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from redis import Redis
from sqlalchemy import text

from proof.chaos.cast import Conversation, conversations
from proof.chaos.journal import Line, Writer
from proof.chaos.talkers import Talker
from slowwave import Memory
from slowwave.coordination.flush_queue import FlushQueue
from slowwave.identity import SessionRef
from slowwave.settings import Consolidation, Days, Settings, load_settings
from slowwave_server.domain.extraction import RulesExtractor
from slowwave_server.domain.model_calls import Spender
from slowwave_server.models.engine import make_engine
from slowwave_server.services.consolidation.scope_pass import Order, consolidate
from slowwave_server.services.days.finalize import finalize_ended
from slowwave_server.services.flush.flusher import Flusher
from slowwave_server.services.forget.forget import Forgetter
from slowwave_server.services.llm.budget import Budget, ReservationRequest
from slowwave_server.services.working.consolidate import consolidate_working
from slowwave_server.workers.leases import LeaseThread

STEPS = 14
TELLING = Conversation(None, "agent-0-0", "monday", None)
HALL = Conversation(None, "agent-0-0", "in the hall", "room:hall-0")
ELSEWHERE = Conversation("globex", "agent-0-0", "monday", None)
FORGOTTEN = Conversation(None, "agent-0-1", "monday", None)
RULES = Consolidation(min_age_days=0)


def variables(database_url: str, broker_url: str, folder: Path) -> dict[str, str]:
    """The settings of this world."""
    names = {
        "DATABASE_URL": database_url,
        "BROKER_URL": broker_url,
        "SPOOL": str(folder / "spool-0"),
        "MEMORY__FILES__ROOT": str(folder / "files"),
        "MEMORY__LLM__DAILY_TOKEN_BUDGET": "5000",
    }
    return {f"SLOWWAVE_{name}": value for name, value in names.items()}


def note_settings(database_url: str, broker_url: str, folder: Path) -> None:
    """Leave the settings where checks find them."""
    settings = variables(database_url, broker_url, folder)
    (folder / "environment-0.json").write_text(json.dumps(settings), encoding="utf-8")


def fill(database_url: str, broker_url: str, redis: Redis, folder: Path) -> None:
    """Make the world on an empty database."""
    settings = load_settings(variables(database_url, broker_url, folder))
    note_settings(database_url, broker_url, folder)
    with Memory(settings) as memory:
        for producer in (0, 1):
            _talk(memory, settings, redis, folder, producer)
        _work(memory, settings, redis)
    _ask_a_model(settings, folder)
    redis.flushall()


def _talk(memory: Memory, settings: Settings, redis: Redis, folder: Path, producer: int) -> None:
    engine = make_engine(settings.database_url)
    with Writer(folder, producer) as writer:
        talker = Talker(
            memory=memory,
            forgetter=Forgetter(engine, redis, settings, lambda: datetime.now(UTC)),
            redis=redis,
            writer=writer,
            producer=producer,
            conversations=conversations(producer, 2),
            random=Random(producer),  # noqa: S311 (what is said is no secret)
            stopped=lambda: False,
        )
        for _ in range(STEPS):
            talker.step()
        if producer == 0:
            _facts(talker)
            talker.tell(FORGOTTEN, Line("lasting", "user", f"My aunt {talker.next_word} keeps bees.", talker.next_word))
            talker.forget(FORGOTTEN, whole=True)
    engine.dispose()


def _facts(talker: Talker) -> None:
    """What is looked for: values of an attribute, the newest in the middle; lasting things; a contradiction."""
    for day in (3, 9, 5):
        said, at = talker.next_word, datetime(2026, 3, day, 12, tzinfo=UTC).isoformat()
        talker.tell(TELLING, Line("fact", "user", f"My favourite tea is {said}.", said, at, "tea"))
    for place in (TELLING, TELLING, HALL, ELSEWHERE):
        said = talker.next_word
        talker.tell(place, Line("lasting", "user", f"My aunt {said} keeps two goats.", said))
    talker.note(TELLING)
    said = talker.next_word
    both = (f"My cousin {said} plays the cello.", f"My cousin {said} does not play the cello.")
    talker.tell(TELLING, *(Line("both", "user", line, said) for line in both))


def _work(memory: Memory, settings: Settings, redis: Redis) -> None:
    """What workers do, until there is nothing left."""
    engine = make_engine(settings.database_url, autocommit=True)
    queue = FlushQueue(redis, ticket_seconds=60, lease_seconds=30, per_agent_concurrency=1)
    flusher = Flusher(
        engine=engine,
        queue=queue,
        keeper=LeaseThread(queue, lease_seconds=30),
        extractor=RulesExtractor(),
        settings=settings.memory.auto_flush,
        clock=lambda: datetime.now(UTC),
        jitter=lambda: 0.5,
        pause=lambda _seconds: None,
    )
    with engine.connect() as connection:
        sessions = list(
            connection.execute(
                text(
                    "SELECT a.tenant, a.name AS agent, s.name FROM slowwave.sessions s"
                    " JOIN slowwave.agents a ON a.id = s.agent_id WHERE s.last_seq > s.processed_until"
                )
            )
        )
        scopes = [row.id for row in connection.execute(text("SELECT id FROM slowwave.scopes"))]
    for row in sessions:
        memory.for_tenant(row.tenant).session_idle(row.agent, row.name)
        ref = SessionRef(row.tenant, row.agent, row.name)
        queue.offer(ref, "normal")
        while flusher.flush(ref).more:
            pass
    for scope in scopes:
        consolidate_working(engine, scope, settings=RULES, clock=lambda: datetime.now(UTC))
        consolidate(engine, Order(scope, "light"), settings=RULES, clock=lambda: datetime.now(UTC))
    finalize_ended(engine, Days(), now=datetime.now(UTC))
    engine.dispose()


def _ask_a_model(settings: Settings, folder: Path) -> None:
    """One call of a model, as the ledger and the endpoint count it."""
    engine = make_engine(settings.database_url)
    budget = Budget(engine, settings.memory.llm, lambda: datetime.now(UTC))
    call = budget.reserve(
        Spender("default", "agent-0-0"), ReservationRequest("extract", "fake", "extract/1", 500, 30.0)
    )
    budget.settle(call, "answered", 300)
    engine.dispose()
    line = {"at": "2026-01-01T00:00:00+00:00", "status": 200, "input": 200, "output": 100, "cut": False}
    (folder / "model-calls.jsonl").write_text(json.dumps(line) + os.linesep, encoding="utf-8")
