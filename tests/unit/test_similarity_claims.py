"""What statements are read to claim: subject, attribute, value, and whether another value would contradict."""

import pytest

from slowwave_server.domain.similarity import read
from slowwave_server.domain.similarity.claims import excludes
from tests.support.tables import for_each

CLAIMS = [
    ("Maya works at Northwind", "maya", "employer", "northwind", True),
    ("Maya works at Northwind as a designer", "maya", "occupation", "design", True),
    ("Maya is a designer at Northwind", "maya", "employer", "northwind", True),
    ("I live in Oslo.", "user", "lives_in", "oslo", True),
    ("My home is in Oslo", "user", "lives_in", "oslo", True),
    ("Jonas moved to Bergen", "jonas", "lives_in", "bergen", True),
    ("Dr. Lindqvist lives in Oslo", "lindqvist", "lives_in", "oslo", True),
    ("Jonas is 34 years old", "jonas", "age", "34", True),
    ("Jonas's age is 34", "jonas", "age", "34", True),
    ("Jonas was born in 1990", "jonas", "birth year", "1990", True),
    ("Priya has two children", "priya", "number of child", "2", True),
    ("Priya is the mother of two", "priya", "number of child", "2", True),
    ("Maya is married to Jonas", "maya", "spouse", "jonas", True),
    ("Maya's husband is Jonas", "maya", "spouse", "jonas", True),
    ("Maya's favourite colour is green", "maya", "favourite color", "green", True),
    ("The user prefers dark mode", "user", "prefers:mode", "dark mode", True),
    ("The user prefers tea", "user", "prefers:portion", "tea", True),
    ("Maya likes sushi", "maya", "likes:sushi", "yes", True),
    ("Maya doesn't like sushi", "maya", "likes:sushi", "no", True),
    ("Maya can't stand sushi", "maya", "likes:sushi", "no", True),
    ("Priya is allergic to nuts", "priya", "allergy:nut", "yes", True),
    ("Priya has a nut allergy", "priya", "allergy:nut", "yes", True),
    ("Jonas speaks French", "jonas", "speaks:french", "yes", True),
    ("Jonas no longer works at Northwind", "jonas", "employer:northwind", "no", True),
    ("Maya's dog is called Bruno", "maya", "dog name", "bruno", True),
    ("Maya has a dog named Bruno", "maya", "dog name", "bruno", True),
    ("The deadline is March 3", "deadlin", "is", "03-03", True),
    ("The deadline of the report is Friday", "report", "deadline", "friday", True),
    ("The report is due on Friday", "report", "deadline", "friday", True),
    ("The report deadline is Friday", "report", "deadline", "friday", True),
    ("The importer is written in Rust", "import", "uses:language", "rust", True),
    ("Jonas weighs 70 kg", "jonas", "weight", "70 kilogram", True),
    ("Jonas's weight is 70kg", "jonas", "weight", "70 kilogram", True),
    ("The standup is at 9am", "standup", "when", "09:00", True),
    ("The standup was moved to 10:30", "standup", "when", "10:30", True),
    ("The shop uses MySQL for orders", "shop", "uses for order", "mysql", True),
    ("The service uses MySQL", "servic", "uses:database", "mysql", True),
    ("The user can spend $4,000 on the trip", "user", "budget trip", "$4000", True),
    ("Maya's hobby is chess", "maya", "hobbi:chess", "yes", True),
    ("Priya is a nurse", "priya", "occupation", "nurs", True),
    ("Priya is a mother", "priya", "is:mother", "yes", True),
]


@for_each(("text", "subject", "attribute", "value", "single"), CLAIMS)
def test_a_frame_is_read(text: str, subject: str, attribute: str, value: str, single: bool) -> None:
    told = {(claim.subject, claim.attribute, claim.value, claim.single) for claim in read(text).claims}
    assert (subject, attribute, value, single) in told


@pytest.mark.parametrize(
    "text",
    [
        "A man is running on the road",
        "There is no man on the road",
        "If Maya works at Northwind, she will move",
        "Losing the job was hard",
        "",
        "...",
    ],
)
def test_nobody_certain_and_nothing_certain_is_no_claim(text: str) -> None:
    assert read(text).claims == ()


@pytest.mark.parametrize(
    "text",
    [
        "Maya's goal is to finish the thesis",
        "Maya's friends are coming to dinner",
        "Maya's dream is a house by the sea",
        "The team uses Python",
    ],
)
def test_what_people_have_several_of_contradicts_nothing(text: str) -> None:
    assert not [claim for claim in read(text).claims if claim.single and claim.value not in {"yes", "no"}]


def test_a_triple_keeps_the_words_of_the_text() -> None:
    claim = read("Maya works at Northwind").claims[0]
    told = (claim.subject_text, claim.predicate, claim.object_text, claim.subject_type, claim.object_type)
    assert told == ("Maya", "works at", "Northwind", "person", "organisation")


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("Maya lives in Oslo", "Maya lives in Bergen", True),
        ("Maya lives in Oslo", "Maya Lind lives in Bergen", True),
        ("Maya lives in Oslo", "Maya lives in Oslo Norway", False),
        ("Maya lives in Oslo", "Jonas lives in Bergen", False),
        ("The user prefers tea", "The user prefers coffee", True),
        ("The user prefers tea", "The user prefers jazz", False),
        ("Maya likes sushi", "Maya hates sushi", True),
    ],
)
def test_values_exclude_each_other_where_one_holds_at_a_time(a: str, b: str, expected: bool) -> None:
    one, other = read(a).claims[0], read(b).claims[0]
    assert excludes(one, other) == excludes(other, one) == expected


@pytest.mark.parametrize(
    ("text", "quantities", "dates"),
    [
        ("Jonas has two dogs and 14 hens", {"2", "14"}, set()),
        ("It costs $4,000 or 4k", {"$4000", "4000"}, set()),
        ("From 9am to 17:30 on May 5th", set(), {"09:00", "17:30", "05-05"}),
        ("Since 2019, on Tuesdays", set(), {"2019", "tuesday"}),
        ("Version 16.2.1 on 2026-03-05", {"16.2.1"}, {"2026-03-05"}),
    ],
)
def test_numbers_and_dates_have_one_spelling(text: str, quantities: set[str], dates: set[str]) -> None:
    assert (set(read(text).quantities), set(read(text).dates)) == (quantities, dates)


@pytest.mark.parametrize(
    ("text", "negated"),
    [
        ("Maya hasn't moved", True),
        ("Nobody came", True),
        ("Maya stopped smoking", True),
        ("Maya used to smoke", True),
        ("Maya is used to noise", False),
        ("Maya drinks tea without sugar", True),
        ("Maya likes not only tea", False),
        ("Maya can't wait to see Oslo", False),
        ("Maya lacks a visa", True),
        ("Nora notes knots", False),
    ],
)
def test_denial_is_seen_in_its_many_forms(text: str, negated: bool) -> None:
    assert read(text).negated is negated


def test_curly_apostrophes_are_apostrophes() -> None:
    curly = "Maya\N{RIGHT SINGLE QUOTATION MARK}s dog isn\N{RIGHT SINGLE QUOTATION MARK}t called Bruno"
    assert read(curly).claims == read(curly.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")).claims


def test_a_former_home_is_no_present_one() -> None:
    assert read("Maya lived in Oslo for two years").claims == ()
    assert [claim.value for claim in read("Maya has lived in Oslo for two years").claims] == ["oslo 2 year"]


def test_the_first_word_of_each_sentence_is_no_name() -> None:
    assert read("Maya rested. Getting up was hard! Sounds bad. Dr. Mark left.").names == {"maya", "mark"}
