"""Search on a real Postgres: what is found, in which order, and what never is."""

from datetime import timedelta

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slowwave.errors import InvalidName, InvalidQuery
from tests.support.emptying import emptying
from tests.support.recalling import NOW, Shelf, search

pytestmark = pytest.mark.servers

HOSTILE = [
    "'",
    "a' | 'b",
    "!dog",
    "dog:*A",
    "(dog",
    "\\",
    "a & !b",
    "<->",
    "%s %(x)s",
    "';--",
    "\0",
    "\ud800",
    "::",
    ":",
]


def found(shelf: Shelf, query: str, agent: str = "maya", limit: int = 10, scopes: tuple[str, ...] = ()) -> list[str]:
    return [hit.id for hit in search(shelf.connection, "default", agent, query, limit=limit, scopes=scopes)]


def test_a_rare_word_beats_three_common_ones(shelf: Shelf) -> None:
    shelf.say("walks", *(f"The dog and I went to the park by bus, trip {n}." for n in range(40)))
    shelf.say("music", "My cello came back from repair.")
    assert found(shelf, "cello dog park bus")[0] == "music#1"


def test_memories_and_events_are_one_list_and_carry_their_sources(shelf: Shelf) -> None:
    shelf.say("pets", "I adopted a dog.", "She is called Biscuit, a grey whippet.", speaker="Maya")
    memory = shelf.keep("Maya's whippet is called Biscuit.", ("pets", 2))
    shelf.say("later", "Biscuit the whippet ate my shoes.", speaker="Maya")
    hits = {hit.id: hit for hit in search(shelf.connection, "default", "maya", "whippet Biscuit")}
    assert {memory, "later#1"} <= set(hits)
    assert hits[memory].kind == "memory"
    assert hits[memory].sources == (("pets", 2),)
    assert hits["later#1"].kind == "event"
    assert hits["later#1"].sources == (("later", 1),)
    assert (hits["later#1"].speaker, hits["later#1"].status, hits["later#1"].scope) == ("Maya", "processed", None)


def test_a_memory_and_its_event_are_shown_once(shelf: Shelf) -> None:
    shelf.say("pets", "My whippet is called Biscuit.")
    shelf.keep("Maya's whippet is called Biscuit.", ("pets", 1))
    assert len(found(shelf, "What is the whippet called?")) == 1


def test_an_event_gains_from_its_memory_if_it_says_more(shelf: Shelf) -> None:
    said = "My whippet Biscuit from Porto ate the blue shoes."
    shelf.say("plain", said)
    shelf.say("pets", said)
    shelf.keep("Maya's whippet ate shoes.", ("pets", 1))
    first, second, *_ = search(shelf.connection, "default", "maya", question := "whippet Biscuit Porto blue shoes")
    assert (first.id, second.id) == ("pets#1", "plain#1")
    assert first.why is not None
    assert second.why is not None
    assert first.why.words > second.why.words
    memory = shelf.keep("Maya's whippet Biscuit from Porto ate the blue shoes.", ("pets", 1))
    assert found(shelf, question, limit=2) == [memory, "plain#1"]


def test_an_event_is_found_by_the_question_before_it_and_by_its_date(shelf: Shelf) -> None:
    shelf.say("plans", "Where will the workshop take place?", "In Lisbon, I think.", "Lovely.", at=NOW)
    shelf.say("other", "The cat sleeps.", at=NOW - timedelta(days=90))
    assert found(shelf, "workshop") == ["plans#1", "plans#2", "plans#3"]
    assert set(found(shelf, "What happened on Friday 10 May?", limit=3)) == {"plans#1", "plans#2", "plans#3"}


def test_a_number_is_found_in_a_date_and_in_an_account(shelf: Shelf) -> None:
    shelf.say("trip", "The ferry is booked: 2031-04-09.")
    shelf.say("bank", "The account shows -412.")
    shelf.say("other", "The ferry is late.")
    assert found(shelf, "Which ferry is on April 9?")[0] == "trip#1"
    assert found(shelf, "What is 412?") == ["bank#1"]


def test_unflushed_turns_are_found_before_any_flush_and_once_after_it(shelf: Shelf) -> None:
    shelf.say("pets", "Nothing of interest.", "The happy whippet is called Biscuit.", flushed=False, speaker="Maya")
    for query in ("whippet", "happiness", "Biscuit"):
        (hit,) = search(shelf.connection, "default", "maya", query)
        assert (hit.id, hit.status, hit.sources) == ("pets#2", "pending", (("pets", 2),))
    shelf.flush("pets")
    hits = search(shelf.connection, "default", "maya", "Biscuit")
    assert [(hit.id, hit.status) for hit in hits] == [("pets#2", "processed")]


def test_what_was_replaced_ranks_behind_what_replaced_it(shelf: Shelf) -> None:
    new = shelf.keep("Maya moved and has lived in a small flat near the river in Porto since spring.")
    old = shelf.keep("Maya lives in Porto, Rua Verde.", superseded_by=new)
    assert found(shelf, "Maya lives in Porto, Rua Verde") == [new, old]


def test_the_very_text_of_a_question_with_signs_is_found_first(shelf: Shelf) -> None:
    for other in ("x || y", "x && y", "x ?? y"):
        shelf.say("style", f"We write {other} for defaults.")
    told = [hit.content for hit in search(shelf.connection, "default", "maya", "x && y")]
    assert told[0] == "We write x && y for defaults."


@pytest.mark.parametrize("status", ["archived", "review"])
def test_archived_memories_and_those_in_review_stay_out(shelf: Shelf, status: str) -> None:
    shelf.keep("Maya keeps bees.", status=status)
    assert found(shelf, "bees") == []


def test_what_waits_in_review_is_found_if_asked_for_behind_what_holds(shelf: Shelf) -> None:
    waits = shelf.keep("Maya keeps bees, many bees.", status="review")
    holds = shelf.keep("Maya keeps bees, and has kept them for many years.")
    shelf.keep("Maya keeps bees no more.", status="archived")
    shelf.keep("Maya keeps bees.", agent="jonas", status="review")
    hits = search(shelf.connection, "default", "maya", "bees", include_review=True)
    assert [(hit.id, hit.status) for hit in hits] == [(holds, "active"), (waits, "review")]
    assert found(shelf, "bees") == [holds]


@pytest.mark.parametrize("query", ["", "   ", "the of and", "?!…", "'\"", "\0"])
def test_mistake_39_a_query_without_a_word_finds_nothing(shelf: Shelf, query: str) -> None:
    shelf.say("pets", "The dog and the cat of the house.")
    shelf.keep("The cat is of the house.")
    assert found(shelf, query) == []


def test_i8_no_agent_tenant_room_or_team_sees_anothers(shelf: Shelf) -> None:
    everywhere = (
        ("default", "maya", None),
        ("default", "jonas", None),
        ("other", "maya", None),
        ("default", "maya", "room:maya"),
        ("default", "jonas", "team:maya"),
        ("other", "jonas", "room:kitchen"),
    )
    for place, (tenant, agent, scope) in enumerate(everywhere):
        shelf.say(f"s{place}", "The whippet sleeps.", agent=agent, scope=scope, tenant=tenant)
        shelf.say(f"s{place}", "A whippet wakes.", agent=agent, scope=scope, tenant=tenant, flushed=False)
        shelf.keep("A whippet lives here.", (f"s{place}", 1), agent=agent, scope=scope, tenant=tenant)

    def sessions(tenant: str, agent: str, *scopes: str) -> set[str]:
        hits = search(shelf.connection, tenant, agent, "whippet", limit=50, scopes=scopes)
        return {session for hit in hits for session, _ in hit.sources}

    assert sessions("default", "maya") == {"s0"}
    assert sessions("default", "jonas") == {"s1"}
    assert sessions("other", "maya") == {"s2"}
    assert sessions("default", "maya", "room:maya") == {"s0", "s3"}
    assert sessions("default", "maya", "team:maya") == {"s0", "s4"}
    assert sessions("default", "maya", "room:kitchen") == {"s0"}
    assert sessions("other", "priya", "room:kitchen") == {"s5"}
    assert sessions("nobody", "maya", "room:maya", "team:maya") == set()
    assert sessions("default", "nobody") == set()


def test_i10_what_a_forgotten_agent_left_is_not_read(shelf: Shelf) -> None:
    shelf.say("pets", "The whippet sleeps.")
    shelf.sql("UPDATE slowwave.agents SET deleted_at = now()")
    assert found(shelf, "whippet") == []


def test_the_same_numbers_in_another_scope_are_not_found(shelf: Shelf) -> None:
    """Lexemes carry their scope: a word that looks like another scope's lexeme is only a word."""
    other = shelf.scope("jonas")
    shelf.keep("Jonas keeps bees.", agent="jonas")
    shelf.say("odd", f"{other}:bee {other}:keep")
    assert found(shelf, f"{other}:bee", agent="maya") == ["odd#1"]
    assert all(hit.scope is None for hit in search(shelf.connection, "default", "maya", f"'{other}:bee'"))


@pytest.mark.parametrize("word", HOSTILE)
def test_i8_hostile_queries_find_what_they_say_and_nothing_more(shelf: Shelf, word: str) -> None:
    shelf.say("mine", "The dog sleeps.")
    shelf.say("theirs", "The dog a b x sleeps.", agent="jonas")
    assert set(found(shelf, word)) <= {"mine#1"}
    assert found(shelf, f"{word} sleeping") == ["mine#1"]


@pytest.mark.parametrize("name", [name for name in HOSTILE if name.isprintable() and name.isascii()])
def test_i8_hostile_names_are_just_names(shelf: Shelf, name: str) -> None:
    shelf.say("mine", "The dog sleeps.", agent=name)
    shelf.say("theirs", "The dog sleeps.", agent="jonas")
    assert found(shelf, "dog", agent=name) == ["mine#1"]
    assert found(shelf, "dog", agent="priya", scopes=(f"room:{name}",)) == []


@pytest.mark.parametrize("name", ["", "\0", "a\nb", "x" * 201])
def test_impossible_names_are_refused_with_a_sentence(shelf: Shelf, name: str) -> None:
    with pytest.raises(InvalidName, match="agent: "):
        found(shelf, "dog", agent=name)


@pytest.mark.parametrize("limit", [0, 101, -1, True, 2.5, None])
def test_limits_out_of_bounds_are_refused(shelf: Shelf, limit: int) -> None:
    with pytest.raises(InvalidQuery, match="1 to 100"):
        found(shelf, "dog", limit=limit)


def test_a_query_of_a_hundred_thousand_characters_is_cut(shelf: Shelf) -> None:
    shelf.say("mine", "The dog sleeps.")
    assert found(shelf, "dog " * 25_000) == ["mine#1"]
    assert found(shelf, "x" * 100_000) == []
    assert found(shelf, " ".join(f"word{n}" for n in range(15_000)) + " dog") == []


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.text(max_size=80), line=st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_any_query_over_any_text_is_answered(shelf: Shelf, query: str, line: str) -> None:
    shelf.sql(emptying("agents", "scopes"))
    shelf.say("mine", line, "The dog sleeps.")
    shelf.say("mine", line, flushed=False)
    assert {hit.split("#")[0] for hit in found(shelf, query)} <= {"mine"}
    assert "mine#2" in found(shelf, f"{query[:40]} dog", limit=100)


def test_ties_have_the_same_order_every_time_newest_first(shelf: Shelf) -> None:
    for session in ("a", "b", "c"):
        shelf.say(session, "The dog sleeps.")
    memories = [shelf.keep(f"The dog sleeps{end}") for end in (".", "!", "?")]
    answers = {tuple(found(shelf, "dog sleeps")) for _ in range(5)}
    point, exclamation, question = memories
    # Equally new memories come by what they say, and events by their names: both are the same after another import.
    assert answers == {(exclamation, point, question, "c#1", "b#1", "a#1")}


def test_rarity_is_that_of_all_scopes_that_are_read(shelf: Shelf) -> None:
    shelf.say("walks", *(f"The dog walked {n} miles." for n in range(30)))
    shelf.say("house", "The heron stood by the pond.", "The dog slept.", agent="jonas", scope="room:garden")
    assert found(shelf, "dog heron", scopes=("room:garden",))[0] == "house#1"


def test_very_long_words_and_texts_can_be_indexed_and_the_rest_of_them_found(shelf: Shelf) -> None:
    shelf.say("dump", "A whippet " + "a" * 2_040 + " " + "é" * 1_020 + " and " + "word " * 30_000)
    shelf.keep("Biscuit " + "b" * 2_046 + " " + " ".join(f"{n:x}" for n in range(20_000)))
    assert found(shelf, "whippet") == ["dump#1"]
    assert len(found(shelf, "biscuit")) == 1


def test_a_connection_may_have_any_row_factory_and_be_in_a_transaction(shelf: Shelf, database_url: str) -> None:
    shelf.say("mine", "The dog sleeps.")
    with psycopg.connect(database_url, row_factory=psycopg.rows.namedtuple_row) as connection:
        assert [hit.id for hit in search(connection, "default", "maya", "dog")] == ["mine#1"]
