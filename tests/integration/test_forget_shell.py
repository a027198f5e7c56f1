"""`slowwave forget` as a person and as a script use it: shown, asked, done, told in a receipt."""

import json
from pathlib import Path

import pytest
from redis import Redis
from sqlalchemy import Engine

from tests.support.forgetting import dump_tables
from tests.support.passing import Past
from tests.support.shelling import Shell

pytestmark = pytest.mark.servers

WORD = "quokka"


@pytest.fixture
def shell(database_url: str, valkey_url: str, redis_client: Redis, tmp_path: Path) -> Shell:
    redis_client.ping()
    return Shell(database_url, valkey_url, tmp_path)


@pytest.fixture
def past(engine: Engine) -> Past:
    past = Past(engine, agent="maya")
    past.say(f"Maya saw a {WORD}.")
    past.say("Maya saw a heron.", session="tuesday")
    return past


def test_it_shows_what_would_go_asks_and_tells_what_went(shell: Shell, past: Past) -> None:
    refused = shell("session", "forget", "maya", "monday", stdin="n\n")
    assert refused.exit_code == 1
    assert "Session 'monday' of agent 'maya' would be forgotten." in refused.output
    assert "Delete it? This cannot be undone." in refused.output
    assert WORD in "".join(dump_tables(past.engine).values())
    done = shell("session", "forget", "maya", "monday", stdin="y\n")
    assert done.exit_code == 0, done.output
    assert "Session 'monday' of agent 'maya' is forgotten." in done.output
    assert "Receipt" in done.output
    assert WORD not in "".join(dump_tables(past.engine).values())
    listed = shell("admin", "receipts")
    assert "session 'monday' of agent 'maya'" in listed.output
    assert "1 events, 1 flushes, 1 memories" in listed.output


def test_scripts_get_one_document_and_are_never_asked(shell: Shell, past: Past) -> None:
    preview = shell.json("agent", "forget", "maya", "--dry-run")
    assert preview["receipt"] is None
    assert preview["counts"]["memories"] == 2
    assert sorted(preview["sessions"]) == ["monday", "tuesday"]
    done = shell.json("agent", "forget", "maya", "--yes", "--by", "Priya")
    assert done["counts"]["memories"] == 2
    assert done["problems"] == []
    (receipt,) = shell.json("admin", "receipts")
    assert (receipt["id"], receipt["by"], receipt["target"]) == (done["receipt"], "Priya", "agent 'maya'")
    assert receipt["counts"] == done["counts"]
    assert WORD not in json.dumps([done, receipt])
    assert shell.json("agent", "forget", "maya", "--yes")["counts"] == {}, "again: there is nothing left"


@pytest.mark.parametrize(
    ("call", "code", "words"),
    [
        (("memory", "forget"), 2, "give MEMORY or --scope"),
        (("memory", "forget", "0b1f6a2c9d3e", "--scope", "room:x"), 2, "give MEMORY or --scope"),
        (("memory", "forget", "--scope", "kitchen", "--yes"), 2, "scope must be room:NAME, team:NAME or agent:NAME"),
        (("agent", "forget", "maya", "--json"), 2, "--json cannot ask for confirmation"),
        (("agent", "forget", "mayo", "--yes"), 1, "did you mean 'maya'?"),
        (("session", "forget", "maya", "mondy", "--yes"), 1, "did you mean 'monday'?"),
        (("memory", "forget", "01890000-0000-7000-8000-000000000000", "--yes"), 1, "has no memory"),
    ],
)
def test_what_is_not_meant_is_a_sentence(
    shell: Shell, past: Past, call: tuple[str, ...], code: int, words: str
) -> None:
    result = shell(*call)
    assert result.exit_code == code, result.output
    assert words in " ".join(result.stderr.replace("│", " ").split())
    assert WORD in "".join(dump_tables(past.engine).values())


def test_without_the_broker_nothing_is_forgotten(shell: Shell, past: Past) -> None:
    result = shell("agent", "forget", "maya", "--yes", SLOWWAVE_BROKER_URL="redis://127.0.0.1:1/0")
    assert result.exit_code == 3
    assert "no connection to the broker" in result.stderr
    assert WORD in "".join(dump_tables(past.engine).values())
    assert dump_tables(past.engine)["erasures"] == ""
