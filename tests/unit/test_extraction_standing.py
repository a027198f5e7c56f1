"""Standing instructions: what holds every time is one; what is asked once, or said of oneself, is none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave_server.domain.extraction.standing import is_instruction, told
from tests.support.tables import for_each


@pytest.mark.parametrize(
    "said",
    [
        "Always cite the paragraph of the statute.",
        "Never page the on-call engineer before seven.",
        "From now on, answer in Portuguese.",
        "Whenever I send a recipe, use grams instead of ounces.",
        "Don't ever include patients' names.",
        "No emojis in commit messages, no exceptions.",
        "By default, round amounts to two decimals.",
        "Please always escalate refunds above 500 euros to Lena.",
        "You must never delete a save file.",
        "Whenever I send a recipe, convert it to metric.",
        "When I paste a log, highlight the errors.",
        "Every time you draft an email, attach the team's signature.",
        "Each time a customer complains, escalate it to Ana.",
        "Translate every quote into Polish whenever I share one.",
        "For each invoice I forward, extract the total.",
        "When you write code, add tests.",
        "Any time there's an outage, notify the on-call engineer.",
        "Stop cc'ing Bob on invoices.",
        "Stop converting my recipes.",
    ],
)
def test_what_holds_every_time_is_an_instruction(said: str) -> None:
    assert is_instruction(said)


@for_each(
    "said",
    [
        "",
        "I always bake bread on Sundays.",
        "We have never had an outage in May.",
        "Should I always cite the paragraph?",
        "Never mind the last ticket.",
        "Don't worry about the exam.",
        "Send the invoice to Lena tomorrow.",
        "The cellar is always cold.",
        "My cat never sleeps.",
        "When life gives you lemons, make lemonade.",
        "Whenever life gets hard, keep going.",
        "When you arrive, call me.",
        "If it rains, take an umbrella.",
        "When I get home, remind me to water the plants.",
        "If you can, send me the list.",
        "When I send the file tomorrow, check it.",
        "When I was young, I wrote poems.",
        "If the build fails, check the logs.",
        "Whenever you feel sad, take a walk.",
        "Every time I see her, I smile.",
        "When in doubt, leave it out.",
        "Never give up.",
        "Stop wasting my time.",
        "Stop asking and list the next steps.",
    ],
)
def test_a_habit_a_question_or_a_single_task_is_none(said: str) -> None:
    assert not is_instruction(said)


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("Never push to main.", "Maya instructs: never push to main."),
        ("Okay, so please always reply in Dutch!", "Maya instructs: always reply in Dutch."),
        ("No, never use Comic Sans.", "Maya instructs: never use Comic Sans."),
        (
            "No emojis in commit messages, no exceptions.",
            "Maya instructs: no emojis in commit messages, no exceptions.",
        ),
        ("Jonas, you must always cc me.", "Maya instructs: Jonas, you must always cc me."),
        ("SQL must always be upper case.", "Maya instructs: SQL must always be upper case."),
    ],
)
def test_an_instruction_keeps_its_negation_and_names(said: str, line: str) -> None:
    assert told(said, "Maya") == line


@given(st.text(max_size=300))
def test_any_text_is_decided_the_same_way_twice(text: str) -> None:
    assert is_instruction(text) == is_instruction(text)
    assert told(text, "Maya").startswith("Maya instructs: ")


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "junk", ["always ", "whenever i ", "ok, ", "use a ", "you ", "for all a", "no, ", "from now on "]
)
def test_hostile_sentences_are_decided_in_bounded_time(junk: str) -> None:
    text = junk * (100_000 // len(junk))
    is_instruction(text)
    told(text, "Maya")
