"""The vectors of search: every lexeme under its scope, with the weight of where it stood."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.recalling import Shelf

pytestmark = pytest.mark.servers

AT = datetime(2024, 2, 29, 12, tzinfo=UTC)
texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=200)


def passages(shelf: Shelf, *lines: dict[str, Any]) -> dict[int, dict[str, str]]:
    """Of each passage its lexemes, with the weights of their places."""
    rows = shelf.sql(
        "SELECT v.seq, w.lexeme, array_to_string(w.weights, '') AS weights"
        " FROM slowwave.passage_search_vectors(17, %s) AS v, unnest(v.search) AS w",
        json.dumps(lines),
    )
    found: dict[int, dict[str, str]] = {line["seq"]: {} for line in lines}
    for row in rows:
        found[row["seq"]][row["lexeme"]] = row["weights"]
    return found


def line(seq: int, text: str, speaker: str | None = None, at: datetime = AT) -> dict[str, Any]:
    return {"seq": seq, "text": text, "speaker": speaker, "at": at.isoformat()}


def test_a_passage_holds_its_words_its_speaker_its_date_and_the_two_turns_before(shelf: Shelf) -> None:
    said = passages(shelf, line(4, "Bees?", "Jonas"), line(5, "I keep them.", "Maya"), line(6, "Honey!", "Jonas"))
    date = {"17:thursday": "B", "17:29": "B", "17:februari": "B", "17:2024": "B"}
    assert said[4] == {"17:bee": "A", "17:jona": "A"} | date
    assert said[5] == {"17:keep": "A", "17:maya": "A", "17:bee": "C"} | date
    assert said[6] == {"17:honey": "A", "17:jona": "A", "17:keep": "C", "17:bee": "D"} | date


def test_passages_are_taken_in_the_order_of_their_numbers(shelf: Shelf) -> None:
    assert passages(shelf, line(2, "honey"), line(1, "bees"))[2]["17:bee"] == "C"


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=texts, speaker=st.none() | texts)
def test_putting_the_scope_in_front_changes_nothing_else(shelf: Shelf, text: str, speaker: str | None) -> None:
    (row,) = shelf.sql(
        "SELECT (SELECT jsonb_object_agg(w.lexeme, w.positions) FROM unnest("
        "   slowwave.search_vector(%s, 200) || slowwave.search_vector(%s, 40000)) AS w) AS plain,"
        " (SELECT jsonb_object_agg(substr(w.lexeme, 4), w.positions) FROM unnest("
        "   ts_filter(slowwave.passage_search_vector(17, %s, %s, now()), '{a}')) AS w"
        "   WHERE starts_with(w.lexeme, '17:')) AS scoped",
        *(speaker, text, text, speaker),
    )
    assert row["scoped"] == row["plain"]


def test_dates_are_written_as_the_stemmer_leaves_them(shelf: Shelf) -> None:
    for day in range(0, 366, 11):
        moment = AT + timedelta(days=day)
        (row,) = shelf.sql(
            "SELECT tsvector_to_array(slowwave.scoped_search_vector(17, '', %s)) AS got,"
            " ARRAY(SELECT '17:' || lexeme"
            " FROM unnest(to_tsvector('english', to_char(%s::timestamptz, 'FMDay FMDD FMMonth YYYY')))) AS wanted",
            *(moment, moment),
        )
        assert sorted(row["got"]) == sorted(row["wanted"])


def test_a_memory_is_found_by_its_words_its_names_and_its_day(shelf: Shelf) -> None:
    (row,) = shelf.sql(
        "SELECT slowwave.memory_search_vector(17, 'Keeps bees.', %s, '{Maya,Old Mill}')::text AS vector", AT
    )
    assert row["vector"].split() == [
        *("'17:2024':1B", "'17:29':1B", "'17:bee':2A", "'17:februari':1B", "'17:keep':1A"),
        *("'17:maya':3C", "'17:mill':5C", "'17:old':4C", "'17:thursday':1B"),
    ]


def test_words_too_long_for_an_index_are_left_out_and_the_rest_stays(shelf: Shelf) -> None:
    text = "Bees " + "x" * 2_046 + " " + "é" * 1_023 + " honey"
    assert {"17:bee", "17:honey"} < set(passages(shelf, line(1, text))[1])
    assert max(map(len, passages(shelf, line(1, text))[1])) < 500
