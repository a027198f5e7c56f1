"""An agent is forgotten while workers are at it: nothing of it is anywhere, and nothing comes back (I10)."""

import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from slowwave import Memory
from slowwave.capture import Entry
from slowwave.coordination.keys import QUEUES, agent_keys
from slowwave.coordination.queue_messages import envelope, publish
from slowwave.messages import FLUSH_SESSION, RECORD_TURN, REMEMBER
from slowwave.spool import Spool
from slowwave_server.services.days.book import DayRef
from slowwave_server.services.days.summarize import summarize_day
from slowwave_server.services.memory_files.backends import choose_backend
from slowwave_server.services.memory_files.delivery import FileRules, deliver
from slowwave_server.services.memory_files.disk import Disk
from tests.support.forgetting import dump_files, dump_redis, dump_tables
from tests.support.processes import wait_until
from tests.workers.effects import rows, until_flushed, value
from tests.workers.fleet import ROOT, Fleet
from tests.workers.servers import OwnValkey

pytestmark = [pytest.mark.long, pytest.mark.servers, pytest.mark.workers, pytest.mark.timeout(180)]

WORD = "quokka"
QUEUED = 200
RUNNING = 2
_OF_JONAS = """
    SELECT to_jsonb(t)::text FROM slowwave.{0} t WHERE {1} IN (
        SELECT {2} FROM slowwave.sessions s JOIN slowwave.agents a ON a.id = s.agent_id WHERE a.name = 'jonas')
    ORDER BY 1
"""
_KEPT = (
    ("events", "t.session_id", "s.id"),
    ("flushes", "t.session_id", "s.id"),
    ("passages", "t.session_id", "s.id"),
    ("memory_sources", "t.session_id", "s.id"),
    ("day_summaries", "t.agent_id", "s.agent_id"),
    ("day_segments", "t.agent_id", "s.agent_id"),
    ("days", "t.agent_id", "s.agent_id"),
    ("memories", "t.scope_id", "s.scope_id"),
    ("working_memory", "t.scope_id", "s.scope_id"),
)


@pytest.fixture(scope="module")
def fleet(module_database: str, own_valkey: OwnValkey, folder: Path) -> Iterator[Fleet]:
    """Workers that take two sessions of an agent at once."""
    fleet = Fleet(
        module_database,
        own_valkey.url,
        folder,
        SLOWWAVE_MEMORY__AUTO_FLUSH__PER_AGENT_CONCURRENCY=str(RUNNING),
        SLOWWAVE_MEMORY__FILES__ROOT=str(folder / "memory"),
    )
    yield fleet
    fleet.end()


def say(memory: Memory, agent: str, session: str, *lines: str) -> None:
    memory.turn_completed(agent, session, [{"role": "user", "content": line} for line in lines])
    memory.session_idle(agent, session)


def jonas(look: Engine) -> dict[str, list[str]]:
    return {table: [row[0] for row in rows(look, _OF_JONAS.format(table, *on))] for table, *on in _KEPT}


def everything(fleet: Fleet, valkey: OwnValkey, look: Engine) -> dict[str, str]:
    files = dump_files(fleet.folder / "memory", fleet.folder / "spool")
    return {**dump_tables(look), "redis": dump_redis(valkey.client), "files": files}


def where(word: str, found: dict[str, str]) -> dict[str, str]:
    """The places in which a word stands, with a piece of each."""
    return {
        place: text[max(0, text.index(word) - 200) : text.index(word) + 200]
        for place, text in found.items()
        if word in text
    }


def summarise_and_write(fleet: Fleet, look: Engine) -> None:
    """Day summaries and memory files of both agents."""
    now, settings = datetime.now(UTC), fleet.settings().memory
    days = (
        "SELECT DISTINCT d.agent_id, d.scope_id, d.day, a.name FROM slowwave.session_days d"
        " JOIN slowwave.agents a ON a.id = d.agent_id"
    )
    for row in rows(look, days):
        day = DayRef(row.agent_id, row.scope_id, row.day, "default", row.name, None)
        assert summarize_day(look, day, settings=settings.days, now=now).outcome == "summarized"
    choose_backend(look, "file", now)
    for row in rows(look, "SELECT id FROM slowwave.scopes"):
        assert deliver(look, row.id, rules=FileRules(settings.files.root), disk=Disk(), now=now).state == "current"


def leave_waiting(fleet: Fleet, valkey: OwnValkey) -> None:
    """Messages with text in the queue, and an entry in the spool of a process that is gone."""
    turn = {"messages": [{"role": "user", "content": f"another {WORD}"}]}
    publish(valkey.client, "capture", envelope(RECORD_TURN, ["maya", f"{WORD}-queued"], turn, "capture", task_id="t1"))
    note = {"agent": "maya", "content": f"a noted {WORD}", "importance": 0.9}
    publish(valkey.client, "capture", envelope(REMEMBER, [], note, "capture", task_id="t2"))
    settings = fleet.settings()
    event: Any = {"kind": "user", "step": 1, "content": f"a spooled {WORD}", "key": "spooled"}
    entry = Entry("default", "maya", f"{WORD}-spooled", [event])
    entry.stamp(datetime.now(UTC).isoformat())
    spool = Spool(settings.spool, settings.database_url)
    spool.append([entry])
    spool.close()


def shell(fleet: Fleet, *arguments: str) -> Any:
    command = [sys.executable, "-c", "from slowwave_server.workers.cli import main; main()", *arguments, "--json"]
    done = subprocess.run(command, env=fleet.environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_mistake_38_40_forgotten_while_200_flushes_wait_and_2_run(
    fleet: Fleet, memory: Memory, look: Engine, own_valkey: OwnValkey
) -> None:
    fleet.worker(concurrency=RUNNING)
    fleet.beat()
    client = own_valkey.client
    say(memory, "jonas", "monday", "I saw a heron by the lake.", "The lake is deep.")
    say(memory, "maya", f"{WORD}-first", f"I saw a {WORD} by the lake.", f"The {WORD} was asleep.")
    memory.remember("jonas", "likes herons", 0.2)
    bad = {"agent": "maya", "session": "x", "messages": [{"role": "user", "content": f"a {WORD}"}], "extra": WORD}
    publish(client, "capture", envelope(RECORD_TURN, [], bad, "capture", task_id="bad"))
    until_flushed(look, 30)
    wait_until(lambda: value(look, "SELECT count(*) FROM slowwave.dead_letters") == 1, 30, "a dead letter")
    summarise_and_write(fleet, look)

    fleet.hold("maya")
    for number in range(RUNNING + QUEUED):
        say(memory, "maya", f"{WORD}-{number}", f"{WORD} number {number} sleeps.")
    fleet.until_held("maya", RUNNING)
    line = agent_keys("default", "maya").waiting
    wait_until(lambda: client.zcard(line) >= QUEUED - RUNNING, 30, "flushes wait")
    for number in range(QUEUED):
        # A message that outlived its ticket: its session is parked by now.
        old = ["default", "maya", f"{WORD}-{number}", "spent"]
        publish(client, "flush", envelope(FLUSH_SESSION, old, {}, "flush", task_id=f"old-{number}"))
    leave_waiting(fleet, own_valkey)
    found = everything(fleet, own_valkey, look)
    places = {"events", "memories", "passages", "day_summaries", "day_segments", "dead_letters", "redis", "files"}
    assert set(where(WORD, found)) >= places
    before = jonas(look)
    assert all(before.values())

    report = shell(fleet, "agent", "forget", "maya", "--yes")
    assert report["problems"] == []
    assert report["counts"]["sessions"] == RUNNING + QUEUED + 1
    assert report["counts"]["messages"] >= QUEUED
    assert where(WORD, everything(fleet, own_valkey, look)) == {}
    wait_until(lambda: WORD not in _append_only_files(client), 30, "Redis has rewritten its log")

    fleet.let_go("maya")
    wait_until(lambda: _waiting(client) == 0 and not client.hlen("unacked"), 30, "the workers have nothing left to do")
    say(memory, "maya", "new", "I saw a heron, too.")
    until_flushed(look, 30)
    assert where(WORD, everything(fleet, own_valkey, look)) == {}
    assert jonas(look) == before
    assert [hit.content for hit in memory.search("maya", "heron") if hit.kind == "memory"] == ["I saw a heron, too."]
    assert not memory.search("maya", WORD)
    logged = [line for program in fleet.programs for line in program.log.splitlines() if WORD in line]
    assert [line for line in logged if f"{WORD}-" not in line] == [], "logs name sessions and hold no text"


def _waiting(client: Any) -> int:
    return sum(client.llen(queue) for queue in QUEUES)


def _append_only_files(client: Any) -> str:
    return dump_files(Path(client.config_get("dir")["dir"]) / "appendonlydir")
