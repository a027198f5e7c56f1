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
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID
from zipfile import ZipFile

import pytest
import typer.main
from redis import Redis

import slowwave.integrations
from slowwave import AsyncMemory, Memory
from slowwave.errors import NotFound, SlowwaveError
from slowwave.recall import Context
from slowwave_server.models.engine import make_engine
from slowwave_server.services.access.api_keys import NewKey, make_key
from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.reports.explain import explain_memory
from slowwave_server.workers.app import make_app
from slowwave_server.workers.cli.main import app as shell_app
from slowwave_server.workers.mcp_tools import AgentTools
from tests.support.forgetting import dump_redis, dump_tables
from tests.support.shelling import CliRunner
from tests.support.walls import PLACES, TODAY, World, open_world, settings_on, settle, words_in
from tests.transports.backing import Backing

pytestmark = pytest.mark.servers

MINE, THEIRS = PLACES[5], (PLACES[0], PLACES[1])
OTHER_WORDS = {place.word for place in THEIRS}
SESSION = f"{THEIRS[0].word}-talk"
ROOM = "room:kitchen"
SCHEMAS: Mapping[str, Any] = json.loads(
    (Path(__file__).parents[2] / "docs" / "tasks.schema.json").read_text(encoding="utf-8")
)


@dataclass
class Siege:
    """Both tenants on one database. rows: all that acme had before globex came; loot: what of it has a number."""

    world: World
    redis: Redis
    rows: dict[str, set[str]]
    loot: dict[str, str]
    folder: Path

    @property
    def memory(self) -> Memory:
        return self.world.memory.for_tenant(MINE.tenant)

    def stands(self) -> None:
        """Acme has every row that it had, none more, and nothing in a queue speaks of it."""
        now = {table: set(text.splitlines()) for table, text in dump_tables(self.world.engine, INSTALLATION).items()}
        for table, rows in self.rows.items():
            assert rows <= now[table], f"{table}: rows of acme were changed"
        counted = self.world.sql(
            "SELECT (SELECT count(*) FROM slowwave.sessions s JOIN slowwave.agents a ON a.id = s.agent_id"
            " WHERE a.tenant = 'acme') AS sessions, (SELECT count(*) FROM slowwave.events e"
            " JOIN slowwave.sessions s ON s.id = e.session_id JOIN slowwave.agents a ON a.id = s.agent_id"
            " WHERE a.tenant = 'acme') AS events, (SELECT count(*) FROM slowwave.maintenance_runs r"
            " JOIN slowwave.scopes c ON c.id = r.scope_id WHERE c.tenant = 'acme') AS runs"
        )[0]
        assert counted._mapping == {
            "sessions": len(self.rows["sessions"]),
            "events": len(self.rows["events"]),
            "runs": len(self.rows["maintenance_runs"]),
        }
        assert "acme" not in dump_redis(self.redis)


INSTALLATION = {"maintenance_jobs"}
"""What belongs to nobody: its rows may change."""


@pytest.fixture(scope="module")
def siege(module_database: str, valkey_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Siege]:
    engine = make_engine(module_database)
    redis = Redis.from_url(valkey_url)
    redis.flushall()
    folder = tmp_path_factory.mktemp("siege")
    settings = settings_on(module_database, valkey_url, folder)
    for world in open_world(engine, settings, redis, folder / "files", THEIRS):
        world.memory.store.offers.settle(10)
        redis.flushall()
        loot = _loot(world)
        rows = {table: set(text.splitlines()) for table, text in dump_tables(engine, INSTALLATION).items()}
        settle(world, [MINE])
        world.memory.store.offers.settle(10)
        siege = Siege(world, redis, rows, loot, folder)
        yield siege
        # Whichever of the attacks were made.
        siege.stands()
    redis.close()
    engine.dispose()


def _loot(world: World) -> dict[str, str]:
    first, second = world.memories(THEIRS[0])[:2]
    letter = world.sql("SELECT id FROM slowwave.dead_letters WHERE tenant = 'acme' ORDER BY id LIMIT 1")[0].id
    with world.engine.begin() as connection:
        wanted = NewKey(f"{THEIRS[0].word} app", ["read"], agents=[THEIRS[0].word], scopes=[f"room:{THEIRS[1].word}"])
        key, _ = make_key(connection, "acme", wanted, by=THEIRS[0].word, now=datetime.now(UTC))
    numbers = {name: world.numbers(name, THEIRS[0])[0] for name in ("memory_conflicts", "review_items")}
    numbers |= {"run": world.numbers("maintenance_runs", THEIRS[0])[0], "letter": letter, "memory": first}
    numbers |= {"key": key.prefix, "key_id": key.id}
    return {name: str(number) for name, number in (numbers | {"other": second}).items()}


def told_words(answer: Any, *said: str) -> set[str]:
    """Acme's words in an answer, apart from where it repeats what the attacker said."""
    if isinstance(answer, Context):
        answer = answer.to_text(), answer.to_json()
    text = answer if isinstance(answer, str) else repr(answer)
    # The attacker has sessions of the same names by now, and made them himself.
    for one in sorted((*said, *(f"{place.word}-talk" for place in THEIRS)), key=len, reverse=True):
        text = text.replace(one, "")
    return words_in(text) & OTHER_WORDS


# ── the client ──────────────────────────────────────────────────────────────────────────────────────────────────────

TURN = [{"role": "user", "content": "My favourite editor is mine."}]
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


# ── the shell ───────────────────────────────────────────────────────────────────────────────────────────────────────

A, DAY = "atlas", TODAY.isoformat()
ODD = f"{A}/{THEIRS[0].word}-odd#1"
HOOK = "00000000-0000-4000-8000-000000000001"
COMMANDS: Mapping[str, list[list[str]]] = {
    "context": [[A, "--query", "boat", "--scope", ROOM, "--days", "30"], ["boreas"]],
    "search": [[A, "editor boat key", "--scope", ROOM, "--include-review"], ["boreas", "editor"]],
    "memory list": [[A], [A, "--scope", ROOM], [A, "--session", SESSION], ["boreas"]],
    "memory show": [["{memory}"]],
    "memory graph": [[A, "--format", "json"], [A, "Quorvex"], [A, "--scope", ROOM]],
    "memory edit": [["{memory}", "What mallory says."]],
    "memory archive": [["{memory}"]],
    "memory consolidate": [[A, "--any-age", "--allow-archive", "--mode", "deep"], [A, "--scope", ROOM]],
    "memory export": [[f"agent:{A}", "FOLDER/out"], [ROOM, "FOLDER/out"], ["--all", "FOLDER/all"]],
    "memory import": [[ROOM, "FOLDER/out"]],
    "day list": [[A], ["boreas"]],
    "day show": [[A, DAY], [A, DAY, "--scope", ROOM]],
    "day finalize": [[A, DAY, "--force"], [A, DAY, "--scope", ROOM, "--force"], ["--ended"]],
    "agent list": [[]],
    "agent show": [[A], ["boreas"]],
    "agent clock": [["boreas", "--timezone", "Asia/Tokyo"], [A, "--cutoff-hour", "5"]],
    "agent export": [[A, "FOLDER/agent.zip"]],
    "agent import": [["FOLDER/agent.zip"], ["FOLDER/agent.zip", "--as", "boreas"]],
    "session list": [[A], ["boreas"]],
    "session why": [[A, SESSION], ["boreas", "Dalquin-tail"]],
    "session flush": [[A, SESSION], [A, "--high"]],
    "import from": [["mem0", "FOLDER/mem0.json", "--agent", A, "--yes"]],
    "import events": [["FOLDER/lines.jsonl"]],
    "note add": [[A, "It is mine.", "--session", SESSION, "--key", "k2"], [A, "It is ours.", "--scope", ROOM]],
    "note list": [[A, "--settled"], [A, "--scope", ROOM]],
    "note curate": [[f"agent:{A}"], [ROOM]],
    "status": [[]],
    "admin budget": [[], ["--agent", A]],
    "admin receipts": [[]],
    "admin keys add": [["mine", "--agent", A, "--scope", ROOM, "--right", "administer"]],
    "admin keys list": [[]],
    "admin keys revoke": [["{key}"], ["{key_id}"]],
    "run list": [[], ["--agent", A], ["--scope", ROOM]],
    "run show": [["{run}"]],
    "run undo": [["{run}"]],
    "run rebuild": [[A, "--extractor", "rules", "--yes"], ["boreas", "--extractor", "rules", "--yes"]],
    "queue list": [[], [A, f"{THEIRS[0].word}-odd"], ["--decided"]],
    "queue show": [["{letter}"], [ODD]],
    "queue retry": [["{letter}"], [ODD]],
    "queue dismiss": [["{letter}"], ["--all"]],
    "inbox list": [[], ["--agent", A], ["--scope", ROOM], ["--decided"]],
    "inbox show": [["q{review_items}"], ["c{memory_conflicts}"]],
    "inbox answer": [
        *([answer, "q{review_items}"] for answer in ("keep", "archive", "later", "earlier", "both", "neither")),
        *([answer, "c{memory_conflicts}"] for answer in ("later", "earlier", "both", "neither")),
        ["same", "q{review_items}", "--into", "{other}"],
    ],
    "alias list": [[A], [A, "--scope", ROOM]],
    "alias show": [[A, "Kubernetes"]],
    "alias add": [[A, "Kubernetes", "k8s"], [A, "Kubernetes", "k8s", "--scope", ROOM]],
    "alias remove": [[A, "Kubernetes", "k8s"]],
    "backend status": [["files"], ["mem0"]],
    "backend sync": [["files", A], ["files", "--scope", ROOM], ["mem0", A], ["mem0", "--scope", ROOM]],
    "webhook list": [[]],
    **{f"webhook {verb}": [[HOOK]] for verb in ("show", "enable", "deliveries", "rotate", "replay", "remove")},
    # Last, since it takes what globex has of that name.
    "memory forget": [["{memory}", "--yes"], ["--scope", "team:garden", "--yes"], ["--scope", ROOM, "--yes"]],
    "session forget": [[A, SESSION, "--yes"]],
    "agent forget": [["boreas", "--yes"], [A, "--yes"]],
}
OF_THE_INSTALLATION = {
    "up": "starts servers of its own",
    "worker": "becomes a worker, which serves all tenants",
    "serve": "serves callers by their keys; tests/attacks/test_gateway.py and test_gateway_walls.py attack it",
    "connect": "writes files of a coding agent's host, and asks no server",
    "hook": "records and reads as `Memory` does, which is attacked above",
    "evaluate recall": "reads a file that it is given into servers of its own",
    "evaluate extraction": "reads a file that it is given, and no database",
    "config env": "names the servers of a data folder",
    "demo": "starts servers of its own",
    "mcp": "serves the tools that are attacked above",
    "memory compare": "compares two sentences that it is given",
    "admin migrate": "the schema belongs to the installation",
    "config show": "shows the settings of the caller's own process",
    "config get": "as config show",
    "webhook add": "is the caller's own tenant's; tests/attacks/test_webhook_targets.py attacks its address",
    "doctor": "is for the operator of the installation; counts, no names of sessions",
    "job list": "jobs belong to the installation",
    "job tick": "as list",
    "job run": "as list",
    "job config": "as list",
    "job daemon": "as list",
    "console": "serves pages, each of which tests/console asks as a person of another tenant",
    "admin users add": "for the owner of the database, who says what a person may see",
    "admin users list": "as add",
    "admin users password": "as add",
    "admin users remove": "as add",
    "admin audit": "is for the operator of the installation; tests/attacks/test_console_audit.py looks at its walls",
    "exporter": "serves figures of the installation, and tells no name but the tenant's where it is told to",
    "admin roles apply": "for the owner of the database",
    "admin roles add": "as apply",
    "admin roles remove": "as apply",
    "admin roles list": "as apply",
    "admin roles redis": "prints a rule for the broker, and reads nothing that is kept",
}


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[str]:
    """The paths of all commands, those of groups as two words."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield " ".join((*path, name))


def test_every_command_of_the_shell_is_attacked_or_says_why_not() -> None:
    known = set(commands(typer.main.get_command(shell_app)))
    assert known - set(COMMANDS) - set(OF_THE_INSTALLATION) == set(), "no attack through these"
    assert (set(COMMANDS) | set(OF_THE_INSTALLATION)) - known == set(), "these are no longer there"


@pytest.mark.long
@pytest.mark.parametrize("command", COMMANDS)
def test_i8_no_command_of_the_shell_tells_or_changes_what_is_another_tenants(siege: Siege, command: str) -> None:
    settings = siege.world.memory.store.settings
    variables = {
        "SLOWWAVE_DATABASE_URL": settings.database_url,
        "SLOWWAVE_BROKER_URL": settings.broker_url,
        "SLOWWAVE_SPOOL": str(settings.spool),
        "SLOWWAVE_MEMORY__FILES__ROOT": str(siege.folder / "root"),
    }
    # A line that names no tenant goes to the one of the command.
    line = {"agent": A, "session": SESSION, "role": "user", "content": "It is mine.", "key": "k3"}
    (siege.folder / "lines.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    kept = {"id": siege.loot["memory"], "memory": "It is mine.", "user_id": A}
    (siege.folder / "mem0.json").write_text(json.dumps([kept]), encoding="utf-8")
    for arguments in COMMANDS[command]:
        given = [one.format(**siege.loot).replace("FOLDER", str(siege.folder)) for one in arguments]
        called = ["--tenant", "globex", *command.split(), *given]
        result = CliRunner().invoke(shell_app, called, env=variables, catch_exceptions=True)
        assert result.exception is None or isinstance(result.exception, SystemExit), (called, result.exc_info)
        assert result.exit_code in {0, 1, 2}, (called, result.output)
        assert told_words(result.output, *given) == set(), called
    exported = [path.read_text("utf-8") for path in siege.folder.rglob("*.md")]
    for archive in map(ZipFile, siege.folder.rglob("*.zip")):
        exported += [archive.read(name).decode("utf-8") for name in archive.namelist()]
    assert told_words("\n".join(exported)) == set()


# ── tasks ───────────────────────────────────────────────────────────────────────────────────────────────────────────

AIMED: Mapping[str, Any] = {
    "agent": A, "session": SESSION, "messages": TURN, "key": "k4", "content": "It is mine.", "day": DAY, "final": True,
    "mode": "deep", "ticket": "made-up", "job": "no such job",
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
    safe = slowwave_integration("safe").SafeMemory(memory, A, scope=ROOM, scopes=["team:garden"])
    safe.boost(SESSION)
    safe.reset(SESSION)
    return safe.read(SESSION, "editor boat key Quorvex"), safe.boost_and_read(SESSION, "boat")


def _hooks(memory: Memory) -> Any:
    hooks = slowwave_integration("agno").SlowwaveHooks(memory, agent=A, scopes=[ROOM], timeout_seconds=10)
    session = SimpleNamespace(session_id=SESSION)
    hooks.before(
        SimpleNamespace(input_content="boat Quorvex"), SimpleNamespace(run_id="r", session_id=SESSION), session
    )
    known = hooks.instructions()(run_context=SimpleNamespace(run_id="r", session_id=SESSION))
    hooks.close()
    return known


def _turns(memory: Memory) -> Any:
    turns = slowwave_integration("langgraph").SlowwaveTurns(memory, A, scopes=[ROOM])
    return turns.context([], {"configurable": {"thread_id": SESSION}})


def _store(memory: Memory) -> Any:
    store = slowwave_integration("langgraph_store").SlowwaveStore(memory, A, namespaces={("mine",): ROOM})
    found = [store.search(place, query="editor boat key Quorvex") for place in (("mine",), ("acme",), ())]
    return found, store.get(("acme",), SESSION), store.list_namespaces()


def _session(memory: Memory) -> Any:
    kind = slowwave_integration("openai_agents").SlowwaveSession
    session = kind(memory, A, SESSION, scopes=[ROOM])
    return asyncio.run(session.get_items())


def _capability(memory: Memory) -> Any:
    return (
        slowwave_integration("pydantic_ai")
        .SlowwaveMemory(memory, A, SESSION, scopes=[ROOM])
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
