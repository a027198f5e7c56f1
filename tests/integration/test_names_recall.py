"""A question by one name finds the texts with the others, in the scope that knows them and in no other."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from tests.support.flushing import Scene
from tests.support.recalling import Shelf, search

pytestmark = pytest.mark.servers

FILLER = (
    "We bought new chairs for the small office.",
    "The printer on the second floor is out of paper.",
    "Lunch was good today.",
)
# What teaches it, a text that only holds the one name, a question that only holds the other.
PAIRS = {
    "numeronym": ("Kubernetes (k8s) is our platform.", "The Kubernetes upgrade is planned for June.", "How is k8s?"),
    "numeronym back": ("Kubernetes (k8s) is our platform.", "The k8s upgrade is planned for June.", "Kubernetes?"),
    "initials": ("Builds run on GitHub Actions (GHA).", "GHA minutes cost 40 euros.", "GitHub Actions price?"),
    "initials back": ("Builds run on GitHub Actions (GHA).", "GitHub Actions is slow on Fridays.", "How is GHA?"),
    "initials in a list": ("GHA, GitHub Actions, runs our builds.", "The GHA runner broke.", "github actions"),
    "initials of small words": ("I opened a pull request (PR).", "The PR was merged by Ann.", "Which pull request?"),
    "initials with dots": ("The U.N. (United Nations) wrote.", "The U.N. letter came in May.", "United Nations mail"),
    "initials with dots back": ("The U.N. (United Nations) wrote.", "The United Nations letter came.", "the U.N."),
    "initials without dots": (
        "The N.A.T.O. (North Atlantic Treaty Organization) met.",
        "N.A.T.O. met in Rome.",
        "NATO?",
    ),
    "nickname": ("Robert Miller, known as Bob, leads it.", "Bob likes green tea.", "Robert Miller and drinks"),
    "nickname back": ("Robert Miller, known as Bob, leads it.", "Robert Miller likes green tea.", "Bob and drinks"),
    "renamed project": ("Falcon was renamed to Osprey.", "Falcon ships in October.", "Osprey date?"),
    "renamed project back": ("Falcon was renamed to Osprey.", "Osprey ships in October.", "Falcon date?"),
    "former name": ("Meta, previously called Facebook, hired her.", "Facebook pays well.", "salary at Meta"),
    "cyrillic": ("Москва (Moscow) is far.", "The office in Moscow opened.", "Москва"),
    "cyrillic back": ("Москва (Moscow) is far.", "Офис в Москва открылся в мае.", "Moscow"),
    "kana": ("トヨタ (Toyota) is a client.", "トヨタの会議は木曜日です。", "Toyota appointment"),
    "han": ("国際連合（国連）が発表した。", "国連の会議は木曜日です。", "国際連合はいつ？"),
    "han back": ("他在北京大学（简称北大）读书。", "北京大学的图书馆很大。", "北大在哪里？"),
    "german": ("Die Deutsche Bahn (DB) streikt.", "Die DB kostet zu viel.", "Preise der Deutsche Bahn"),
    "spanish": ("Quetzal (antes Halcón) avanza.", "Halcón sale en mayo.", "¿Cuándo llega Quetzal?"),
    "cut word": ("Maximilian (Max) joined.", "Max has the keys.", "What about Maximilian?"),
}


@pytest.fixture
def reader(database_url: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(database_url, autocommit=True) as connection:
        yield connection


@pytest.mark.parametrize("kind", PAIRS)
def test_question_by_one_name_finds_the_other(scene: Scene, reader: Any, kind: str) -> None:
    teaching, text, question = PAIRS[kind]
    for session, lines in (("teach", [teaching]), ("other", FILLER)):
        scene.say(session, *lines, trigger="manual")
        assert scene.flush(session).outcome == "stored"
    scene.say("talk", text, trigger="manual")
    before_flush = search(reader, "default", "maya", question)
    assert scene.flush("talk").outcome == "stored"
    hits = search(reader, "default", "maya", question)
    contents = [hit.content for hit in hits]
    assert text in contents, (contents, scene.sql("SELECT * FROM slowwave.aliases"))
    assert text in [hit.content for hit in before_flush]
    assert not set(FILLER) & set(contents)


def memory_alone(shelf: Shelf, name: str, alias: str, content: str, question: str, agent: str = "maya") -> list[str]:
    teach(shelf, name, alias, agent)
    shelf.keep(content, agent=agent)
    return [hit.content for hit in search(shelf.connection, "default", agent, question)]


def teach(shelf: Shelf, name: str, alias: str, agent: str = "maya", scope: str | None = None) -> None:
    shelf.sql(
        "INSERT INTO slowwave.aliases (scope_id, name, alias, name_key, alias_key, status)"
        " VALUES (%s, %s, %s, %s, %s, 'learned')",
        *(shelf.scope(agent, scope), name, alias, name.lower(), alias.lower()),
    )


@pytest.fixture
def shelf(reader: psycopg.Connection[Any]) -> Shelf:
    return Shelf(reader)


def found(shelf: Shelf, question: str, agent: str = "maya", **options: Any) -> list[str]:
    return [hit.content for hit in search(shelf.connection, "default", agent, question, **options)]


def test_memory_is_found_by_the_other_name(shelf: Shelf) -> None:
    content = "Robert Miller moved to Lisbon."
    assert memory_alone(shelf, "Robert Miller", "Bob", content, "Where did Bob move?") == [content]


def test_chain_of_names_is_one_entity(shelf: Shelf) -> None:
    teach(shelf, "Kubernetes", "k8s")
    teach(shelf, "k8s", "kube")
    teach(shelf, "Kubernetes", "kates")
    shelf.keep("The kates upgrade is done.")
    assert found(shelf, "kube upgrade") == ["The kates upgrade is done."]


def test_two_people_with_one_nickname_stay_two(shelf: Shelf) -> None:
    teach(shelf, "Robert Miller", "Bob")
    teach(shelf, "Albert Sanchez", "Bob")
    shelf.keep("Albert Sanchez plays chess.")
    assert found(shelf, "And Robert Miller?") == found(shelf, "Miller") == []
    assert found(shelf, "And Bob?") == ["Albert Sanchez plays chess."]


def test_i8_aliases_of_another_agent_do_not_matter(shelf: Shelf) -> None:
    teach(shelf, "Kubernetes", "k8s", "otto")
    shelf.keep("The Kubernetes upgrade is done.")
    assert found(shelf, "k8s") == []


def test_i8_alias_counts_in_its_own_scope_alone(shelf: Shelf) -> None:
    teach(shelf, "Kubernetes", "k8s", scope="room:lobby")
    shelf.keep("The Kubernetes upgrade is done.")
    shelf.keep("Kubernetes costs too much.", scope="room:lobby")
    assert found(shelf, "k8s", scopes=["room:lobby"]) == ["Kubernetes costs too much."]


def test_removed_alias_does_not_matter(shelf: Shelf) -> None:
    content = "The Kubernetes upgrade is done."
    assert memory_alone(shelf, "Kubernetes", "k8s", content, "k8s") == [content]
    shelf.sql("UPDATE slowwave.aliases SET status = 'removed'")
    assert found(shelf, "k8s") == []


def test_word_itself_is_not_outweighed(shelf: Shelf) -> None:
    teach(shelf, "GitHub Actions", "GHA")
    shelf.keep("GHA costs 40 euros.")
    shelf.keep("GitHub Actions costs 50 euros.")
    shelf.keep("We take action on costs.")
    shelf.keep("The GitHub page costs nothing.")
    hits = search(shelf.connection, "default", "maya", "What does GHA cost?")
    scores = {hit.content: hit.relevance if hasattr(hit, "relevance") else hit.score for hit in hits}
    assert set(list(scores)[:2]) == {"GHA costs 40 euros.", "GitHub Actions costs 50 euros."}
    assert scores["GitHub Actions costs 50 euros."] <= scores["GHA costs 40 euros."] * 1.01


def test_common_word_is_no_alias_of_a_rare_one(shelf: Shelf) -> None:
    teach(shelf, "Golang", "Go")
    scope = shelf.scope()
    shelf.keep("Golang is our language.")
    shelf.keep("We go to the lake.")
    shelf.sql("UPDATE slowwave.scopes SET counted_documents = 1000, counted_mean_length = 8, counted_at = now()")
    shelf.sql("INSERT INTO slowwave.common_terms (scope_id, term, documents) VALUES (%s, 'go', 400)", scope)
    assert found(shelf, "Golang") == ["Golang is our language."]


def test_name_that_is_part_of_the_question_counts(shelf: Shelf) -> None:
    teach(shelf, "Robert Miller", "Bob")
    shelf.keep("Robert Miller owns a boat.")
    for question in ("Bob's boat?", "and (Bob)!", "does BOB sail", "bob"):
        assert found(shelf, question) == ["Robert Miller owns a boat."], question


def test_scope_without_aliases_asks_nothing_more(shelf: Shelf) -> None:
    shelf.keep("The Kubernetes upgrade is done.")
    (row,) = shelf.sql(
        "SELECT aliases FROM slowwave.scope_stats('default', '{agent}', '{maya}', 'Which Kubernetes upgrade?')"
    )
    assert row["aliases"] is None
