"""The list of memories: its filters, its pages, and what it says where there is nothing."""

import re
from datetime import timedelta

import pytest
from sqlalchemy import Engine

from tests.console.conftest import TENANT, Console
from tests.support.passing import Past, day

pytestmark = pytest.mark.servers


@pytest.fixture
def past(engine: Engine) -> Past:
    return Past(engine, tenant=TENANT)


def links(page: str) -> list[str]:
    return re.findall(r'<a href="/memories/([0-9a-f-]{36})"', page)


def test_every_memory_is_on_one_page_of_the_list_alone(console: Console, past: Past) -> None:
    made = [str(past.say(f"Maya counts to {number}.", at=day(number // 7))) for number in range(120)]
    seen, path = [], "/memories?agent=concierge"
    while path:
        page = console.get(path).text
        seen += links(page)
        older = re.search(r'<a href="([^"]+)" rel="next">', page)
        path = older[1].replace("&amp;", "&") if older else ""
    assert sorted(seen) == sorted(made)
    assert 'rel="prev"' in page


def test_filters_are_those_of_the_report(console: Console, past: Past) -> None:
    rome, lisbon = past.say("Maya lives in Rome.", at=day(0)), past.say("Maya lives in Lisbon.", at=day(10))
    with past.run(at=day(20)) as run:
        run.supersede(rome, lisbon, day(10))
        run.set(lisbon, "promoted", status="active")

    def held(query: str) -> list[str]:
        page = console.get(f"/memories?{query}").text
        assert 'value="concierge"' in page, "the only agent need not be named"
        return links(page)

    assert held("") == [str(lisbon), str(rome)]
    assert held("words=rome") == held(f"as_of={day(5).date()}") == [str(rome)]
    assert held("status=active") == [str(lisbon)]
    assert held("type=preference") == held("words=berlin") == held("scope=room:lobby") == []
    assert held(f"known_at={(day(10) - timedelta(hours=2)).isoformat()}".replace("+", "%2B")) == [str(rome)]
    assert held("session=monday") == [str(lisbon), str(rome)]


WRONG = ("type=thing", "status=gone", "as_of=yesterday", "before=1", "before=2026-01-01,x", "scope=nowhere")


def test_what_no_filter_can_be_is_said_in_a_sentence(console: Console, past: Past) -> None:
    for query in WRONG:
        answer = console.get(f"/memories?agent=concierge&{query}")
        assert answer.status_code == 400
        assert query.partition("=")[2] in answer.text or "before is where" in answer.text


def test_without_an_agent_there_is_a_choice_and_without_any_a_hint(console: Console, engine: Engine) -> None:
    assert "There are no agents yet" in console.get("/memories").text
    for name in ("atlas", "boreas"):
        Past(engine, tenant=TENANT, agent=name)
    assert 'href="/memories?agent=atlas"' in console.get("/memories").text
    assert "Nothing is remembered there yet" in console.get("/memories?agent=atlas").text
    assert console.get("/memories?agent=nobody").status_code == 404
