"""What a day tells of requests: each with what became of it, in the words that carry the answer, and nothing twice."""

import pytest

from slowwave_server.domain.events import EventKind
from slowwave_server.domain.summaries.answers import answer
from slowwave_server.domain.summaries.refusals import refused_in, refuses
from slowwave_server.domain.summaries.stance import stance_of
from tests.unit.test_day_endings import called, ended, lines, texts

USER: EventKind = "user"
AGENT: EventKind = "assistant"


@pytest.mark.parametrize(
    "said",
    [
        "I couldn't help but notice the lantern in your window.",
        "The tracks are odd for badgers, so we can't be certain yet.",
        "This draft does not cover every chapter that you named.",
        "The balance of a voucher may not be refundable in some cases.",
        "Since the ticket cannot be refunded, please let me know what else you need.",
        '"I cannot let you pass," says the ferryman.',
    ],
)
def test_hedges_idioms_and_stories_refuse_nothing(said: str) -> None:
    assert not refuses(said)


def test_a_refusal_stands_early_and_between_no_quotes() -> None:
    said = "I cannot lend you the boat."
    assert refused_in(f"Sorry. {said}", said)
    assert not refused_in(f'The ferryman sighs. "Go home. {said}"', said)
    assert not refused_in(f"{'The river is wide. ' * 40}{said}", said)


@pytest.mark.parametrize(
    ("text", "asked", "told"),
    [
        ("Pear.", "Pear or plum?", "Pear."),
        ("Acknowledged.", "Do you acknowledge?", "Acknowledged."),
        (
            "That's a great question! Your bag allowance is 2 bags in economy and 3 in business.",
            "How many bags may I take?",
            "Your bag allowance is 2 bags in economy and 3 in business.",
        ),
        (
            "Sure, here's a packing list for Bergen:\n1. Raincoat: it rains a lot there\n2. Boots\n3. Camera",
            "Write a packing list for Bergen",
            "Sure, here's a packing list for Bergen: Raincoat: it rains a lot there; Boots; Camera",
        ),
        (
            (
                "Here are the ferries:\n- Night ferry at 21:00 for $90\n- Day ferry at 08:00 for $60\n\n"
                "The cheapest ferry to Bergen is the day ferry for $60."
            ),
            "Which ferry to Bergen is the cheapest?",
            "The cheapest ferry to Bergen is the day ferry for $60.",
        ),
        (
            "| Ferry | Price |\n|---|---|\n| Night | 90 |\n\nNote: prices may change.",
            "As a table",
            "table of Ferry, Price",
        ),
        ("That's wonderful! I'm glad that you like it.", "I like it.", None),
    ],
)
def test_the_words_that_carry_an_answer(text: str, asked: str, told: str | None) -> None:
    if told is not None and "cheapest" in told:
        text = text.replace("Here are the ferries:", "I looked at both.")
    assert answer(text, asked) == told


def test_each_request_has_its_outcome() -> None:
    found = lines(
        (USER, "What does the night ferry to Bergen cost?"),
        (AGENT, "The night ferry to Bergen costs $90."),
        (USER, "Can you lend me a tent?"),
        (AGENT, "I'm sorry, but I cannot lend you equipment."),
        (USER, "Which month is the driest in Bergen?"),
        (AGENT, "May is the driest month in Bergen."),
    )
    assert texts(found, "wanted") == [
        (
            'The user asked: "What does the night ferry to Bergen cost?" '
            'helper answered: "The night ferry to Bergen costs $90."'
        ),
        ('The user asked: "Can you lend me a tent?" helper refused: "I\'m sorry, but I cannot lend you equipment."'),
    ]
    assert texts(found, "ended") == [
        (
            'The user asked last: "Which month is the driest in Bergen?" '
            'helper answered: "May is the driest month in Bergen."'
        )
    ]
    assert len(found) == 3


def test_what_a_payment_changed_is_told_and_not_what_was_paid_before() -> None:
    found = lines(
        (USER, "Please put both of us into cabins on reservation F4711."),
        *called('get_reservation(reservation_id="F4711")', 'reservation_id: F4711\npayments: [{"amount": 498}]'),
        (AGENT, "That costs $600. Shall I proceed?"),
        (USER, "Yes, please proceed."),
        *called(
            'update_reservation(reservation_id="F4711", cabin="inside", paid_bags=0)',
            'reservation_id: F4711\ncabin: deck\ntotal_bags: 3\npayments: [{"amount": 498}, {"amount": 1200}]',
        ),
        (AGENT, "Reservation F4711 has been updated, and your payment of $600 has been processed."),
    )
    (told,) = texts(found, "ended")
    assert "helper updated reservation F4711: cabin inside; charged 1200." in told
    assert 'of $600 has been processed." The record shows: charged 1200.' in told
    assert "498" not in " ".join(line.text for line in found)
    assert "deck" not in told


def test_bags_that_cost_extra_are_told_of_a_booking() -> None:
    found = lines(
        (USER, "Book the ferry for us."),
        *called(
            'book_ferry(ferry="HF12", total_bags=3, nonfree_bags=1, insurance="no")',
            'ferry_id: F99\npayments: [{"amount": 250}, {"amount": 55}]',
        ),
        (AGENT, "You are on the ferry."),
    )
    (told,) = texts(found, "ended")
    assert "total bags 3, nonfree bags 1" in told
    assert "charged 250 and 55 (305 in all)" in told
    assert "insurance" not in told


@pytest.mark.parametrize(
    "said",
    [
        "Let's make this boat move!",
        "Let's make this happen.",
        "Let's do this!",
        "Oh, that's a good question!",
        "Yes, but I need to know the price first.",
        "The night ferry and the day ferry don't sound quite right.",
    ],
)
def test_slogans_and_reserved_answers_agree_to_nothing(said: str) -> None:
    assert stance_of([said]) is None
    found = lines((AGENT, "Would you like the night ferry?"), (USER, said), (AGENT, "The night ferry costs $90."))
    assert not texts(found, "decided")


def test_an_answer_to_a_question_is_no_agreement() -> None:
    told = ended(
        (USER, "My ferry was late."),
        (AGENT, "I'm sorry to hear that. Could you please provide your user ID?"),
        (USER, "Sure, my user ID is jonas_4711."),
        (AGENT, "Thank you, I found the late ferry HF12 of 3 May."),
    )
    assert "agreed" not in told


def test_what_else_was_said_claims_no_order() -> None:
    told = ended(
        (USER, "Can you plan a weekend?"),
        (AGENT, "Would you like to start with the ferry?"),
        (USER, "I'll pack my boots and the big tent tonight. Yes, let's start with the ferry to Bergen."),
        (AGENT, "The ferry leaves at 21:00."),
    )
    assert "Next" not in told
    assert 'The user also said: "I\'ll pack my boots and the big tent tonight."' in told


def test_words_about_both_are_quoted() -> None:
    found = lines(
        (USER, "You are to assume that you are an expert on ferries. I'll hit you up with the figures."),
        (USER, "Can you give me the timetable of the ferries?"),
        (AGENT, "The first ferry leaves at 08:00."),
        (USER, "Which one is the last?"),
        (AGENT, "The last one leaves at 21:00."),
    )
    told = " ".join(line.text for line in found)
    assert "helper is to assume" not in told
    assert "hit helper up" not in told
    assert 'The user asked: "Can you give me the timetable of the ferries?"' in told


def test_a_story_is_told_as_a_story() -> None:
    found = lines(
        (USER, "I go into the inn and ask for a room."),
        (
            AGENT,
            'As you enter, you see a tall woman. You hear music. "I cannot let you stay," she says. "Who are you?"',
        ),
        (USER, "I want gold and I look around the inn for a chest."),
        (AGENT, 'You look around and you find a chest. The woman smiles: "Take it and leave."'),
    )
    assert texts(found, "ended") == [
        (
            "In the role or story that they play, the user said last: "
            '"I want gold. I look around the inn for a chest." '
            "helper went on: \"You look around and you find a chest. The woman smiles: 'Take it and leave.'\""
        )
    ]
    assert not [line for line in found if "gold" in line.text and line.facet != "ended"]
    assert not [line for line in found if "refused" in line.text]


def test_pasted_pages_and_forms_are_not_the_persons_words() -> None:
    page = "Our firm builds boats. We help owners in every harbour. Call us for a free quote on your boat. " * 12
    found = lines(
        (USER, f"I will paste the page of the firm now.\n\n{page}"),
        (AGENT, "Acknowledged."),
    )
    told = " ".join(line.text for line in found)
    assert "free quote" not in told
    assert 'helper answered: "Acknowledged."' in told


def test_a_list_is_told_rather_than_a_condition_below_it() -> None:
    text = "You may take:\n- Economy: 2 bags\n- Business: 3 bags\n\nIf you take more bags than this, each costs $50."
    assert answer(text, "How many bags may I take?") == "You may take: Economy: 2 bags; Business: 3 bags"


def test_praise_without_a_proposal_agrees_to_nothing() -> None:
    told = ended(
        (USER, "Which sights of Bergen are near the harbour?"),
        (AGENT, "The fish market and the old wharf are near the harbour."),
        (USER, "The old wharf sounds great for the rainy days in Bergen."),
        (AGENT, "The old wharf is open until nine."),
    )
    assert "agreed" not in told


def test_short_turns_are_quoted_whole() -> None:
    told = ended(
        (USER, "Write the outline of my report on the river."),
        (AGENT, "I. The spring\nII. The delta"),
        (USER, "II. B."),
        (AGENT, "The delta has three arms, of which the northern one is the deepest."),
    )
    assert '"II. B."' in told
