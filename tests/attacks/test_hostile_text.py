"""Names and texts that mean something to SQL, to full text search, to a terminal, to a log or to a path.

They are names and texts: stored as they are, found again, shown so that nothing obeys them; or refused in a sentence.
"""

import logging
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from redis import Redis

from slowwave import Memory, Settings
from slowwave.errors import InvalidMessage, InvalidName, SlowwaveError, TooLarge
from slowwave.integrations.safe import SafeMemory, TurnPart
from slowwave.settings import Llm, load_settings
from slowwave_server.domain.memory_files import scope_folder
from slowwave_server.models.engine import make_engine
from slowwave_server.workers.app import make_app
from slowwave_server.workers.cli.main import app as shell_app
from tests.support.capturing import rows
from tests.support.flushing import Scene, make_scene
from tests.support.shelling import CliRunner

NAMES = [
    "'; DROP TABLE slowwave.events; --", "' OR '1'='1", "\\'; SELECT pg_sleep(10); --",
    "$1", "%s", "%(agent)s", ":agent",
    "{agent}", "%", "_", "atl%", ".*", "NULL",
    "default", "a\\", '"; --', "/* */", "x' UNION SELECT 1 --", "$$;$$", "E'\\x00'",
    "../../etc/passwd", "/etc/passwd", "..", ".", "~", "con", "NUL",
    "a/b", "C:\\x", "\uff0e\uff0e\uff0f", "\u2025", "a\u202eb", "\u2028", "Å", "A\u030a",
    "<script>alert(1)</script>", "=1+1", "@SUM(A1)", "-rf",
    "--help", "a" * 200, "💥" * 200, "{{7*7}}", "${HOME}", "`id`", "$(id)",
]  # fmt: skip
QUERIES = [
    "a & b", "a | !b", "a <-> b", "'", "''", "\\", "a:*",
    "!!a", "((((", "&|!<->", "a' & 'b", "boat:ABCD", "<1000000000>", "*",
    "%", "_", "' || pg_sleep(10) || '", "'; DROP TABLE slowwave.memories; --", "$.a[*]",
    "@@", "a\\:b", "\u2028", "-boat", '"boat',
]  # fmt: skip
SHOWN = (
    "Maya said \x1b[2J\x1b]0;owned\x07 and \x9b31m red \x85 then \u202etxt.exe\u202c, \u2066ok\u2069,"
    " \x7f\U000e0041 done"
)
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\U000e0000-\U000e007f]")


@pytest.fixture
def settings(database_url: str, valkey_url: str, tmp_path: Path) -> Settings:
    return Settings(database_url=database_url, broker_url=valkey_url, spool=tmp_path / "spool")


@pytest.fixture
def memory(settings: Settings) -> Iterator[Memory]:
    with Memory(settings) as memory:
        yield memory


@pytest.mark.servers
def test_hostile_names_are_names_through_every_call(memory: Memory, settings: Settings, redis_client: Redis) -> None:
    """SQL, LIKE, formats and markup in a name mean nothing; two names that look alike stay two."""
    for name in NAMES:
        scope = f"room:{name}"
        memory.for_tenant(name).turn_completed(
            name, name, [{"role": "user", "name": name, "content": f"I am {name}"}], key=name
        )
        said = [{"role": "user", "content": "hello"}]
        memory.turn_completed(name, "in a room", said, room_id=name, thread_id=name, scope=scope, key=name)
        memory.session_idle(name, "in a room")
        memory.prompt_arrived(name, "elsewhere")
        memory.remember(name, f"I am {name}", 0.5, name, scope=scope, key=name)
        assert memory.stats(name, scope).noted == 1
        found = memory.search(name, "hello", scopes=[scope])
        assert {hit.content for hit in found} == {"hello"}, "another room's, or none"
        assert "hello" in memory.context(name, scopes=[scope]).to_text()
    kept = {row[0] for row in rows(settings.database_url, "SELECT name FROM slowwave.agents WHERE tenant = 'default'")}
    assert kept == set(NAMES)
    assert rows(settings.database_url, "SELECT count(*) FROM slowwave.events")[0][0] == 2 * len(NAMES)


@pytest.mark.servers
def test_a_search_is_words_and_no_query_language(memory: Memory) -> None:
    memory.turn_completed("maya", "s1", [{"role": "user", "content": "The boat is red."}])
    memory.turn_completed("jonas", "s1", [{"role": "user", "content": "The boat is blue."}])
    for query in QUERIES:
        began = time.monotonic()
        found = memory.search("maya", query, 100)
        memory.context("maya", query=query)
        assert {hit.content for hit in found} <= {"The boat is red."}
        assert time.monotonic() - began < 8, "somebody slept"
    assert memory.search("maya", "boat")[0].content == "The boat is red."


@pytest.mark.parametrize("tenant", NAMES)
def test_the_folder_of_a_name_stays_below_the_root(tenant: str, tmp_path: Path) -> None:
    folder = tmp_path / scope_folder(tenant, "room", tenant)
    assert folder.resolve() == folder
    assert folder.relative_to(tmp_path).parts == scope_folder(tenant, "room", tenant).parts
    assert len(folder.relative_to(tmp_path).parts) == 3
    for part in folder.relative_to(tmp_path).parts:
        assert re.fullmatch(r"[a-z0-9_%~-]+", part)
        assert len(part) <= 255
        assert not part.startswith("-")
    assert len({scope_folder(name, "room", "x") for name in NAMES}) == len(NAMES), "two names share a folder"


@pytest.fixture
def scene(database_url: str, redis_client: Redis) -> Iterator[Scene]:
    scene = make_scene(make_engine(database_url), redis_client)
    yield scene
    scene.engine.dispose()


@pytest.mark.servers
def test_what_a_stranger_said_moves_no_cursor_and_turns_no_line(scene: Scene, settings: Settings) -> None:
    maya = "maya\u202e"
    scene.say("s1\u202ecba", SHOWN, agent=maya, trigger="idle")
    assert scene.flush("s1\u202ecba", agent=maya).outcome == "stored"
    memory_id = str(scene.sql("SELECT id FROM slowwave.memories")[0].id)
    scene.say("s2", SHOWN, agent=maya)
    variables = {"SLOWWAVE_DATABASE_URL": settings.database_url, "SLOWWAVE_BROKER_URL": settings.broker_url}
    variables |= {"SLOWWAVE_SPOOL": str(settings.spool)}
    commands = [
        ["memories", maya], ["search", maya, "said"], ["context", maya], ["explain", memory_id], ["why", maya, "s2"],
        ["why", maya, "no\u202esuch"], ["days", maya], ["graph", maya], ["memories", "no\x1b[2Jbody"],
        ["graph", maya, "--format", "graphml"], ["flush", maya], ["status"],
    ]  # fmt: skip
    told = ""
    for command in commands:
        for form in ([], ["--json"]):
            if form and "graphml" in command:
                continue
            result = CliRunner().invoke(shell_app, [*command, *form], env=variables)
            assert isinstance(result.exception, SystemExit | None), (command, result.exc_info)
            assert OBEYED.findall(result.output.replace("\n", "").replace("\t", "")) == [], (command, form)
            told += result.output
    assert "\\x1b[2J" in told
    assert "\\u009b31m" in told


def test_a_session_that_a_framework_names_forges_no_line_of_the_log(
    caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    nowhere = Settings(database_url="postgresql://127.0.0.1:1/none", spool=tmp_path / "spool")
    with Memory(nowhere) as memory, caplog.at_level(logging.WARNING):
        safe = SafeMemory(memory, "maya")
        safe.record("x\nCRITICAL root: all is lost\x1b[2J", [TurnPart("user", "hello", "k")])
    assert "InvalidName" in caplog.text
    assert "\nCRITICAL root" not in caplog.text
    assert "\x1b" not in caplog.text


# ── sizes ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ({"content": "x" * 100_000_000}, "at most 100,000 characters"),
        ({"content": [{"type": "text", "text": "x" * 1_000_000}] * 10}, "at most 100,000 characters"),
        ({"content": "hello", "metadata": {str(key): key for key in range(300_000)}}, "at most 16,384 bytes"),
        ({"content": "hello", "metadata": {"deep": nested(100_000)}}, "metadata can't be written as JSON"),
        ({"content": "hello", "name": "x" * 1_000_000}, "at most 200 characters"),
        ({"content": "hello", "key": "x" * 1_000_000}, "at most 200 characters"),
        ({"content": "hello", "at": "2026" * 1_000_000}, "at must be a time"),
    ],
    ids=["content", "parts", "keys", "nesting", "name", "key", "time"],
)
def test_what_is_too_large_is_refused_in_a_short_sentence_at_once(
    message: dict[str, Any], words: str, tmp_path: Path
) -> None:
    with Memory(Settings(database_url="postgresql://127.0.0.1:1/none", spool=tmp_path / "spool")) as memory:
        began = time.thread_time()
        with pytest.raises((InvalidMessage, InvalidName, TooLarge)) as refused:
            memory.turn_completed("maya", "s1", [{"role": "user"} | message])
        assert time.thread_time() - began < 5
    assert words in str(refused.value)
    assert len(str(refused.value)) < 300
    assert not list(tmp_path.rglob("*.jsonl")), "it was spooled"


def test_a_call_with_too_many_messages_is_refused(tmp_path: Path) -> None:
    with Memory(Settings(database_url="postgresql://127.0.0.1:1/none", spool=tmp_path / "spool")) as memory:
        with pytest.raises(TooLarge, match="at most 100 messages, this one has 1000000"):
            memory.turn_completed("maya", "s1", [{"role": "user", "content": "x"}] * 1_000_000)
        with pytest.raises(TooLarge, match="at most 100,000 characters"):
            memory.remember("maya", "x" * 100_000_000)


@pytest.mark.servers
def test_a_session_of_very_many_events_is_read_in_bounded_parts(memory: Memory, settings: Settings) -> None:
    memory.turn_completed("maya", "s1", [{"role": "user", "content": "hello"}])
    engine = make_engine(settings.database_url)
    with engine.begin() as connection:
        connection.exec_driver_sql(
            "INSERT INTO slowwave.events (session_id, seq, turn, kind, role, content, happened_at, recorded_at, day)"
            " SELECT session_id, n, n, kind, role, 'number ' || n, happened_at, recorded_at, day"
            " FROM slowwave.events, generate_series(2, 30000) AS n"
        )
        connection.exec_driver_sql("UPDATE slowwave.sessions SET last_seq = 30000")
    engine.dispose()
    context = memory.context("maya")
    assert len(context.to_text()) < 200_000
    assert len(memory.search("maya", "number", 100)) <= 100


# ── secrets ─────────────────────────────────────────────────────────────────────────────────────────────────────────

SECRET = "Kx7-hidden-4815"  # noqa: S105 (made up)
URLS = {
    "SLOWWAVE_DATABASE_URL": f"postgresql://maya:{SECRET}@127.0.0.1:1/slowwave",
    "SLOWWAVE_BROKER_URL": f"redis://:{SECRET}@127.0.0.1:1/0",
}


def _texts(settings: Settings) -> Iterator[tuple[str, Callable[[], Any]]]:
    app = make_app(settings)
    yield "repr of settings", lambda: repr(settings)
    yield "str of settings", lambda: str(settings)
    yield "repr of the key", lambda: (repr(settings.memory.llm), settings.memory.llm.model_dump_json())
    yield "celery report", app.bugreport
    yield "celery inspect conf", lambda: repr(app.conf.table(with_defaults=True, censored=True))


def test_no_password_or_key_stands_in_what_monitors_and_errors_show(tmp_path: Path) -> None:
    settings = load_settings(URLS | {"SLOWWAVE_SPOOL": str(tmp_path)}).model_copy()
    memory = settings.memory.model_copy(update={"llm": Llm(driver="openai", model="tiny", api_key=SecretStr(SECRET))})
    settings = settings.model_copy(update={"memory": memory})
    shown = [name for name, text in _texts(settings) if SECRET in str(text())]
    assert shown == []


@pytest.mark.parametrize(
    "command", [["status"], ["doctor"], ["memories", "maya"], ["env"], ["migrate"], ["flush", "maya"]]
)
def test_no_password_stands_in_what_the_shell_says_of_servers_that_are_away(command: list[str], tmp_path: Path) -> None:
    result = CliRunner().invoke(
        shell_app, command, env=URLS | {"SLOWWAVE_SPOOL": str(tmp_path), "SLOWWAVE_DATA": str(tmp_path)}
    )
    assert result.exit_code != 0
    assert SECRET not in result.output
    assert "Traceback" not in result.output


def test_an_error_of_the_client_names_no_password(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    settings = load_settings(URLS | {"SLOWWAVE_SPOOL": str(tmp_path)})
    with Memory(settings, raise_errors=True) as memory:
        with pytest.raises(SlowwaveError) as away:
            memory.turn_completed("maya", "s1", [{"role": "user", "content": "hello"}])
        memory.flush(0.5)
    assert SECRET not in str(away.value) + caplog.text


def test_a_settings_file_runs_nothing(tmp_path: Path) -> None:
    bait = tmp_path / "opened"
    file = tmp_path / "slowwave.yaml"
    file.write_text(f"tenant: !!python/object/apply:os.system ['touch {bait}']\n", encoding="utf-8")
    with pytest.raises(SlowwaveError):
        load_settings({"SLOWWAVE_CONFIG": str(file)})
    assert not bait.exists()
