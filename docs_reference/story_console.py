"""A console over a stack that has heard a story: for pictures of its pages, and for its tasks by keyboard."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import uvicorn
from playwright.sync_api import Page
from sqlalchemy import Connection, Engine, select, update

from docs_reference.screenshots_story import WAITING, story
from proof.servers import until
from slowwave import Memory
from slowwave.coordination.broker import connect_broker
from slowwave.settings import Consolidation, Days, Settings
from slowwave_server.models import Agent, Event, Flush, Scope, Session
from slowwave_server.models.engine import make_engine
from slowwave_server.services.access.console_users import Passwords, add_user
from slowwave_server.services.consolidation.scope_pass import Order, consolidate
from slowwave_server.services.days.book import find_days
from slowwave_server.services.days.summarize import summarize_day
from slowwave_server.services.dead_letters.store import store_dead_letter
from slowwave_server.workers.console.app import make_app
from slowwave_server.workers.listening_sockets import listen_on

USER, PASSWORD = "priya", "pictures of pages"
DEADLINE_SECONDS = 120.0


@contextmanager
def open_story(settings: Settings, *, user: str = USER) -> Iterator[str]:
    """Tell the story to the tenant of `settings`, serve a console for `user`, an operator, and yield its address."""
    engine, redis = make_engine(settings.database_url, pool_size=5), connect_broker(settings)
    with Memory(settings, raise_errors=True) as memory, listen_on("127.0.0.1", 0) as listening:
        _tell(memory, engine)
        with engine.begin() as connection:
            add_user(connection, user, "operator", ["*"], PASSWORD, passwords=Passwords())
        app = make_app(settings, engine, redis, lambda: datetime.now(UTC), memory)
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False, lifespan="off"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        server.should_exit = True
        thread.join()
    redis.close()
    engine.dispose()


def log_in(page: Page, *, user: str = USER) -> None:
    """Log in by the form, as a person does."""
    page.goto("/login")
    page.get_by_label("Name").fill(user)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url("**/")


def _tell(memory: Memory, engine: Engine) -> None:
    now = datetime.now(UTC)
    for turn in story(now):
        said = {"role": "user", "name": turn.name, "content": turn.said, "at": turn.at}
        reply = {"role": "assistant", "content": turn.answered, "at": turn.at}
        memory.turn_completed(turn.agent, turn.session, [said, reply])
        memory.session_idle(turn.agent, turn.session)
    until(lambda: memory.status().dirty_sessions == 0, DEADLINE_SECONDS, "everything is flushed", poll=0.1)
    with engine.connect() as connection:
        wanted = select(Scope.id).where(Scope.tenant == memory.tenant).order_by(Scope.id)
        scopes = list(connection.execute(wanted).scalars())
    for scope in scopes:
        for mode in ("light", "deep"):
            rules = Consolidation(min_age_days=0)
            consolidate(engine, Order(scope, mode, USER), settings=rules, clock=lambda: datetime.now(UTC))
    for days in (3, 2, 1):
        day = (now - timedelta(days=days)).date()
        with engine.connect() as connection:
            refs = find_days(connection, memory.tenant, "concierge", day, scope="agent")
        for ref in refs:
            summarize_day(engine, ref, settings=Days(), now=now, final=True)
    with engine.begin() as connection:
        _break_two(connection, memory.tenant, now)
    agent, session, name, said_last = WAITING
    memory.turn_completed(agent, session, [{"role": "user", "name": name, "content": said_last}])


def _break_two(connection: Connection, tenant: str, now: datetime) -> None:
    """Store a dead letter, and quarantine an event of the gardener's session."""
    payload = {"tenant": tenant, "agent": "concierge", "session": "trip", "messages": "none"}
    error = "messages must be a list, got str"
    store_dead_letter(connection, task="slowwave.capture", tenant=tenant, payload=payload, error=error, now=now)
    session = connection.execute(
        select(Session.id).join(Agent).where(Agent.tenant == tenant, Agent.name == "gardener")
    ).scalar_one()
    failed = {"to_seq": 1, "outcome": "quarantined", "error": "the model answered no valid JSON", "committed_at": now}
    connection.execute(update(Flush).where(Flush.session_id == session, Flush.from_seq == 1).values(**failed))
    connection.execute(update(Event).where(Event.session_id == session, Event.seq == 1).values(quarantined_at=now))
