"""The bench's questions about final states: what a dialogue changed, and the messages that tell it."""

import json
from typing import Any

from bench.tau_questions import final_states, questions

KITES = {"user_id": "ada_quill_1234", "reservation_id": "KITE42"}


def _call(number: int, tool: str, arguments: dict[str, Any], answer: object) -> list[dict[str, Any]]:
    call = {"id": str(number), "function": {"name": tool, "arguments": json.dumps(arguments)}}
    content = answer if isinstance(answer, str) else json.dumps(answer)
    return [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": str(number), "content": content},
    ]


def _reservation(*amounts: int) -> dict[str, Any]:
    return KITES | {
        "origin": "BOS",
        "destination": "SEA",
        "flights": [{"date": "2024-06-07"}],
        "passengers": [{"first_name": "Ada", "last_name": "Quill"}],
        "payment_history": [{"payment_id": "card_1", "amount": amount} for amount in amounts],
    }


def _said(role: str, content: str) -> dict[str, Any]:
    return {"role": role, "content": content}


CANCELLED = [
    _said("user", "Please add a bag to KITE42. Or cancel it."),
    *_call(1, "update_reservation_baggages", {"reservation_id": "KITE42"}, _reservation(300, 50)),
    _said("assistant", "The bag is added."),
    _said("user", "No: cancel it."),
    *_call(2, "cancel_reservation", {"reservation_id": "KITE42"}, _reservation(300, 50, -350)),
    _said("assistant", "It is cancelled."),
    _said("user", "How much do I get?"),
    _said("assistant", "For KITE42 you get 350 dollars."),
]
REFUSED = [
    _said("user", "I am ada_quill_1234. Cancel KITE42."),
    *_call(1, "get_reservation_details", {"reservation_id": "KITE42"}, _reservation(300)),
    _said("assistant", "I am unable to cancel it."),
    *_call(2, "transfer_to_human_agents", {"summary": "wants a refund"}, "Transfer successful"),
    _said("assistant", "A person takes over."),
]


def test_the_last_change_of_a_reservation_is_its_final_state() -> None:
    (state,) = final_states(CANCELLED)
    assert state.outcome == "cancelled"
    assert state.evidence == (5, 6, 7, 9)  # the call, its answer, the next message, and the one that names it


def test_a_state_is_asked_for_by_everything_that_names_it() -> None:
    asked = list(questions([("s", state) for state in final_states(CANCELLED)]))
    assert [form for form, *_ in asked] == [
        "by name",
        "by user id",
        "by reservation",
        "by route and date",
        "by amount",
    ]
    assert asked[0][1] == "What became of Ada Quill's booking to Seattle (SEA)?"
    assert all(evidence == ["s#5", "s#6", "s#7", "s#9"] for *_, evidence in asked)


def test_a_refused_request_is_a_final_state() -> None:
    (state,) = final_states(REFUSED)
    assert (state.outcome, state.said["reservation"], state.said["name"]) == ("refused", "KITE42", "Ada Quill")
    assert state.evidence == (3, 4, 6)


def test_a_failed_change_changes_nothing() -> None:
    failed = [*_call(1, "cancel_reservation", {"reservation_id": "KITE42"}, "Error: not found")]
    assert final_states(failed) == []


def test_the_state_of_a_later_dialogue_replaces_an_earlier_one() -> None:
    (cancelled,) = final_states(CANCELLED)
    (booked,) = final_states(_call(1, "update_reservation_flights", {}, _reservation(300)))
    asked = list(questions([("first", booked), ("second", cancelled)]))
    assert {source.split("#")[0] for *_, evidence in asked for source in evidence} == {"second"}


def test_a_reservation_number_of_two_customers_names_neither() -> None:
    (mine,) = final_states(CANCELLED)
    theirs = final_states(_call(1, "cancel_reservation", {}, _reservation(300) | {"user_id": "bo_reed_7777"}))
    asked = list(questions([("a", mine), *(("b", state) for state in theirs)]))
    assert "by reservation" not in {form for form, *_ in asked}
