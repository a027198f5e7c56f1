"""Relations are read where a sentence says them outright, and nowhere else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave_server.domain.similarity import read
from slowwave_server.domain.triples import CLAIMED, MAX_RELATIONS, triples
from tests.support.tables import for_each


def relations(text: str) -> set[tuple[str, str, str]]:
    return {(found.subject, found.predicate, found.object) for found in triples(read(text))}


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("Maya works at Initech as a designer", ("Maya", "works at", "Initech")),
        ("The user lives in Porto", ("user", "lives in", "Porto")),
        ("Jonas is married to Priya", ("Jonas", "is married to", "Priya")),
        ("The production database is PostgreSQL 16", ("production database", "is", "PostgreSQL 16")),
        ("Maya hates olives", ("Maya", "dislikes", "olives")),
        ("Jonas manages Priya", ("Jonas", "manages", "Priya")),
        ("Maya adopted a dog", ("Maya", "adopted", "dog")),
        ("The user visited Oslo yesterday", ("user", "visited", "Oslo")),
        ("Jonas visited Oslo two years ago", ("Jonas", "visited", "Oslo")),
        ("Priya's sister teaches yoga", ("Priya's sister", "teaches", "yoga")),
        ("Maya was recently hired by Initech", ("Maya", "was hired by", "Initech")),
        ("Priya is learning Spanish", ("Priya", "is learning", "Spanish")),
        ("Jonas bought a red bicycle for his daughter", ("Jonas", "bought", "red bicycle")),
        ("Maya joined a rowing club called Northern Oars", ("Maya", "joined", "rowing club")),
        ("Jonas uses a whiteboard, pens, and a kettle", ("Jonas", "uses", "whiteboard")),
        ("Maya watched The Lord of the Rings", ("Maya", "watched", "Lord of the Rings")),
        ('Jonas to Maya: "I love coffee, too."', ("Jonas", "likes", "coffee")),
        ('Maya: "We have a target of 16,000 yen."', ("Maya", "has", "target of 16,000 yen")),
        ("The user's name is Ola Berg and the kiln is hot", ("user", "has the name", "Ola Berg")),
        ('Jonas delivered "Kiln Guide"', ("Jonas", "delivered", "Kiln Guide")),
        ("Maya is calling from Oslo", ("Maya", "is calling from", "Oslo")),
        ("Maya joined the choir and sang in Oslo", ("Maya", "joined", "choir")),
        ("Maya is a cook, and so is Jonas", ("Maya", "is a", "cook")),
        ("Maya lived in Oslo as a child", ("Maya", "lived in", "Oslo")),
    ],
)
def test_what_is_said_outright_is_a_relation(text: str, relation: tuple[str, str, str]) -> None:
    assert relation in relations(text)


@pytest.mark.parametrize(
    "text",
    [
        "Maya does not work at Initech",
        "Maya never visited Rome",
        "Jonas no longer lives in Porto",
        "Maya used to play tennis",
        "Priya stopped liking sushi",
        "Does Maya play the violin?",
        "Maya might adopt a dog",
        "Maya hopes to visit Rome",
        "If Jonas joined Hooli, he would move",
        "Jonas plans a trip",
    ],
)
def test_what_is_denied_asked_wished_or_supposed_is_none(text: str) -> None:
    assert relations(text) == set()


@for_each(
    "text",
    [
        "Maya gave Jonas a book",
        "Jonas advised Priya to rest",
        "Priya thinks gardens are lovely",
        "Maya went hiking",
        "Maya is working on a challenging but lovely garden",
        "Maya likes the warm, soft bread",
        "Jonas explains how kettles work",
        "Priya's turtles enjoy the harbour",
        "Priya has had turtles for three years",
        "Priya tends to rest",
        "Jonas passed the agency interviews",
        "Maya's shop is doing great",
        "Jonas has been busy this week",
        "It works",
        "",
        "Jonas likes working with computers",
        "The user prefers flights that depart after 8 am",
        "Nate loves action and sci-fi movies",
        "Maya's job is pretty physically demanding",
        "Jonas was a big fan of the band",
        "We can have a big party",
        'Maya: "Things like checking reports are fun."',
        'Joanna: "Nature\'s always been my haven."',
        "Maya's sessions are whenever Jonas allows",
        'Ola Berg: "I\'m Ola, a glazier from Bergen."',
        'Maya likes the look of "From clay to glaze".',
        "Maya moved to config and kept the rest",
        "The kiln server blocks SA auth",
        "Jonas has raised a request for the new kiln",
        "Maya ran into a group of potters",
        "The ticket IDs are K-12 and K-13",
        "Maya added D:\\kiln\\backup.zip",
        "The harbour is like paradise",
        "Maya's shop is open",
        "Maya's brothers were interested in rowing",
        "Maya's favourite is a park with a pond",
        "Maya is 100% sure",
        "Maya is a bit nervous about the trip",
        "The trip is a one-week, cheap tour",
        'Maya: "I am a huge fan of it."',
        "The shortlist is Oslo, Faro, and Porto",
        "Jonas loves the color and texture",
        'Maya: "I love watching them play."',
        "Maya adopted her two years ago",
        "Maya finished the 6-month course",
        "Jonas uses drone and ground cameras",
        "Ola helps Maya stay focused",
        "Jonas settled on the 'Blue Glaze' method",
        "Maya is designing the kilns needed for the fair",
        'Jonas delivered "Kiln Tour: Part One"',
        "Maya named her Tilly",
        "Maya listened to a section where Jonas sang",
        "RV booking number: KILN-7",
        "Maya is swamped with the kids & work",
        "Maya very seldom uses a kiln",
        "Jonas hooked Maya up with a kiln",
        'Maya: "Course I\'m a poet."',
        'Jonas: "The only problem is I work in Oslo."',
        'Maya: "I like bands like Northern Oars."',
        'Maya: "We have like Oslo and Faro."',
        "Looks like the harbour",
    ],
)
def test_what_is_not_clear_is_none(text: str) -> None:
    assert relations(text) == set()


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("Maya works at Initech", ("person", "organisation")),
        ("The user lives in Porto", ("person", "place")),
        ("Jonas met Priya in Oslo", ("person", "person")),
        ("Priya's sister teaches yoga", ("person", "thing")),
        ("Maya's car needs repair every winter. Jonas has two children", ("person", "quantity")),
        ("The deadline is Friday", ("thing", "date")),
        ("The production database is PostgreSQL 16", ("thing", "thing")),
    ],
)
def test_both_ends_have_a_type(text: str, ends: tuple[str, str]) -> None:
    assert ends in {(found.subject_type, found.object_type) for found in triples(read(text))}


def test_a_frame_is_surer_than_a_clause_and_a_name_surer_than_a_noun() -> None:
    def sure(text: str) -> float:
        return triples(read(text))[0].confidence

    assert sure("Maya lives in Oslo") == CLAIMED > sure("Maya visited Oslo") > sure("Maya adopted a dog") > 0


def test_an_object_ends_where_something_else_is_said() -> None:
    assert ("Maya", "lives in", "Oslo") in relations("Maya lives in Oslo with her two cats because rents are low")


@given(st.text(max_size=300))
def test_any_text_has_a_bounded_number_of_short_relations(text: str) -> None:
    found = triples(read(text))
    assert len(found) == len(set(found)) <= MAX_RELATIONS
    assert all(relation.subject and relation.predicate and relation.object for relation in found)
    assert all(len(relation.object.split()) <= 5 for relation in found)


@given(
    st.lists(
        st.sampled_from("Maya Jonas the user 's visited adopted a dog Oslo and in to help 16 , .".split()), max_size=12
    )
)
def test_no_heap_of_words_breaks_the_grammar(words: list[str]) -> None:
    for relation in triples(read(" ".join(words))):
        assert 0 < relation.confidence <= 1
