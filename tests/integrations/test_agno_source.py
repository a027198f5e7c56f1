"""Sessions that Agno keeps, read through its own stores: each named run once, whatever happens to it in between."""

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from agno.db.postgres import PostgresDb
from agno.db.sqlite import SqliteDb
from redis import Redis
from sqlalchemy import Engine

from examples.agno_memory import converse
from examples.story import REMEMBERS
from slowwave import Memory, Settings
from slowwave.capture import Captured, Entry
from slowwave.errors import InvalidSettings, StoreUnavailable
from slowwave.external_runs import READ_SESSION, name_run
from slowwave.identity import SessionRef
from slowwave.integrations.agno import SlowwaveHooks
from slowwave.settings import Agno
from slowwave.spool import Spool
from slowwave_server.beat_schedule import schedule
from slowwave_server.domain.failures import TransientError
from slowwave_server.services.forget.forget import Forgetter
from slowwave_server.services.forget.target import Target
from slowwave_server.services.reports.check import Check
from slowwave_server.services.reports.doctor import check_source
from slowwave_server.services.sources.agno import AgnoSource
from slowwave_server.services.sources.reading import LOOK_FOR_SECONDS, Looked, SessionReader
from slowwave_server.services.sources.store import take_due
from slowwave_server.workers.app import make_app, refuse_source
from tests.support.agno_agents import CALLS, TOLD, CallingModel, ScriptedModel, book, make_agent
from tests.support.capturing import broken_sessions, contents, rows
from tests.support.flushing import Clock

pytestmark = pytest.mark.servers

REF = SessionRef("default", "maya", "monday")
PELAGO = "My bike is a green Pelago."
LISBON = "I moved to Lisbon."


@dataclass
class Household:
    """An Agno store, the hooks that name its runs, and a reader with a clock that is moved by hand."""

    settings: Settings
    memory: Memory
    engine: Engine
    db: Any
    source: AgnoSource
    clock: Clock = field(default_factory=Clock)
    lost: bool = False  # the worker dies after it has captured

    def say(self, text: str, session: str = "monday", **run: Any) -> Any:
        agent = make_agent(SlowwaveHooks(self.memory), db=self.db)
        return agent.run(text, session_id=session, **run)

    def look(self, ref: SessionRef = REF) -> Looked:
        return SessionReader(self.engine, self.source, self._capture, self.clock, lambda: 0.5).look(ref)

    def _capture(self, entry: Entry) -> Captured:
        captured = self.memory.store.capture.one(entry)
        if self.lost:
            raise StoreUnavailable("the answer is lost")
        return captured

    def runs(self) -> dict[str, Any]:
        query = "SELECT run_id, outcome, due_at, last_error FROM slowwave.source_runs"
        return {run: (outcome, due, error) for run, outcome, due, error in rows(self.settings.database_url, query)}

    def said(self, session: str = "monday") -> list[str]:
        return contents(self.settings.database_url, session)


@pytest.fixture(params=["sqlite"])
def household(
    request: pytest.FixtureRequest,
    database_url: str,
    valkey_url: str,
    redis_client: Redis,
    engine: Engine,
    tmp_path: Path,
) -> Iterator[Household]:
    redis_client.ping()
    agno = {"db_url": f"sqlite:///{tmp_path}/agno.db", "session_table": "talks"}
    if request.param == "postgres":
        agno["db_url"] = database_url
        db: Any = PostgresDb(db_url=database_url.replace("postgresql:", "postgresql+psycopg:"), session_table="talks")
    else:
        db = SqliteDb(db_url=agno["db_url"], session_table="talks")
    memory: Any = {"source": "agno", "agno": agno}
    settings = Settings(database_url=database_url, broker_url=valkey_url, spool=tmp_path / "spool", memory=memory)
    with Memory(settings) as client:
        source = AgnoSource(settings.memory.agno)
        yield Household(settings, client, engine, db, source)
        source.close()
    db.db_engine.dispose()


@pytest.mark.parametrize("household", ["sqlite", "postgres"], indirect=True)
def test_what_agno_keeps_becomes_events_with_its_times_and_no_text_goes_through_the_hook(household: Household) -> None:
    began = datetime.now(UTC) - timedelta(seconds=1)
    household.say(PELAGO)
    output = household.say(LISBON)
    assert household.said() == []
    looked = household.look()
    assert (looked.added, looked.taken, looked.waiting) == (4, 2, 0)
    assert household.said() == [PELAGO, "Noted: 26 characters.", LISBON, "Noted: 18 characters."]
    query = (
        "SELECT e.key, e.happened_at, s.source FROM slowwave.events e JOIN slowwave.sessions s ON s.id = e.session_id"
    )
    events = rows(household.settings.database_url, query)
    assert {key for key, _, _ in events} >= {
        f"agno:{message.id}" for message in output.messages if message.role != "system"
    }
    assert all(began <= at <= datetime.now(UTC) and source == "agno" for _, at, source in events)
    assert broken_sessions(household.settings.database_url) == []
    assert household.look() == Looked()


@pytest.mark.parametrize("household", ["sqlite", "postgres"], indirect=True)
def test_calls_and_results_that_agno_keeps_become_events(household: Household) -> None:
    model = CallingModel(steps=list(CALLS))
    agent = make_agent(SlowwaveHooks(household.memory), db=household.db, model=model, tools=[book])
    output = agent.run("Book me a seat.", session_id="monday")
    assert household.look().added == len(TOLD) + 1
    query = "SELECT kind, role, content, metadata ->> 'error' FROM slowwave.events ORDER BY seq"
    assert rows(household.settings.database_url, query)[:-1] == TOLD
    name_run(household.memory, "maya", "monday", output.run_id, source="agno")
    assert household.look().added == 0
    assert broken_sessions(household.settings.database_url) == []


def test_a_crash_after_the_capture_and_a_second_name_double_nothing(household: Household) -> None:
    output = household.say(PELAGO)
    household.lost = True
    with pytest.raises(StoreUnavailable):
        household.look()
    household.lost = False
    assert (household.look().repeated, len(household.said())) == (2, 2)
    name_run(household.memory, "maya", "monday", output.run_id, source="agno")
    assert household.look().added == 0
    assert len(household.said()) == 2


def test_messages_that_vanish_or_change_in_agno_stay_as_they_were_said(household: Household) -> None:
    first = household.say(PELAGO)
    household.look()
    kept = household.db.get_session("monday").get_run(first.run_id)
    for message in kept.messages:
        message.content = "My bike is a red Pelago."
    household.db.upsert_run(kept, session_id="monday")
    household.say(LISBON)
    name_run(household.memory, "maya", "monday", first.run_id, source="agno")
    household.look()
    household.db.delete_session("monday")
    name_run(household.memory, "maya", "monday", first.run_id, source="agno")
    household.look()
    assert household.said() == [PELAGO, "Noted: 26 characters.", LISBON, "Noted: 18 characters."]


def test_what_retention_removed_does_not_come_back_from_agno(household: Household) -> None:
    output = household.say(PELAGO)
    household.look()
    with household.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM slowwave.events")
    name_run(household.memory, "maya", "monday", output.run_id, source="agno")
    assert household.look().added == 0


def test_i10_what_was_forgotten_does_not_come_back_from_agno(household: Household, redis_client: Redis) -> None:
    household.say(PELAGO)
    household.look()
    old = household.say("My cat is called Ofelia.")  # named, and not read yet
    forgetter = Forgetter(household.engine, redis_client, household.settings, lambda: datetime.now(UTC))
    forgetter.forget(Target.of_session("default", "maya", "monday"), by="test")
    assert household.runs() == {}
    name_run(household.memory, "maya", "monday", old.run_id, source="agno")
    assert household.look().added == 0
    assert household.said() == []


@pytest.mark.parametrize("flag", [{"metadata": {"private": True}}, {"session_state": {"private": True}}])
def test_a_private_run_is_not_even_named(household: Household, flag: dict[str, Any]) -> None:
    household.say(PELAGO, **flag)
    assert household.runs() == {}
    assert household.look() == Looked()


def test_a_session_that_becomes_private_gives_nothing_more_and_keeps_what_it_gave(household: Household) -> None:
    household.say(PELAGO)
    household.look()
    household.say("I look for another job.")
    flag(household, private=True)
    household.say("It is in Porto.")
    assert household.look().private == 1
    flag(household, private=False)
    household.say(LISBON)
    assert household.look().taken == 1
    assert household.said() == [PELAGO, "Noted: 26 characters.", LISBON, "Noted: 18 characters."]


def test_a_store_that_is_away_is_waited_for_and_loses_nothing(household: Household, tmp_path: Path) -> None:
    household.say(PELAGO)
    file, away = tmp_path / "agno.db", tmp_path / "away.db"
    file.rename(away)
    assert doctor_of(household).verdict == "ok"
    waits = []
    for _ in range(12):
        assert household.look().waiting == 1
        ((_, due, error),) = household.runs().values()
        waits.append((due - household.clock()).total_seconds())
        household.clock.pass_time(LOOK_FOR_SECONDS)  # however long it takes
    assert not file.exists(), "a store of Agno's is never made"
    assert waits == sorted(waits)
    assert waits[0] < 3
    assert 100 < waits[-1] <= 300
    assert "Agno's store can't be read" in error
    told = doctor_of(household)
    assert (told.verdict, "1 run could not be read" in told.finding) == ("problem", True)
    away.rename(file)
    assert household.look().added == 2
    assert doctor_of(household).verdict == "ok"


def test_a_server_that_is_away_is_no_empty_store() -> None:
    gone = AgnoSource(Agno(db_url="postgresql://nobody:secret@127.0.0.1:1/gone"))
    with pytest.raises(TransientError) as raised:
        gone.read("monday", frozenset({"run"}))
    assert "secret" not in str(raised.value)


def test_a_run_that_ends_in_an_error_is_found_and_one_that_never_comes_is_given_up(household: Household) -> None:
    def fail(_prompt: str) -> str:
        raise RuntimeError("no model today")

    agent = make_agent(SlowwaveHooks(household.memory), db=household.db, model=ScriptedModel(answer=fail))
    assert agent.run(PELAGO, session_id="monday").status.value == "ERROR"  # its post-hook was not called
    name_run(household.memory, "maya", "monday", "crashed", source="agno")
    looked = household.look()
    assert (looked.taken, looked.waiting) == (1, 1)
    assert household.said() == [PELAGO]
    household.clock.pass_time(LOOK_FOR_SECONDS / 2)
    assert household.look().waiting == 1
    household.clock.pass_time(LOOK_FOR_SECONDS / 2)
    assert household.look().gone == 1
    assert household.runs()["crashed"][:2] == ("gone", None)


def test_a_name_waits_in_the_spool_while_postgres_is_away(household: Household, tmp_path: Path) -> None:
    gone = household.settings.model_copy(update={"database_url": "postgresql://nobody@127.0.0.1:1/gone"})
    with Memory(gone) as away:
        make_agent(SlowwaveHooks(away), db=household.db).run(PELAGO, session_id="monday")
    waiting = list((tmp_path / "spool").glob("*.jsonl"))
    assert waiting
    assert all("Pelago" not in file.read_text() for file in waiting)
    # What waits for one database is not another's: here it is as if they were the same.
    spool = Spool(household.settings.spool, household.settings.database_url)
    spool.append([Entry(**json.loads(line)) for file in waiting for line in file.read_text().splitlines()])
    spool.close()
    end = time.monotonic() + 10
    with Memory(household.settings):
        while not household.runs() and time.monotonic() < end:
            threading.Event().wait(0.02)
    assert household.look().added == 2


def test_i8_a_reader_takes_only_what_was_named_for_its_own_agent(household: Household) -> None:
    """Two agents in one session of Agno's: each remembers its own runs."""
    for agent, line in (("priya", PELAGO), ("jonas", LISBON)):
        hooks = SlowwaveHooks(household.memory, agent=agent)
        make_agent(hooks, db=household.db).run(line, session_id="hall")
    assert household.look(SessionRef("other", "priya", "hall")) == Looked()
    assert household.look(SessionRef("default", "priya", "hall")).taken == 1
    assert household.said("hall") == [PELAGO, "Noted: 26 characters."]
    assert household.look(SessionRef("default", "jonas", "hall")).taken == 1


def test_i8_a_scope_that_hooks_name_holds_for_what_is_read(household: Household) -> None:
    make_agent(SlowwaveHooks(household.memory, scope="room:kitchen"), db=household.db).run(PELAGO, session_id="monday")
    household.look()
    query = "SELECT k.kind, k.name FROM slowwave.sessions s JOIN slowwave.scopes k ON k.id = s.scope_id"
    assert rows(household.settings.database_url, query) == [("room", "kitchen")]


def test_the_tick_asks_for_what_is_due_and_a_worker_reads_it(household: Household, redis_client: Redis) -> None:
    app = make_app(household.settings)
    app.loader.import_default_modules()
    try:
        household.say(PELAGO)
        household.say(LISBON, session="tuesday")
        for _ in range(2):
            app.tasks["slowwave.read_sessions"].run()
        assert redis_client.llen("capture") == 2
        for session in ("monday", "tuesday"):
            app.tasks[READ_SESSION].run("maya", session)
        assert household.said("monday")[0] == PELAGO
        assert household.said("tuesday")[0] == LISBON
        assert take_due(household.engine, limit=10, now=datetime.now(UTC) + timedelta(days=2)) == []
    finally:
        app.close_runtime()


def test_the_example_remembers(household: Household, redis_client: Redis) -> None:
    app = make_app(household.settings)
    app.loader.import_default_modules()

    def work(memory: Memory) -> None:
        app.tasks[READ_SESSION].run("atlas", "monday")
        memory.session_idle("atlas", "monday")
        app.runtime().queue.offer(SessionRef("default", "atlas", "monday"), "normal")
        assert app.runtime().flusher.flush(SessionRef("default", "atlas", "monday")).outcome == "stored"

    try:
        answer = converse(household.memory, household.db, work)
    finally:
        app.close_runtime()
    assert answer == REMEMBERS


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("", "must say where its sessions are"),
        ("mysql://a/b", "not mysql://"),
        ("sqlite://", "can't be shared"),
        ("no url", "can't be read as a URL"),
    ],
)
def test_settings_that_name_no_store_are_refused_in_a_sentence(url: str, sentence: str) -> None:
    with pytest.raises(InvalidSettings, match=sentence):
        AgnoSource(Agno(db_url=url))


def test_workers_refuse_a_source_that_they_cant_read_and_beat_asks_only_where_there_is_one() -> None:
    memory: Any = {"source": "agno"}
    with pytest.raises(SystemExit, match=r"^slowwave: memory\.source is agno, so memory\.agno\.db_url must say"):
        refuse_source(Settings(memory=memory))
    refuse_source(Settings())
    assert "slowwave.read_sessions" in schedule(Settings(memory=memory))
    assert "slowwave.read_sessions" not in schedule(Settings())


def test_the_doctor_finds_runs_that_nobody_looks_at(household: Household) -> None:
    household.say(PELAGO)
    household.clock.pass_time(300)
    told = doctor_of(household)
    assert told.verdict == "problem"
    assert "queue 'capture'" in str(told.cure)


def doctor_of(household: Household) -> Check:
    with household.engine.connect() as connection:
        return check_source(connection, "agno", now=household.clock())


def flag(household: Household, *, private: bool) -> None:
    session = household.db.get_session("monday")
    session.metadata = (session.metadata or {}) | {"private": private}
    household.db.upsert_session(session)
