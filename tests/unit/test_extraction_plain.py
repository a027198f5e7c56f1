"""Plain facts, which a person tells an agent in a turn of their own, become memories whatever a judge says of them."""

from datetime import UTC, datetime, timedelta

import pytest

from slowwave_server.domain.candidates import ExtractionContext, Window
from slowwave_server.domain.events import Event
from slowwave_server.domain.extraction import RulesExtractor
from slowwave_server.domain.extraction.plain_facts import plain_facts
from tests.support.judging import Judge

AT = datetime(2026, 5, 8, 13, 56, tzinfo=UTC)


def kept(text: str, *, useful: float, answer: str = "Okay, noted.") -> list[str]:
    events = [Event(1, "user", "user", text, AT)]
    if answer:
        events.append(Event(2, "assistant", "assistant", answer, AT + timedelta(minutes=1)))
    extractor = RulesExtractor(Judge(lambda _: useful))
    return [
        one.content
        for one in extractor.extract(Window(tuple(events)), ExtractionContext("coder", "UTC"), AT).candidates
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Entry fee for adults: 14 EUR.",
        "Billing contact for the fair: Ada Berg",
        "Olga is on call for search this week.",
        "The photo server listens on port 7000.",
        "Bumped the mail queue to 9 workers after the sale.",
        "prod was upgraded to 2.4 tonight",
        "From next month the gym costs 45 euros.",
        "The report must be in by 9 June.",
        "Clubs get a discount of 20 percent.",
        "We're on the Harbour plan.",
        "Harbour now belongs to Mei.",
        "Guess what, Olga is already a 30.",
        "I can hold a plank for 90 seconds.",
        "Olga eats fish again.",
        "Opposing counsel: Olga Ros",
        "Paper recycling is collected on Thursday.",
        "Recycling is collected on Thursday.",
        "Change my payment method to bank transfer.",
    ],
)
@pytest.mark.parametrize("answer", ["Okay, noted.", ""])
def test_plain_fact_is_kept_with_little_usefulness(text: str, answer: str) -> None:
    assert len(kept(text, useful=0.15, answer=answer)) == 1


@pytest.mark.parametrize("text", ["There are nine geese on our meadow.", "With the new pair we're up to nine geese."])
def test_statement_said_to_nobody_is_kept_if_useful(text: str) -> None:
    assert kept(text, useful=0.45, answer="") == [f'The user: "{text}"']
    assert not kept(text, useful=0.35, answer="")
    assert not kept(text, useful=0.45)


@pytest.mark.parametrize("text", ["Sounds like geese on the meadow.", "These geese stand in the meadow."])
def test_guess_or_unnamed_thing_said_to_nobody_is_dropped(text: str) -> None:
    assert not kept(text, useful=0.6, answer="")


@pytest.mark.parametrize("text", ["The printer in the hall is broken.", "The brace came off today."])
def test_state_without_a_value_needs_more_usefulness(text: str) -> None:
    assert kept(text, useful=0.15)
    assert ("came" in text) == bool(kept(text, useful=0.08))


def test_contact_is_kept_even_if_the_judge_finds_it_useless() -> None:
    assert kept("You can reach me on 555-0199.", useful=0.01)
    assert not kept("The photo server listens on port 7000.", useful=0.01)


@pytest.mark.parametrize(
    "text",
    [
        "Now prepare a table with 5 rows",
        "Rewrite this title: 12 ways to save",
        "list the 5 questions",
        "I need to change the stop in Rome. The inn isn't right for 4 people.",
        "A layer is a set of 12 units.",
        "I think the photo server listens on port 7000.",
        "If the photo server listens on port 7000, it breaks.",
        "Does the photo server listen on port 7000?",
        "detailed note on the 4 kinds of research",
        "This is better than the 12 others.",
        "Thanks, that helps with the 3 tests.",
    ],
)
def test_request_guess_or_reaction_is_no_plain_fact(text: str) -> None:
    assert not plain_facts(text)


def test_plain_fact_in_a_longer_turn_is_weighed_like_other_statements() -> None:
    text = "The photo server listens on port 7000. It has a queue. It has a cache. It is fine."
    assert not kept(text, useful=0.15)
