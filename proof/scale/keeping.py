"""Background operations: consolidation, days, retention, forgetting, deliveries, ticks."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from proof.scale.measuring import Operation
from proof.scale.place import Place
from proof.scale.world import TEAM, TEAM_SCOPE, TENANT
from proof.scale.writing import TURN, flush, make_dirty
from slowwave.identity import SessionRef
from slowwave_server.domain.similarity import read
from slowwave_server.domain.statements import content_hash
from slowwave_server.services.consolidation.scope_pass import Order, consolidate
from slowwave_server.services.days.book import DayRef
from slowwave_server.services.days.due import due_days
from slowwave_server.services.days.finalize import settle_ended
from slowwave_server.services.days.summarize import summarize_day
from slowwave_server.services.flush.sweep import wake_stale
from slowwave_server.services.forget.forget import Forgetter
from slowwave_server.services.forget.target import Target
from slowwave_server.services.maintenance.scheduler import Scheduler
from slowwave_server.services.memory_files.outbox import mark_delivered, take_waiting, waiting_scopes
from slowwave_server.services.reports.conflicts import list_conflicts
from slowwave_server.services.reports.review import Asked, list_questions
from slowwave_server.services.retention.events import remove_old_events
from slowwave_server.services.retention.sessions import bound_sessions
from slowwave_server.services.search.statistics import scopes_to_refresh
from slowwave_server.services.working.consolidate import consolidate_working
from slowwave_server.workers.jobs import job_runners

BACKEND = "file"
WAITING = 50
ENDED = 100
DAYS_A_ROUND = 10
GOING_ON = 10
_STORE = (
    "SELECT slowwave.store_memory(%s, s.id, NULL, %s, %s, 'fact', 'inbox', 0.6, 0.5, 'user', '{}', %s,"
    " ARRAY[1::bigint], 'measured', %s) FROM slowwave.sessions s WHERE s.id = 1"
)
_WAIT = (
    "UPDATE slowwave.outbox SET changes = changes + 1 WHERE backend = %s AND memory_id IN ("
    "SELECT memory_id FROM slowwave.memory_sources WHERE session_id IN ("
    "SELECT session_id FROM slowwave.memory_sources ORDER BY session_id OFFSET %s LIMIT %s))"
)
_LOOKED_AT = (
    "UPDATE slowwave.session_days SET look_at = now() + interval '10 minutes' WHERE pending AND look_at < now()"
)
_GOES_ON = (
    "UPDATE slowwave.session_days SET look_at = now() - interval '1 minute' WHERE (session_id, day) IN ("
    "SELECT session_id, day FROM slowwave.session_days WHERE pending ORDER BY session_id DESC LIMIT %s)"
)
_ASK = (
    "INSERT INTO slowwave.review_items (scope_id, conflict_id, why, tier, expires_at)"
    " SELECT c.scope_id, c.id, 'two values', (ARRAY['low', 'medium', 'high'])[1 + c.id % 3], now() + interval '7 days'"
    " FROM slowwave.memory_conflicts c WHERE c.status = 'open'"
    " AND NOT EXISTS (SELECT FROM slowwave.review_items i WHERE i.conflict_id = c.id)"
)
_DAY = (
    "SELECT d.agent_id, d.scope_id, d.day FROM slowwave.session_days d JOIN slowwave.sessions s ON s.id = d.session_id"
    " JOIN slowwave.agents a ON a.id = s.agent_id WHERE a.tenant = %s AND a.name = %s AND s.name = %s"
)


def add_memory(place: Place, number: int) -> None:
    """Add a memory to the scope of a million, a week old, similar to an existing one."""
    text = place.statements[number % len(place.statements)].replace(" a ", f" a {number}th ", 1)
    at = place.now() - timedelta(days=8)
    place.run(_STORE, TEAM_SCOPE, f"{text} {place.now().timestamp():.0f}", content_hash(f"{text} {at}"), at, at)
    read.cache_clear()


def one_pass(place: Place, _number: int, _: Any) -> None:
    """Run a light pass over this scope: candidates, the guard, links, the run."""
    order = Order(TEAM_SCOPE, "light", by="scale")
    report = consolidate(place.engine, order, settings=place.settings.memory.consolidation, clock=place.now)
    if (report.state, report.checked, report.failed) != ("completed", 1, 0):
        raise RuntimeError(f"the pass was {report.state}: {report.summary}")


def add_note(place: Place, number: int) -> None:
    """Add a note to working memory of the same scope."""
    text = place.statements[number % len(place.statements)]
    name = place.team_member(number).agent
    place.memory.remember(name, f"{text}, {place.now()}", 0.9, marked=True, scope=f"team:{TEAM}")
    read.cache_clear()


def working_cycle(place: Place, _number: int, _: Any) -> None:
    """Run a cycle over it."""
    rules = place.settings.memory.consolidation
    if consolidate_working(place.engine, TEAM_SCOPE, settings=rules, clock=place.now).gathered != 1:
        raise RuntimeError("the cycle did not meet the note")


def add_day(place: Place, number: int) -> DayRef:
    """Add twenty turns of today."""
    ref = place.team_member(number)
    name = f"day-{place.now().timestamp()}"
    for _ in range(20):
        place.memory.turn_completed(ref.agent, name, TURN, scope=f"team:{TEAM}")
    agent, scope, day = place.run(_DAY, TENANT, ref.agent, name)[0]
    return DayRef(agent, scope, day, TENANT, ref.agent, f"team:{TEAM}")


def summarize(place: Place, _number: int, day: DayRef) -> None:
    """Make the summary of one agent's day."""
    report = summarize_day(place.engine, day, settings=place.settings.memory.days, now=place.now())
    if report.outcome != "summarized":
        raise RuntimeError(f"the day was {report.outcome}")


def look_at_days(place: Place, number: int) -> None:
    """Prepare days that nobody has summarised and that a tick has checked; ten conversations continue."""
    if number == 0:
        place.run(_LOOKED_AT)
        place.run("VACUUM slowwave.session_days")
    place.run(_GOES_ON, GOING_ON)


def find_due(place: Place, _number: int, _: Any) -> None:
    """Run the query for due days."""
    with place.engine.begin() as connection:
        due_days(connection, place.settings.memory.days, now=place.now(), limit=ENDED)


def ask_people(place: Place, number: int) -> None:
    """Ask about each conflict; all are open."""
    if number == 0:
        place.run(_ASK)
        place.run("ANALYZE slowwave.review_items")


def read_questions(place: Place, _number: int, _: Any) -> None:
    """Run `slowwave inbox list` twice."""
    with place.engine.connect() as connection:
        if not list_questions(connection, TENANT, Asked()) or not list_conflicts(connection, TENANT):
            raise RuntimeError("there was no question")


def find_ended(place: Place, _number: int, _: Any) -> None:
    """Find the first hundred days that are over and not final."""
    with place.engine.connect() as connection:
        settle_ended(connection, now=place.now(), limit=ENDED)
        connection.rollback()


@dataclass
class _Some:
    left: int

    def __call__(self) -> bool:
        self.left -= 1
        return self.left >= 0


def retain(place: Place, number: int, _: Any) -> None:
    """Remove old events of ten agents' days, other days in each round."""
    remove_old_events(place.engine, 500 - 2 * number, now=place.now(), go_on=_Some(DAYS_A_ROUND))


def make_forgettable(place: Place, number: int) -> SessionRef:
    """Make a flushed conversation."""
    ref = make_dirty(place, number)
    flush(place, number, ref)
    return ref


def forget(place: Place, _number: int, ref: SessionRef) -> None:
    """Forget this conversation."""
    target = Target.of_session(TENANT, ref.agent, ref.session)
    Forgetter(place.engine, place.redis, place.settings, place.now).forget(target, by="scale")


def make_waiting(place: Place, number: int) -> None:
    """Let some memories wait for a backend."""
    place.run(_WAIT, BACKEND, number * WAITING, WAITING)


def deliver(place: Place, _number: int, _: Any) -> None:
    """Find waiting scopes, take their changes, and mark the deliveries."""
    with place.engine.begin() as connection:
        for scope in waiting_scopes(connection, BACKEND, limit=20, now=place.now()):
            taken = take_waiting(connection, BACKEND, scope.id)
            mark_delivered(connection, BACKEND, scope.id, taken, place.now())


def nothing_planned(place: Place, number: int) -> None:
    """Make all jobs due next year."""
    if number == 0:
        place.run("UPDATE slowwave.maintenance_jobs SET next_due_at = now() + interval '1 year'")


def tick(place: Place, _number: int, _: Any) -> None:
    """Run a tick of maintenance that finds no due job."""
    if Scheduler(place.engine, job_runners(), place.settings, clock=place.now, by="scale").tick().ran:
        raise RuntimeError("a job ran")


def grown(place: Place, _number: int, _: Any) -> None:
    """Find scopes that have grown since their words were counted."""
    with place.engine.begin() as connection:
        scopes_to_refresh(connection)


def bounds(place: Place, _number: int, _: Any) -> None:
    """Limit abandoned conversations."""
    wake_stale(place.engine, place.settings.memory.auto_flush, place.now())
    bound_sessions(place.engine, place.settings.memory.sessions, place.now())


OPERATIONS = (
    Operation("consolidation of one new memory, scope of all these memories", one_pass, add_memory, rounds=40),
    Operation("working cycle of one note, the same scope", working_cycle, add_note, rounds=40),
    Operation("summary of one day", summarize, add_day, rounds=20),
    Operation("due days, ten conversations in progress", find_due, look_at_days, rounds=30),
    Operation("lists of questions and of conflicts", read_questions, ask_people, rounds=30),
    Operation("past days, the first hundred", find_ended, rounds=30),
    Operation("retention, ten days of an agent", retain, rounds=30),
    Operation("outbox: find, take and mark fifty", deliver, make_waiting, rounds=30),
    Operation("maintenance tick, nothing due", tick, nothing_planned),
    Operation("find scopes whose words must be counted again", grown),
    Operation("make stale and excess sessions due for a flush", bounds),
    Operation("forget of one session", forget, make_forgettable, rounds=20),
)
