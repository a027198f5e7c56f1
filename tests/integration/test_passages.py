"""Long events in passages: search shows the part that answers, and old rows are cut in the background."""

import pytest
from sqlalchemy import Engine

from slowwave_server.services.search.passages import cut_whole_events
from tests.support.recalling import Shelf, search

pytestmark = pytest.mark.servers

ANSWER = "\n\n".join(
    f"## Day {n}\n\nThe group visits the {place} and stays for two hours. " + "Bring water and good shoes. " * 8
    for n, place in enumerate(("harbour", "cathedral", "vineyard", "aqueduct", "lighthouse"), 1)
)
INDEXED = "SELECT seq, part, begins, ends, search::text, redacted FROM slowwave.passages ORDER BY session_id, seq, part"


def test_search_shows_the_part_that_answers(shelf: Shelf) -> None:
    shelf.say("trip", "Please plan five days for us.", ANSWER, "Fine.")
    best, *_ = search(shelf.connection, "default", "maya", "when do we visit the aqueduct?")
    assert best.id == "trip#2"
    assert "aqueduct" in best.content
    assert "harbour" not in best.content
    assert len(best.content) <= 500


def test_a_passage_is_found_by_the_heading_above_it(shelf: Shelf) -> None:
    shelf.say("trip", ANSWER.replace("aqueduct", "old bridge"))
    best, *_ = search(shelf.connection, "default", "maya", "what happens on day 4?")
    assert "old bridge" in best.content


def test_one_long_event_does_not_fill_the_list(shelf: Shelf) -> None:
    shelf.say("trip", "\n\n".join(f"Water is needed on leg {n}. " * 12 for n in range(30)))
    for n in range(6):
        shelf.say(f"other-{n}", f"Remember that water costs {n} coins at the hut on the pass.")
    hits = search(shelf.connection, "default", "maya", "water", limit=10)
    assert len({hit.id for hit in hits}) == 7


def test_old_rows_are_found_before_they_are_cut_and_in_parts_afterwards(shelf: Shelf, engine: Engine) -> None:
    shelf.say("trip", "Please plan five days for us.", ANSWER, "Fine.")
    fresh = shelf.sql(INDEXED)
    _index_whole(shelf)
    (whole, *_) = search(shelf.connection, "default", "maya", "aqueduct")
    assert (whole.id, whole.content) == ("trip#2", ANSWER)
    assert cut_whole_events(engine) == 3
    assert shelf.sql(INDEXED) == fresh
    assert cut_whole_events(engine) == 0


def test_cutting_goes_on_in_batches_with_the_same_result(shelf: Shelf, engine: Engine) -> None:
    shelf.say("trip", "Please plan five days for us.", ANSWER, "Fine.", "A last question.")
    fresh = shelf.sql(INDEXED)
    _index_whole(shelf)
    while cut_whole_events(engine, limit=1):
        pass
    assert shelf.sql(INDEXED) == fresh


def _index_whole(shelf: Shelf) -> None:
    """Leave the rows as revision 0105 did."""
    shelf.sql("DELETE FROM slowwave.passages WHERE part > 0")
    shelf.sql(
        "UPDATE slowwave.passages p SET begins = 0, ends = NULL, search = slowwave.passage_search_vector("
        " p.scope_id, e.content, coalesce(e.name, e.role), e.happened_at) FROM slowwave.events e"
        " WHERE e.session_id = p.session_id AND e.seq = p.seq"
    )
