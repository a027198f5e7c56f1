"""Statements that stand alone: who, what and something specific; nothing that needs the talk around it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave_server.domain.extraction.standalone import content_words, flaw, is_unreal
from tests.support.tables import for_each

MAYA = ("Maya",)


@pytest.mark.parametrize(
    "content",
    [
        "Maya's clinic opens at eight on weekdays.",
        "Maya teaches chemistry to year nine in Porto.",
        "Maya's landlord raised the rent to 900 euros.",
        "Maya runs Postgres 18 on three servers in Frankfurt.",
        "Maya is the lead designer of Frost Keep.",
        "Maya's memory is worse since the accident in Leeds.",
        "Maya knows how long a winter in Leeds can be.",
    ],
)
def test_a_specific_statement_has_no_flaw(content: str) -> None:
    assert flaw(content, names=MAYA) is None


@pytest.mark.parametrize(
    "content",
    [
        "",
        "Maya.",
        "Maya did it.",
        "It was on the second shelf in the cellar.",
        "Maya needs a list of cheap hotels near the court.",
        "Can you show Maya the invoice of March?",
        "Maya appreciates the quick summary of the case.",
        "Maya signed the lease with [Landlord's Name] last year.",
        "Maya cooked the soup for the guests and then …",
    ],
)
def test_what_points_away_asks_or_reacts_has_a_flaw(content: str) -> None:
    assert flaw(content, names=MAYA) is not None


@for_each(
    ("content", "reason"),
    [
        ("It was Maya who sold the Fiat Punto in Leeds.", "dangling reference"),
        ("Maya drove the van and has it now.", "points away"),
        ("Maya rents [Name of the flat] in Leeds.", "template"),
        ("Just Maya and the Leeds office.", "fragment"),
        ("Maya loves how the Leeds team paints fences.", "praise"),
        ("Family gave Maya the house in Leeds.", "wisdom"),
        ("Maya set {port} in the Leeds config.", "code"),
        ("Is Maya paid in Leeds on Friday.", "question"),
        ("Yeah Maya sold the Fiat Punto.", "continuation"),
        ("Maya bets on horse 7 in Leeds.", "feeling"),
        ("Maya distinctly remembers two rooms in Leeds.", "about what is remembered"),
        ("Maya has checked Leeds, and your notes are wrong.", "about what is remembered"),
        ("Maya says: we already discussed this Leeds office.", "about what is remembered"),
        ("Maya moved the 9 o'clock lesson, change it to.", "unfinished"),
        ("Maya rents two rooms in Leeds because.", "unfinished"),
        ("Let me move Maya to Leeds.", "announcement"),
        ("Please move Maya to the Leeds office.", "request"),
        ("Maya says the Leeds plan makes sense.", "reaction"),
        ("The issue is Maya's router in Leeds.", "progress"),
        ("Maya is exhausted after the Leeds run.", "transient"),
        ("Maya doesn't recall the Leeds address.", "lack"),
        ("You said Maya lives in Leeds.", "about the conversation"),
        ("Maya feels hopeful in Leeds today.", "mood"),
        ("Maya's router in Leeds does not work.", "trouble of the moment"),
        ("Rename Maya's folder in Leeds.", "imperative"),
        ("Maya has just reviewed the Leeds contract.", "progress"),
        ("Maya met your uncle in Leeds.", "addresses somebody"),
        ("Maya painted that section green.", "dangling reference"),
    ],
)
def test_each_pattern_names_its_flaw(content: str, reason: str) -> None:
    assert flaw(content, names=MAYA) == reason


def test_a_name_alone_is_no_content() -> None:
    assert flaw("Maya Maya Maya.", names=MAYA, at_work=False) == "too little content"


def test_among_people_a_short_fact_is_enough() -> None:
    assert flaw("Maya is vegetarian.", names=MAYA, at_work=False) is None


def test_content_words_leave_out_function_words() -> None:
    assert content_words("The nurse and I have been at ward 7.") == ["nurse", "ward", "7"]
    assert content_words("") == content_words("it is what it is") == []


def test_content_words_of_any_script_and_of_identifiers_count() -> None:
    assert "us-east-1" in content_words("Pods run in us-east-1.")
    assert content_words("Größe Ελλάδα") == ["größe", "ελλάδα"]


@pytest.mark.parametrize("said", ["I would sue them.", "Maybe the boss dies twice.", "If it rains, class is off."])
def test_a_guess_or_condition_is_unreal(said: str) -> None:
    assert is_unreal(said)


@pytest.mark.parametrize("said", ["I sued them in May.", "The boss dies twice.", ""])
def test_a_plain_statement_is_real(said: str) -> None:
    assert not is_unreal(said)


@given(st.text(max_size=300), st.booleans())
def test_any_statement_is_judged_the_same_way_twice(text: str, at_work: bool) -> None:
    assert flaw(text, names=MAYA, at_work=at_work) == flaw(text, names=MAYA, at_work=at_work)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "junk", ["a ", "is ", "it ", "[A", "<A", "_", "for ", "what ", "very ", "needs a ", "is so ", "I have "]
)
def test_hostile_statements_are_judged_in_bounded_time(junk: str) -> None:
    text = junk * (100_000 // len(junk)) + "x"
    flaw(text, names=MAYA)
    is_unreal(text)
