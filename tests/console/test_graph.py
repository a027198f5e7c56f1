"""Plots that are drawn on the server: nothing covers anything else, and the tables say the same."""

import math
import re
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from playwright.sync_api import Page
from sqlalchemy import Engine

from slowwave_server.domain.similarity import read
from slowwave_server.domain.triples import triples
from slowwave_server.services.memories.triples import store_triples
from slowwave_server.workers.console.graph_layout import lay_out_graph
from slowwave_server.workers.console.timeline import LABELS, RIGHT, WIDTH, Held, draw_timeline
from tests.console.conftest import TENANT, Console, log_in
from tests.support.passing import Past, day

# Of each name the two ends of the line on which it is written, turned as it is.
LINES = """all => all.map(text => {
    const box = text.getBBox(), turned = text.getCTM(), y = box.y + box.height / 2;
    const at = x => [turned.a * x + turned.c * y + turned.e, turned.b * x + turned.d * y + turned.f];
    return [at(box.x), at(box.x + box.width)];
})"""
NAMES = [
    f"{first}{second}"
    for first in ("Jo", "Pri", "Ma", "Ti", "Lu")
    for second in "nas ya mo sa ra li na ka to vi".split()
]


@given(count=st.integers(1, 120), central=st.booleans(), data=st.data())
@settings(max_examples=40)
def test_no_name_covers_another_one_and_all_are_within_the_picture(
    count: int, central: bool, data: st.DataObject
) -> None:
    nodes = list(range(count))
    pairs = data.draw(st.lists(st.tuples(st.sampled_from(nodes), st.sampled_from(nodes)), max_size=60))
    ring = lay_out_graph(nodes, pairs, 0 if central else None)
    assert sorted(spot.node for spot in ring.spots) == nodes
    assert {(curve.source, curve.target) for curve in ring.curves} == {pair for pair in pairs if pair[0] != pair[1]}
    around = [spot for spot in ring.spots if not spot.central]
    for one in around:
        assert min(one.x, one.y, ring.size - one.x, ring.size - one.y) >= 150, "its name has room"
        assert -90 <= one.turn <= 90, "no name stands on its head"
    for one, other in pairwise(around):
        assert math.dist((one.x, one.y), (other.x, other.y)) >= 20, "a line of text lies between two names"


@given(st.lists(st.tuples(st.integers(0, 4000), st.none() | st.integers(0, 4000)), min_size=1, max_size=30))
@settings(max_examples=40)
def test_i9_bars_lie_where_their_times_do(times: list[tuple[int, int | None]]) -> None:
    begin = datetime(2020, 1, 1, tzinfo=UTC)
    held = [
        Held(str(n), f"v{n}", begin + timedelta(days=a), None if b is None else begin + timedelta(days=b), str(n + 1))
        for n, (a, b) in enumerate(times)
    ]
    spans = draw_timeline(held, begin + timedelta(days=2000))
    for one in spans.spans:
        assert one.x >= LABELS
        assert one.x + one.width <= WIDTH - RIGHT + 3.1
        assert bool(one.arrow) == (one.held.next in {value.key for value in held})
        for other in spans.spans:
            assert (one.held.since <= other.held.since) or one.x >= other.x
    assert len({one.y for one in spans.spans}) == len(held)


@pytest.fixture
def past(engine: Engine) -> Past:
    return Past(engine, tenant=TENANT)


def say(past: Past, content: str, at: float = 0) -> UUID:
    memory = past.say(content, at=day(at))
    with past.run(at=day(at)) as run:
        found = triples(read(content))
        assert found, content
        store_triples(run.connection, past.scope_id, {memory: found}, run_id=run.id, now=day(at))
    return memory


@pytest.mark.servers
def test_the_table_says_all_that_the_plot_does(console: Console, past: Past) -> None:
    say(past, "Maya manages Jonas")
    say(past, "Jonas lives in Porto")
    memory = say(past, "Maya works at Initech")
    page = console.get("/graph").text
    assert re.findall(r"<p>(\d) entities, (\d) relations", page) == [("4", "3")]
    for name in ("Maya", "Jonas", "Porto", "Initech"):
        assert f">{name}</text>" in page
        assert f">{name}</th>" in page or f"<td>{name}</td>" in page
    assert page.count('class="relation"') == 3
    assert f'href="/memories/{memory}"' in page
    around = console.get("/graph?entity=maya&depth=1").text
    assert "Porto" not in around
    assert 'class="dot person central"' in around
    unknown = console.get("/graph?entity=Mayo").text
    assert "nothing is related to" in unknown.lower()
    assert "Maya" in unknown
    assert console.get("/graph?depth=9").status_code == 400
    assert "Nothing is related to anything" in console.get("/graph?scope=room:lobby").text


@pytest.mark.servers
def test_a_timeline_shows_what_followed_what(console: Console, past: Past) -> None:
    old, new = say(past, "Maya works at Initech"), say(past, "Maya works at Globex", 10)
    with past.run(at=day(20)) as run:
        run.supersede(old, new, day(10))
    page = console.get("/timeline").text
    (link,) = re.findall(r'href="(/timeline\?[^"]*subject=[^"]+)"', page)
    shown = console.get(link.replace("&amp;", "&")).text
    assert shown.index("Initech") < shown.index("Globex")
    assert len(re.findall(r'class="held(?: now)?"', shown)) == 2
    assert shown.count('class="arrow"') == 1
    assert f'href="/memories/{new}">replaced' in shown
    assert "No memory says what" in console.get("/timeline?subject=Maya&predicate=dreams+of").text


@pytest.mark.servers
def test_fifty_entities_are_readable_in_the_browser(page: Page, past: Past) -> None:
    for number, name in enumerate(NAMES[1:]):
        say(past, f"{NAMES[number // 7]} manages {name}")
    log_in(page, "viewer")
    page.goto("/graph")
    boxes = page.locator("svg a text").evaluate_all(LINES)
    assert len(boxes) == 50
    middles = [[tuple((a[i] + (b[i] - a[i]) * t / 8) for i in (0, 1)) for t in range(9)] for a, b in boxes]
    for place, one in enumerate(middles):
        for other in middles[:place]:
            assert min(math.dist(p, q) for p in one for q in other) > 13, "lines of text lie apart"
