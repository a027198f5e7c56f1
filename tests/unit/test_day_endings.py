"""How a day with an agent ended: what was done and refused, who agreed to what, what stays open."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from slowwave_server.domain.events import Event, EventKind
from slowwave_server.domain.summaries import FACETS, Line, cut_segments, merge_lines, summarize_segment
from slowwave_server.domain.summaries.refusals import refuses
from slowwave_server.domain.summaries.stance import stance_of

AT = datetime(2026, 3, 2, 9, tzinfo=UTC)
Turn = tuple[EventKind, str]


def talk(*turns: Turn | Event) -> tuple[Event, ...]:
    """Events in order; a turn is (kind, text)."""
    return tuple(
        Event(seq, turn[0], turn[0], turn[1], AT + timedelta(minutes=seq))
        if isinstance(turn, tuple)
        else Event(seq, turn.kind, turn.role, turn.content, AT + timedelta(minutes=seq), metadata=turn.metadata)
        for seq, turn in enumerate(turns, 1)
    )


def called(call: str, answer: str) -> tuple[Event, Event]:
    about: dict[str, Any] = {"tool": call.partition("(")[0], "tool_call_id": call}
    return Event(0, "tool", "tool_call", call, AT, metadata=about), Event(0, "tool", "tool", answer, AT, metadata=about)


def lines(*turns: Turn | Event) -> tuple[Line, ...]:
    return summarize_segment(talk(*turns), session="monday", agent="helper")


def texts(found: tuple[Line, ...], facet: str) -> list[str]:
    return [line.text for line in found if line.facet == facet]


def ended(*turns: Turn | Event) -> str:
    (told,) = texts(lines(*turns), "ended")
    return told


def test_change_by_a_tool_is_told_with_identifier_and_amounts() -> None:
    found = lines(
        ("user", "I'd like to cancel my ferry booking and get a refund, please."),
        ("assistant", "Shall I cancel booking F4711 for you?"),
        ("user", "Yes, please cancel it."),
        *called(
            'cancel_booking(booking_id="F4711")', 'booking_id: F4711\npayments: [{"amount": 300}, {"amount": -300}]'
        ),
        ("assistant", "Your booking F4711 has been cancelled, and $300 go back to your card."),
        ("user", "Great, thank you for your help!"),
    )
    assert texts(found, "wanted") == ["The user would like to cancel their ferry booking and get a refund."]
    assert texts(found, "executed") == []
    assert texts(found, "ended") == [
        (
            'The user agreed (to "Shall I cancel booking F4711 for you?"): "Yes, please cancel it." '
            "helper cancelled booking F4711: refunded 300. "
            'helper reported: "Your booking F4711 has been cancelled, and $300 go back to your card." '
            'The user closed: "Great, thank you for your help!"'
        )
    ]


def test_change_that_failed_for_good_is_no_change() -> None:
    found = lines(
        ("user", "Please book cabin C12 on the night ferry."),
        *called('book_cabin(cabin_id="C12")', "Error: cabin C12 is taken"),
        ("assistant", "Cabin C12 is taken. Would you like to have cabin C14 instead?"),
    )
    assert texts(found, "executed") == []
    assert texts(found, "state") == ["helper could not book cabin: cabin C12 is taken."]
    assert ended(
        ("user", "Book cabin C12."), ("assistant", "Cabin C12 is taken. Would you like to have C14?")
    ).endswith('helper asked: "Would you like to have C14?" No answer followed.')


def test_refusals_are_told_and_a_hand_over_ends_the_talk() -> None:
    found = lines(
        ("user", "I want a refund for the travel insurance of booking F4711."),
        ("assistant", "Unfortunately, travel insurance is non-refundable. Would you like me to transfer you?"),
        ("user", "Yes, please transfer me to a human agent."),
        *called('transfer_to_human_agents(summary="Refund of insurance for F4711 wanted.")', "Transfer successful"),
    )
    assert texts(found, "wanted") == [
        (
            "The user wants a refund for the travel insurance of booking F4711. "
            'helper refused: "Unfortunately, travel insurance is non-refundable."'
        )
    ]
    assert texts(found, "state") == []
    assert texts(found, "ended") == [
        (
            'The user agreed (to "Would you like me to transfer you?"): "Yes, please transfer me to a human agent." '
            'helper transferred the conversation to a human agent: "Refund of insurance for F4711 wanted."'
        )
    ]
    assert texts(found, "executed") == []


def test_yes_to_a_question_is_no_farewell() -> None:
    assert (
        ended(
            ("user", "I missed the ferry because of your delay and want more than $50."),
            ("assistant", "More needs the consent of a person. Would you like me to forward the case F4711?"),
            ("user", "Yes, please. Thank you!"),
        )
        == 'The user agreed (to "Would you like me to forward the case F4711?"): "Yes, please." No answer followed.'
    )


PLAN = (
    "Here is the plan.\n\n## Bergen Weekend Itinerary\n- **Friday:** Night ferry from Hirtshals\n"
    "- **Saturday:** Funicular and fish market\n\nHow does this look?"
)
DAYS = "Friday: Night ferry from Hirtshals; Saturday: Funicular and fish market"


def test_what_was_delivered_and_agreed_on_is_told_by_its_title() -> None:
    found = lines(
        ("user", "Can you plan a weekend in Bergen for us?"),
        ("assistant", PLAN),
        ("user", "This looks perfect! I'll book the ferry tonight."),
        ("assistant", "Wonderful! Let me know if you need anything else."),
    )
    assert texts(found, "decided") == [f'The user agreed on "Bergen Weekend Itinerary": {DAYS}.']
    assert texts(found, "ended") == [
        (
            'The user agreed on "Bergen Weekend Itinerary": "This looks perfect!" '
            'The user also said: "I\'ll book the ferry tonight."'
        )
    ]
    open_ = lines(("user", "Can you plan a weekend in Bergen for us?"), ("assistant", PLAN))
    assert texts(open_, "executed") == []
    assert texts(open_, "ended") == [
        (
            'The user asked last: "Can you plan a weekend in Bergen for us?" '
            f'helper delivered "Bergen Weekend Itinerary": {DAYS}.'
        )
    ]


def test_request_without_an_answer_stays_open() -> None:
    assert (
        ended(
            ("user", "Which ferries go to Bergen?"),
            ("assistant", "Two ferries go to Bergen each night."),
            ("user", "Please book the later one for two people."),
        )
        == 'The user asked last: "Please book the later one for two people." No answer followed.'
    )


def test_i_also_decided_stands_under_decided() -> None:
    found = lines(
        ("user", "I also decided to sell the old kayak."),
        ("assistant", "Noted: the old kayak is for sale."),
    )
    assert texts(found, "decided") == ["The user also decided to sell the old kayak."]


@pytest.mark.parametrize(
    ("said", "verb"),
    [
        ("Okay, this looks perfect!", "agreed"),
        ("Let's plan on option 1.", "agreed"),
        ("No adjustments needed, it covers everything.", "agreed"),
        ("No, that is too expensive.", "declined"),
        ("No, I haven't found it yet.", "answered"),
        ("No, this plan is good.", None),
        ("Yes, please cancel it.", "agreed"),
        ("Cancel it, please.", None),
        ("Finally some people work elsewhere.", None),
        ("What does it cost?", None),
    ],
)
def test_stance_of_a_turn(said: str, verb: str | None) -> None:
    found = stance_of([said])
    assert (found.verb if found else None) == verb


@pytest.mark.parametrize(
    ("said", "refused"),
    [
        ("I'm unable to remove a passenger from an existing reservation.", True),
        ("Basic tickets cannot be changed.", True),
        ("The insurance does not cover delays.", True),
        ("I can't wait to see the photos!", False),
        ("If you don't have the number, I cannot help.", False),
        ("I'm unable to find your reservation.", False),
        ("Your ticket can be changed.", False),
        ("It is eligible for a refund, since it was not used.", False),
    ],
)
def test_refusals_are_told_from_other_negations(said: str, *, refused: bool) -> None:
    assert refuses(said) is refused


THINGS = (
    "ferry",
    "invoice",
    "server",
    "fence",
    "tax form",
    "playlist",
    "backup",
    "newsletter",
    "museum tickets",
    "shed",
)
PEOPLE = ("Jonas", "Priya", "Anna", "Tomas", "Lena", "Omar", "Yuki")


def test_long_mixed_day_has_every_facet_and_many_conversations() -> None:
    parts: list[tuple[Line, ...]] = []
    count = 0
    for session in range(20):
        events = talk(*(turn for n in range(11) for turn in _deal(11 * session + n)))
        count += len(events)
        parts += [summarize_segment(s.events, session=f"s{session}", agent="helper") for s in cut_segments(events)]
    summary = merge_lines(parts, max_words=220)
    assert count > 1_500
    told = [line.facet for line in summary.lines]
    assert [facet for facet in FACETS if facet != "said" and facet in told] == list(FACETS[:5])
    assert len({line.session for line in summary.lines}) > 5


def _deal(n: int) -> list[Turn | Event]:
    """Something that is wanted, decided, done, refused, and open."""
    thing, person = THINGS[n % len(THINGS)], PEOPLE[n % len(PEOPLE)]
    return [
        ("user", f"Could you book the {thing} number {n} for {person}?"),
        ("assistant", f"I found the {thing} {n}. Would you like me to book it for ${n + 100}?"),
        ("user", f"Let's go with the {thing} for {person}."),
        *called(f'book_item(item_id="IT{n}X", title="{thing}")', f"item_id: IT{n}X"),
        ("assistant", f"Unfortunately, I cannot rent the {thing} to {person} without a deposit."),
        Event(0, "task", "task", f"Count {thing} of {person}", AT, metadata={"event": "run_blocked", "run": f"r{n}"}),
    ]
