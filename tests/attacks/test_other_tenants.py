"""I8: one tenant goes for another's memory through every public call, and gets not a word of it and changes no row.

`acme` is there first, and every row that it has is written down. Then `globex`, whose agent, room and ids of sessions
are called the same, calls everything that there is with acme's names, numbers and ids. Which calls there are is found
by looking: a new one without an attack, and without a reason why it needs none, fails this module.
"""

import asyncio
import inspect
import json
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

import slowwave.integrations
from slowwave import AsyncMemory, Memory
from slowwave.errors import NotFound, SlowwaveError
from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.reports.explain import explain_memory
from slowwave_server.workers.app import make_app
from slowwave_server.workers.mcp_tools import AgentTools
from tests.support.midday import TODAY
from tests.support.siege import (
    AGENT,
    DAY,
    OTHER_WORDS,
    ROOM,
    SESSION,
    THEIRS,
    TURN,
    Siege,
    open_siege,
    told_words,
)
from tests.support.walls import words_in
from tests.transports.backing import Backing

pytestmark = pytest.mark.servers

SCHEMAS: Mapping[str, Any] = json.loads(
    (Path(__file__).parents[2] / "docs" / "tasks.schema.json").read_text(encoding="utf-8")
)


@pytest.fixture(scope="module")
def siege(module_database: str, valkey_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Siege]:
    yield from open_siege(module_database, valkey_url, tmp_path_factory.mktemp("siege"))


# ── the client ──────────────────────────────────────────────────────────────────────────────────────────────────────

CALLS: Mapping[str, list[Callable[[Any], Any]]] = {
    "turn_completed": [
        lambda m: m.turn_completed("atlas", SESSION, TURN, key="k"),
        lambda m: m.turn_completed("atlas", f"{THEIRS[1].word}-talk", TURN, scope=ROOM),
    ],
    "task_event": [lambda m: m.task_event("atlas", SESSION, "run_finished", "Done.")],
    "session_idle": [lambda m: m.session_idle("atlas", SESSION)],
    "session_compacted": [lambda m: m.session_compacted("atlas", SESSION)],
    "session_reset": [lambda m: m.session_reset("atlas", SESSION)],
    "prompt_arrived": [lambda m: m.prompt_arrived("atlas", "elsewhere")],
    "remember": [
        lambda m: m.remember("atlas", "It is mine.", 0.9, SESSION),
        lambda m: m.remember("atlas", "It is ours.", 0.9, scope=ROOM),
    ],
    "consolidate_now": [lambda m: m.consolidate_now("atlas"), lambda m: m.consolidate_now("atlas", ROOM)],
    "stats": [lambda m: m.stats("atlas"), lambda m: m.stats("atlas", ROOM)],
    "search": [
        lambda m: m.search("atlas", "editor boat key Quorvex Zimbrel", 100, scopes=[ROOM], include_review=True),
        lambda m: m.search("boreas", "editor boat key", 100, scopes=["team:garden", "room:nowhere"]),
    ],
    "context": [
        lambda m: m.context("atlas", SESSION, "boat", 30, scopes=[ROOM, "team:garden"]),
        lambda m: m.context("atlas", None, "Quorvex", 366, scopes=[ROOM], max_tokens=9000),
    ],
    "memories": [
        lambda m: m.memories("atlas", status="review", limit=200),
        lambda m: m.memories("atlas", scope=ROOM, limit=200),
        lambda m: m.memories(THEIRS[0].agent, as_of=TODAY, limit=200),
    ],
    "status": [lambda m: m.status()],
    "flush": [lambda m: m.flush(5)],
}
BY_ID: Mapping[str, Callable[[Any, str], Any]] = {
    "get": lambda m, theirs: m.get(theirs),
    "explain": lambda m, theirs: m.explain(theirs),
    "correct": lambda m, theirs: m.correct(theirs, "It is mine."),
    "archive": lambda m, theirs: m.archive(theirs),
    "forget": lambda m, theirs: m.forget(memory=theirs, confirm=theirs[:8]),
}
"""What names a memory of the other tenant by its id, and is told that there is none."""
NO_ATTACK = {
    "used": "is attacked below: it raises nothing, and counts nothing",
    "changes": "is attacked where the feed is, tests/integration/test_changes.py",
    "from_url": "makes a client of an API key; whose it is, is for the gateway to say",
    "from_env": "makes a client of the settings; whose they are is for the database's login to say",
    "for_tenant": "answers the client of another tenant: whoever may run it may name any, as far as the login goes",
    "close": "ends it",
    "warm": "loads the mem0 package in a thread; it names no tenant and reads nothing",
    "memory": "of AsyncMemory: the Memory behind it",
}


def public(kind: type) -> set[str]:
    return {name for name, _ in inspect.getmembers(kind, callable) if not name.startswith("_")}


def test_every_call_of_the_client_is_attacked() -> None:
    assert public(Memory) | public(AsyncMemory) == set(CALLS) | set(BY_ID) | set(NO_ATTACK) - {"memory"}


@pytest.mark.parametrize("name", sorted(CALLS))
def test_i8_no_call_of_the_client_tells_or_changes_what_is_another_tenants(siege: Siege, name: str) -> None:
    for call in CALLS[name]:
        answer = call(siege.memory)
        assert told_words(answer) == set()
        if name in public(AsyncMemory):
            later = call(AsyncMemory(siege.world.memory.store.settings, memory=siege.memory))
            assert told_words(asyncio.run(_done(later))) == set()
    assert siege.memory.store.offers.settle(10)


def test_i8_a_memory_of_another_tenant_is_not_there(siege: Siege) -> None:
    theirs = siege.loot["memory"]
    settings = siege.world.memory.store.settings
    with Backing(settings, siege.world.engine, siege.redis).answering():
        for call in BY_ID.values():
            with pytest.raises(NotFound) as refused:
                call(siege.memory, theirs)
            assert told_words(str(refused.value)) == set()
    assert siege.memory.used("atlas", [theirs, siege.loot["other"]], SESSION) == 0


async def _done(later: Any) -> Any:
    return await later if inspect.isawaitable(later) else later


# ── MCP ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

TOOLS: Mapping[str, Callable[[AgentTools, Siege], Any]] = {
    "search": lambda t, _: t.search("editor boat key Quorvex", 100),
    "context": lambda t, _: t.context("Quorvex", SESSION, 9000),
    "remember": lambda t, _: t.remember("It is mine.", 0.9, "fact", "team:garden"),
    "consolidate_now": lambda t, _: t.consolidate_now(),
    "explain": lambda t, s: t.explain(s.loot["memory"]),
}


def test_i8_no_tool_of_mcp_reaches_another_tenant(siege: Siege) -> None:
    assert public(AgentTools) == set(TOOLS)

    def explain(memory: UUID) -> Any:
        with siege.world.engine.connect() as connection:
            return explain_memory(connection, "globex", memory)

    tools = AgentTools(siege.memory, "atlas", (ROOM,), explain, lambda: 0)
    for attack in TOOLS.values():
        try:
            answer: Any = attack(tools, siege)
        except SlowwaveError as refused:
            answer = str(refused)
        assert told_words(answer) == set()


# ── tasks ───────────────────────────────────────────────────────────────────────────────────────────────────────────

AIMED: Mapping[str, Any] = {
    "agent": AGENT, "session": SESSION, "messages": TURN, "key": "k4", "content": "It is mine.", "day": DAY,
    "final": True, "mode": "deep", "ticket": "made-up", "job": "no such job",
}  # fmt: skip


def test_i8_no_task_of_one_tenant_touches_another(siege: Siege) -> None:
    """tenant: that of the message, else that of the worker's settings; nothing else says whose it is."""
    settings = siege.world.memory.store.settings.model_copy(update={"tenant": "globex"})
    app = make_app(settings)
    app.loader.import_default_modules()
    try:
        for task, schema in SCHEMAS.items():
            fields = schema["properties"]
            kwargs = {name: value for name, value in AIMED.items() if name in fields}
            shared = [kwargs | {"scope": ROOM}] if "scope" in fields else []
            for payload in (kwargs, kwargs | ({"tenant": "globex"} if "tenant" in fields else {}), *shared):
                app.tasks[task].apply(kwargs=payload).get()
    finally:
        app.close_runtime()


# ── frameworks ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _safe(memory: Memory) -> Any:
    safe = slowwave_integration("safe").SafeMemory(memory, AGENT, scope=ROOM, scopes=["team:garden"])
    safe.boost(SESSION)
    safe.reset(SESSION)
    return safe.read(SESSION, "editor boat key Quorvex"), safe.boost_and_read(SESSION, "boat")


def _hooks(memory: Memory) -> Any:
    hooks = slowwave_integration("agno").SlowwaveHooks(memory, agent=AGENT, scopes=[ROOM], timeout_seconds=10)
    session = SimpleNamespace(session_id=SESSION)
    hooks.before(
        SimpleNamespace(input_content="boat Quorvex"), SimpleNamespace(run_id="r", session_id=SESSION), session
    )
    known = hooks.instructions()(run_context=SimpleNamespace(run_id="r", session_id=SESSION))
    hooks.close()
    return known


def _turns(memory: Memory) -> Any:
    turns = slowwave_integration("langgraph").SlowwaveTurns(memory, AGENT, scopes=[ROOM])
    return turns.context([], {"configurable": {"thread_id": SESSION}})


def _store(memory: Memory) -> Any:
    store = slowwave_integration("langgraph_store").SlowwaveStore(memory, AGENT, namespaces={("mine",): ROOM})
    found = [store.search(place, query="editor boat key Quorvex") for place in (("mine",), ("acme",), ())]
    return found, store.get(("acme",), SESSION), store.list_namespaces()


def _session(memory: Memory) -> Any:
    kind = slowwave_integration("openai_agents").SlowwaveSession
    session = kind(memory, AGENT, SESSION, scopes=[ROOM])
    return asyncio.run(session.get_items())


def _capability(memory: Memory) -> Any:
    return (
        slowwave_integration("pydantic_ai")
        .SlowwaveMemory(memory, AGENT, SESSION, scopes=[ROOM])
        ._safe.read(SESSION, "editor boat key Quorvex")
    )


FRAMEWORKS: Mapping[str, Callable[[Memory], Any]] = {
    "SafeMemory": _safe,
    "SlowwaveHooks": _hooks,
    "SlowwaveTurns": _turns,
    "SlowwaveStore": _store,
    "SlowwaveSession": _session,
    "SlowwaveMemory": _capability,
}


def slowwave_integration(name: str) -> Any:
    return pytest.importorskip(f"slowwave.integrations.{name}")


@pytest.mark.long
def test_every_framework_is_attacked() -> None:
    found = set()
    for module in pkgutil.iter_modules(slowwave.integrations.__path__):
        loaded = import_module(f"slowwave.integrations.{module.name}")
        for name, kind in inspect.getmembers(loaded, inspect.isclass):
            if kind.__module__ == loaded.__name__ and "memory" in inspect.signature(kind).parameters:
                found.add(name)
    assert found == set(FRAMEWORKS)


@pytest.mark.long
@pytest.mark.parametrize("name", FRAMEWORKS)
def test_i8_no_framework_tells_an_agent_what_is_another_tenants(siege: Siege, name: str) -> None:
    assert told_words(FRAMEWORKS[name](siege.memory)) == set()


def test_i8_after_all_of_it_the_other_tenant_has_every_row_that_it_had(siege: Siege) -> None:
    siege.stands()
    with siege.world.engine.connect() as connection, pytest.raises(UnknownName):
        explain_memory(connection, "globex", UUID(siege.loot["memory"]))
    theirs = siege.world.memory.for_tenant("acme")
    assert words_in(theirs.search("atlas", "editor boat", 50, scopes=[ROOM])) == OTHER_WORDS
