"""One agent on one page: its tabs, their counts, its clock."""

import re

import pytest
from sqlalchemy import Engine

from slowwave_server.services.reports.agents import MEMORIES_COUNTED, read_agent
from tests.console.conftest import TENANT, Console
from tests.support.reviewing import Dispute

pytestmark = pytest.mark.servers
COPIES = (
    "INSERT INTO slowwave.memories (scope_id, type, content, content_hash, confidence, importance, trust, valid_from,"
    " reaffirmed_at, recorded_at, search) SELECT m.scope_id, m.type, i, i::bytea, m.confidence, m.importance, m.trust,"
    " m.valid_from, m.reaffirmed_at, m.recorded_at, '' FROM slowwave.memories m,"
    " (SELECT i::text FROM generate_series(1, :n) i) AS copies WHERE m.content = 'Maya has a boat.'"
)


@pytest.fixture
def dispute(engine: Engine) -> Dispute:
    return Dispute(engine, tenant=TENANT)


def tab(console: Console, name: str, who: str = "viewer") -> str:
    answer = console.get(f"/agent?agent=maya&tab={name}", who=who)
    assert answer.status_code == 200
    return str(answer.text)


def test_each_tab_shows_its_part(console: Console, dispute: Dispute) -> None:
    newer, older = dispute.memory("Maya works at Globex."), dispute.memory("Maya works at Acme.")
    _, item = dispute.conflict(newer, older)
    console.memory.remember("maya", "Ask Maya about the boat.", 0.9)
    parts = {
        "memories": f'href="/memories/{newer}"',
        "sessions": 'href="/session?agent=maya&amp;session=monday"',
        "days": "This agent has no day yet",
        "notes": "Ask Maya about the boat.",
        "runs": "light",
        "inbox": f'href="/inbox/q{item}?agent=maya"',
        "settings": "Day begins",
    }
    for name, told in parts.items():
        page = tab(console, name)
        assert told in page, name
        assert len(re.findall(r'aria-current="page">[^<]', page)) == 1, "one tab is the current one"
    for label in ("Memories (2)", "Sessions (1)", "Notes (1)", "Inbox (1)"):
        assert label in tab(console, "memories")
    assert console.get("/agent?agent=maya&tab=odd").status_code == 400
    assert console.get("/agent?agent=nobody").status_code == 404
    assert console.get("/agent").status_code == 400


def test_counts_end_at_their_limits(console: Console, dispute: Dispute) -> None:
    dispute.memory("Maya works at Globex.")
    dispute.memory("Maya has a boat.")
    assert "At least" not in tab(console, "memories")
    with console.engine.connect() as connection:
        found = read_agent(connection, TENANT, "maya", most=1)
    assert (sum(found.memories.values()), found.more_memories) == (1, True)
    dispute.sql(COPIES, n=MEMORIES_COUNTED)
    assert f"At least {MEMORIES_COUNTED:,} " in tab(console, "memories")


def test_operator_changes_the_clock(console: Console, dispute: Dispute) -> None:
    assert "Change the clock" not in tab(console, "settings")
    sent = console.post("/agent/clock", agent="maya", timezone="Europe/Oslo", cutoff_hour="4")
    assert sent.status_code == 303
    assert "<dd>04:00</dd>" in tab(console, "settings")
    for wrong in ({"cutoff_hour": "24"}, {"cutoff_hour": "x"}, {"timezone": "Europe/Nowhere"}):
        given = {"timezone": "Europe/Oslo", "cutoff_hour": "5"} | wrong
        refused = console.post("/agent/clock", agent="maya", **given)
        assert (refused.status_code, "Nothing was changed" in refused.text) == (409, True)
    assert "<dd>04:00</dd>" in tab(console, "settings")
    assert console.post("/agent/clock", agent="nobody", timezone="UTC", cutoff_hour="4").status_code == 404
    assert dispute.one("SELECT cutoff_hour FROM slowwave.agents").cutoff_hour == 4


def test_empty_tabs_say_what_to_do(console: Console) -> None:
    assert "No agent of this tenant" in console.get("/agents").text
    console.memory.turn_completed("maya", "s1", [{"role": "user", "content": "hello"}])
    for name, told in {
        "memories": "This agent remembers nothing yet",
        "notes": "No open note",
        "runs": "No run has changed",
        "inbox": "Nothing about this agent waits",
    }.items():
        assert told in tab(console, name)
    assert "Flush all unprocessed sessions" in tab(console, "sessions", "operator")
    console.post("/flush", agent="maya")
    assert console.redis.llen("flush") == 1
