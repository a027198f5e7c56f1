"""Decisions: what is chosen or accepted, by the words of the proposal; nothing is decided against a person's no."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave_server.domain.events import Event
from slowwave_server.domain.extraction.by_agents import statements
from slowwave_server.domain.extraction.decisions import accepts, agreed, chosen_option, lets
from slowwave_server.domain.extraction.speech import speeches

CHOICES = "Three ways to plate the dish:\n1. Round plate with Thai basil\n2. Slate with lemon zest\n3. Deep bowl\n"


@pytest.mark.parametrize(
    "said", ["Let's go with option 2.", "Option 2.", "I'll take the second one.", "Number 2, please!"]
)
def test_an_option_is_chosen_by_its_number(said: str) -> None:
    assert chosen_option(said, CHOICES) == "Slate with lemon zest"


@pytest.mark.parametrize(
    "said",
    [
        "I don't want option 2.",
        "Anything but not option 2.",
        "What is option 2?",
        "Tell me more about option 2.",
        "Is the second option cheaper?",
        "If option 2 is cheap, we can talk.",
        "Let's skip option 2.",
        "Option 9.",
        "Round plate it is.",
        "",
    ],
)
def test_no_option_is_chosen_by_a_question_or_a_no(said: str) -> None:
    assert chosen_option(said, CHOICES) is None


@pytest.mark.parametrize(
    ("said", "what"),
    [
        ("Let's use Godot for the prototype.", "use Godot for the prototype"),
        ("Okay, let's move the hearing to 4 June.", "move the hearing to 4 June"),
        ("Great, let's book it at Trattoria Sole!", "book it at Trattoria Sole"),
    ],
)
def test_lets_names_what_is_decided(said: str, what: str) -> None:
    assert lets(said) == what


@pytest.mark.parametrize("said", ["Let's not use Godot.", "Let's use Godot?", "Let's see.", "We use Godot.", ""])
def test_lets_decides_nothing_if_negated_or_asked(said: str) -> None:
    assert lets(said) is None


@pytest.mark.parametrize("parts", [["Yes, that's perfect."], ["Sounds good!", "I have told the class."], ["Agreed."]])
def test_a_plain_yes_accepts(parts: list[str]) -> None:
    assert accepts(parts)


@pytest.mark.parametrize(
    "parts",
    [
        [],
        ["No."],
        ["Absolutely not."],
        ["Yes, but I need the vegan menu instead."],
        ["Perfect.", "No, wait, that's wrong."],
        ["That is not acceptable."],
        ["What does it cost?"],
    ],
)
def test_a_no_or_a_but_accepts_nothing(parts: list[str]) -> None:
    assert not accepts(parts)


def test_a_yes_agrees_to_the_outline_that_was_handed_over() -> None:
    before = "## Revision Plan for Chemistry\n- Monday: acids, chapter 4\n- Tuesday: bases, chapter 5\n"
    found = agreed(before)
    assert found is not None
    assert "Revision Plan for Chemistry" in found
    assert "chapter 4" in found


def test_a_yes_to_a_menu_agrees_to_nothing() -> None:
    guides = "## Guides for the Corvara Trip\n\n- Guide: Ida Holm\n- Guide: Petr Novak\n- Guide: Kim Lee\n"
    assert agreed(guides) is None
    assert agreed(guides.replace("Guide: Kim", "Price: 90 euros for Kim")) is not None
    assert agreed(guides.replace("Guides for", "Options for").replace("- Guide: ", "- ")) is None


def test_a_yes_to_small_talk_agrees_to_nothing() -> None:
    assert agreed("It was nice to meet you.") is None
    assert agreed("") is None


def test_quotes_and_identifiers_of_a_plan_stay() -> None:
    before = (
        "## Rollout Plan 7\n- Run `our-app.sh` with region us-east-1 and 3 pods\n"
        '- Show "Trust your gut" in 2 places of your shop\n'
    )
    found = agreed(before)
    assert found is not None
    for kept in ("our-app.sh", "us-east-1", '"Trust your gut"'):
        assert kept in found
    assert "their shop" in found


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_talk_is_decided_without_an_error(said: str, before: str) -> None:
    assert chosen_option(said, before) == chosen_option(said, before)
    assert lets(said) == lets(said)
    assert agreed(before) == agreed(before)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("junk", ["option 1 ", "ok, ", "let's use ", "1. a\n", "we could ", '"', "`", "you ", "not "])
def test_hostile_talk_is_decided_in_bounded_time(junk: str) -> None:
    text = junk * (100_000 // len(junk))
    chosen_option(text, text)
    lets(text)
    agreed(text)


@pytest.mark.parametrize(
    "parts",
    [
        ["Lets go into more detail.", "Which pumps are needed?"],
        ["That's a tough one yes?", "Let's do one that is less tough."],
        ["Let's try something else."],
    ],
)
def test_a_person_who_moves_on_accepts_nothing(parts: list[str]) -> None:
    assert not accepts(parts)


def test_nobody_agrees_on_bare_headings() -> None:
    headings = "## Harbour plan of the Bari crew\n- Security Needs\n- Progressive Growth\n- Performance Benefits\n"
    figures = "## Harbour plan of the Bari crew\n- Pumps: 40 by May\n- Crew: 12 people\n"
    assert agreed(headings) is None
    assert agreed(figures) is not None


EXPLAINED = (
    "## Saints of the Bari crew\n- Nikolai of Myra: the sailors\n- Elmo of Formia: the fire\n- Brendan: the sea\n"
)
PRICED = "## Ferries of the Bari crew\n- Patras: 40 euros\n- Durres: 55 euros\n- Corfu: 62 euros\n"
BARE = "## Harbour plan of the Bari crew\n- Security Needs\n- Progressive Growth\n- Performance Benefits\n"


@pytest.mark.parametrize(
    ("asked", "answer", "delivers"),
    [
        ("Why do sailors pray to so many saints of Bari?", EXPLAINED, False),
        ("so how does my crew pray, are there saints that help", EXPLAINED, False),
        ("Can you write a list of the saints of my Bari crew?", EXPLAINED, True),
        ("What are the prices of my ferries from Bari?", PRICED, True),
        ("Write a harbour plan for my Bari crew.", BARE, False),
    ],
)
def test_an_agents_explanation_and_bare_headings_are_no_delivery(asked: str, answer: str, delivers: bool) -> None:
    at = datetime(2026, 5, 8, 13, 56, tzinfo=UTC)
    turns = (Event(1, "user", "user", asked, at), Event(2, "assistant", "assistant", answer, at))
    *_, handing = speeches(turns, (), "helper")
    assert bool(statements(handing, answer, lambda: True)) == delivers
