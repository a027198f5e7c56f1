"""A session's transcript: its turns, the memories of each, its pages, and a flush."""

import re
from html import unescape
from uuid import UUID

import pytest
from sqlalchemy import Engine

from tests.console.conftest import TENANT, Console
from tests.support.reviewing import Dispute

pytestmark = pytest.mark.servers


@pytest.fixture
def dispute(engine: Engine) -> Dispute:
    return Dispute(engine, tenant=TENANT)


def seqs(page: str) -> list[int]:
    return [int(seq) for seq in re.findall(r'id="e(\d+)"', page)]


def test_turn_stands_beside_the_memories_it_produced(console: Console, dispute: Dispute) -> None:
    memory = dispute.memory("Maya works at Globex.")
    page = console.get("/session?agent=maya&session=monday").text
    assert seqs(page) == list(range(1, 10))
    (first, second, *_) = page.split('<li class="turn"')[1:]
    assert f'href="/memories/{memory}"' in first
    assert "line 0" in first
    assert f"{memory}" not in second


def test_evidence_links_to_its_turn(console: Console, dispute: Dispute) -> None:
    page = console.get(f"/memories/{dispute.memory('Maya works at Globex.')}").text
    (link,) = re.findall(r'href="(/session\?[^"]+)"', page)
    address, _, fragment = unescape(link).partition("#")
    shown = console.get(address).text
    assert f'turn-asked" id="{fragment}"' in shown


def test_long_session_is_read_in_pages(console: Console, dispute: Dispute) -> None:
    said = [("Maya", f"line {number}") for number in range(150)]
    dispute.past.session(dispute.agent, dispute.scope, "long", *said)
    address: str | None = "/session?agent=maya&session=long"
    found: list[int] = []
    while address:
        page = console.get(address).text
        assert len(seqs(page)) <= 60
        found = seqs(page) + found
        earlier = re.search(r'<a href="([^"]+)" rel="prev">Earlier turns', page)
        address = unescape(earlier[1]) if earlier else None
    assert found == list(range(1, 151))
    middle = console.get("/session?agent=maya&session=long&at=75").text
    assert 75 in seqs(middle)
    later = re.search(r'<a href="([^"]+)" rel="next">Later turns', middle)
    assert later is not None
    assert seqs(console.get(unescape(later[1])).text)[0] == seqs(middle)[-1] + 1


def test_tool_calls_are_folded_and_secrets_masked(console: Console) -> None:
    call = {"id": "1", "type": "function", "function": {"name": "book", "arguments": '{"seat": 4}'}}
    console.memory.turn_completed(
        "maya",
        "trip",
        [
            {"role": "user", "content": "My password: hunter2hunter2"},
            {"role": "assistant", "content": "I book it.", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "1", "content": "seat taken"},
        ],
    )
    page = console.get("/session?agent=maya&session=trip").text
    assert re.findall(r'<details class="turn-tool"[^>]*><summary>\s*(Call|Result) of book', page) == ["Call", "Result"]
    assert "seat taken" in page
    assert "hunter2hunter2" not in page
    assert "unprocessed" in page


def test_operator_flushes_a_session(console: Console) -> None:
    for number in range(3):
        console.memory.turn_completed("maya/of Oslo", f"s {number}", [{"role": "user", "content": "hello"}])
    agents = console.get("/agents").text
    (agent,) = [unescape(one) for one in re.findall(r'href="(/agent\?[^"]+)"', agents)]
    found = re.findall(r'href="(/session\?[^"]+)"', console.get(f"{agent}&tab=sessions").text)
    assert len(found) == 3
    assert "hello" in console.get(unescape(found[0])).text
    assert console.post("/flush", agent="maya/of Oslo", session="s 2").headers["location"].startswith("/session?")
    assert console.redis.llen("flush") == 1
    assert console.get("/session?agent=maya/of Oslo&session=none").status_code == 404
    assert console.get("/session?agent=").status_code == 400
    assert console.get("/session?agent=maya/of Oslo&at=x&session=s 1").status_code == 400


def test_i8_transcript_of_another_tenant_does_not_exist(console: Console, dispute: Dispute) -> None:
    dispute.memory("Maya works at Globex.")
    refused = console.get("/session?agent=maya&session=monday", who="stranger")
    assert (refused.status_code, "line 0" in refused.text) == (404, False)


def test_removed_events_leave_a_hint(console: Console, dispute: Dispute) -> None:
    memory: UUID = dispute.memory("Maya works at Globex.")
    dispute.sql("DELETE FROM slowwave.events WHERE session_id = :id", id=dispute.session)
    page = console.get("/session?agent=maya&session=monday").text
    assert "Nothing of this session is kept here any more" in page
    assert "Its sources were removed" in console.get(f"/memories/{memory}").text
