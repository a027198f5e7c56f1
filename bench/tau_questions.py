"""Questions about final states of tau-bench, airline: "What became of NAME's booking to CITY?".

A final state is the last change of a reservation in the dialogues of one agent, a certificate, or the refusal of a
dialogue that ends with a person or without a change. Each state is asked for by the customer's name, by the user id, by
the reservation, by route and date, and by amount; the wordings take turns. If several states fit the same question,
each of them answers it.

The evidence is every message that tells the state: the call that changed it, the answer to that call, and every later
message of the agent or a tool in that dialogue that is the next one or names the reservation. Of a refusal, it is the
call that hands the customer over, with the next message, and every message of the agent that refuses.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from bench.tau_data import CHANGES

Message = Mapping[str, Any]

CITIES = {
    "ATL": "Atlanta",
    "BOS": "Boston",
    "CLT": "Charlotte",
    "DEN": "Denver",
    "DFW": "Dallas",
    "DTW": "Detroit",
    "EWR": "Newark",
    "IAH": "Houston",
    "JFK": "New York",
    "LAS": "Las Vegas",
    "LAX": "Los Angeles",
    "LGA": "New York",
    "MCO": "Orlando",
    "MIA": "Miami",
    "MSP": "Minneapolis",
    "ORD": "Chicago",
    "PHL": "Philadelphia",
    "PHX": "Phoenix",
    "SEA": "Seattle",
    "SFO": "San Francisco",
}
OUTCOMES = {
    "book_reservation": "booked",
    "cancel_reservation": "cancelled",
    "update_reservation_flights": "changed",
    "update_reservation_passengers": "changed",
    "update_reservation_baggages": "baggage",
    "send_certificate": "certificate",
}
HANDED_OVER = "transfer_to_human_agents"
REFUSES = re.compile(
    r"\b(?:unable to|unfortunately|cannot|can't|not (?:eligible|allowed|possible|permitted))\b", re.IGNORECASE
)
FORMS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "by name": {
        "booked": ("What became of {name}'s booking to {place}?", "Which flight to {city} did {name} end up with?"),
        "cancelled": ("What became of {name}'s booking to {place}?", "Is {name} still flying to {city}?"),
        "changed": ("What became of {name}'s booking to {place}?", "How is {name} getting to {city} now?"),
        "baggage": ("Did {name} get more bags for the flight to {city}?", "What luggage does {name} take to {city}?"),
        "certificate": ("What compensation did {name} get?", "Did we make it up to {name} in the end?"),
        "refused": ("Why was {name} turned down?", "How did {name}'s request end?"),
    },
    "by user id": {
        "booked": ("Did the new reservation for {user} go through?", "Which trip to {to} does {user} have?"),
        "cancelled": ("Which trips of {user} were called off?", "Was {user}'s trip to {to} cancelled?"),
        "changed": ("What did we change for {user}?", "What is the current state of {user}'s trip to {to}?"),
        "baggage": ("How many checked bags does {user} have now?", "Did {user} add a suitcase?"),
        "certificate": ("Which certificate was issued to {user}?", "What goodwill gesture did {user} receive?"),
        "refused": ("What did we tell {user} in the end?", "Why couldn't we do what {user} asked for?"),
    },
    "by reservation": {
        "booked": (),
        "cancelled": ("Is {reservation} still valid?", "What happened to reservation {reservation}?"),
        "changed": ("What happened to reservation {reservation}?", "What is the latest on {reservation}?"),
        "baggage": ("How many bags are on reservation {reservation} now?", "What is the latest on {reservation}?"),
        "refused": ("Could the customer get what they wanted for {reservation}?", "What about {reservation}?"),
    },
    "by route and date": {
        "booked": ("Who booked {from} to {to} for {day}?", "Who bought a ticket from {start} to {place} on {day}?"),
        "cancelled": ("Which booking from {start} to {place} on {day} was cancelled?", "Is {from}-{to} on {day} off?"),
        "changed": ("Whose {from} to {to} trip was changed to {day}?", "Who was rebooked to {place} on {day}?"),
        "baggage": ("Who added bags to the {from} to {to} trip on {day}?",),
    },
    "by amount": {
        "booked": ("What did {name} pay ${amount} for?", "Which booking cost {user} {amount} dollars?"),
        "cancelled": ("Did {name} get the ${amount} back?", "Which cancellation refunded {amount} dollars to {user}?"),
        "changed": ("What was the ${amount} for on {reservation}?", "Why did {name}'s card see ${amount}?"),
        "baggage": ("What did {name} pay ${amount} for?",),
        "certificate": ("Who got a certificate of ${amount}?", "Why was {user} sent ${amount}?"),
    },
}
"""The wordings, by what the question names, and by outcome."""


@dataclass(frozen=True, slots=True)
class State:
    """A final state. said: what a question can name; evidence: positions of messages in the dialogue."""

    outcome: str
    said: Mapping[str, str]
    evidence: tuple[int, ...]


def questions(states: Sequence[tuple[str, State]]) -> Iterator[tuple[str, str, list[str]]]:
    """Yield the form, the text and the evidence of each question. states: with the session of each, oldest first."""
    last: dict[tuple[str, ...], tuple[str, State]] = {}
    for session, state in states:
        subject = state.said.get("reservation") or state.said.get("amount") or session
        last[state.said["user"], subject] = session, state
    owners = Counter(reservation for _, reservation in {(s.said["user"], s.said.get("reservation")) for _, s in states})
    found: dict[tuple[str, str], list[str]] = {}
    for turn, (session, state) in enumerate(last.values()):
        said = dict(state.said)
        if owners[said.get("reservation")] > 1:  # each dialogue of the set numbers its new reservations anew
            said.pop("reservation", None)
        for form, texts in _fitting(state.outcome, said):
            text = texts[turn % len(texts)].format_map(said)
            found.setdefault((form, text), []).extend(f"{session}#{place}" for place in state.evidence)
    for (form, text), evidence in found.items():
        yield form, text, sorted(set(evidence))


def _fitting(outcome: str, said: Mapping[str, str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the forms of an outcome with the wordings that name only known things."""
    for form, by_outcome in FORMS.items():
        texts = [t for t in by_outcome.get(outcome, ()) if said.keys() >= set(re.findall(r"\{(\w+)\}", t))]
        if texts:
            yield form, texts


def final_states(turns: Sequence[Message]) -> list[State]:
    """Return the final states of a dialogue."""
    names = _names(turns)
    last: dict[str, State] = {}
    users: list[str] = []
    looked_up: list[str] = []
    handed: tuple[int, ...] = ()
    for at, place, call in _answered(turns):
        arguments, answer = json.loads(call["arguments"]), _parsed(turns[place])
        users += [arguments["user_id"]] if "user_id" in arguments else []
        if call["name"] == HANDED_OVER:
            handed = (at, place)
        if call["name"] == "send_certificate" and not turns[place]["content"].startswith("Error"):
            said = _about(arguments["user_id"], names) | {"amount": str(arguments["amount"])}
            last[f"certificate {place}"] = State("certificate", said, _telling(turns, at, place, None))
        if answer and "reservation_id" in answer:
            users.append(answer["user_id"])
            reservation = answer["reservation_id"]
            if CHANGES.match(call["name"]):
                said = _about(answer["user_id"], names) | _reservation(answer)
                last[reservation] = State(OUTCOMES[call["name"]], said, _telling(turns, at, place, reservation))
            else:
                looked_up.append(reservation)
    if users and (handed or not last):
        last |= _refusal(turns, users[0], names, set(looked_up) - last.keys(), handed)
    return list(last.values())


def _refusal(
    turns: Sequence[Message], user: str, names: Mapping[str, str], reservations: set[str], handed: tuple[int, ...]
) -> dict[str, State]:
    """Return the state of a dialogue in which the agent refused."""
    refusing = [place for place, message in enumerate(turns) if _speaks(message) and REFUSES.search(message["content"])]
    after = [place for place in range(handed[1] + 1, len(turns)) if _speaks(turns[place])][:1] if handed else []
    said = _about(user, names) | ({"reservation": reservations.pop()} if len(reservations) == 1 else {})
    evidence = tuple(sorted({*refusing, *handed[:1], *after}))
    return {"refusal": State("refused", said, evidence)} if evidence else {}


def _telling(turns: Sequence[Message], at: int, place: int, reservation: str | None) -> tuple[int, ...]:
    """Return the call, its answer, the agent's next message, and later ones that name the reservation."""
    later = [n for n in range(place + 1, len(turns)) if turns[n]["role"] == "tool" or _speaks(turns[n])]
    next_said = next((n for n in later if _speaks(turns[n])), place)
    naming = (n for n in later if reservation and reservation in (turns[n].get("content") or ""))
    return tuple(sorted({at, place, next_said, *naming}))


def _about(user: str, names: Mapping[str, str]) -> dict[str, str]:
    return {"user": user} | ({"name": names[user]} if user in names else {})


def _reservation(answer: Mapping[str, Any]) -> dict[str, str]:
    """Return what names a reservation; the amount is that of its last payment or refund."""
    payments = answer["payment_history"]
    day = date.fromisoformat(answer["flights"][0]["date"])
    origin, destination = answer["origin"], answer["destination"]
    return {
        "reservation": answer["reservation_id"],
        "from": origin,
        "to": destination,
        "start": f"{CITIES[origin]} ({origin})",
        "city": CITIES[destination],
        "place": f"{CITIES[destination]} ({destination})",
        "day": f"{day:%B} {day.day}",
    } | ({"amount": str(abs(payments[-1]["amount"]))} if payments and payments[-1]["amount"] else {})


def _names(turns: Iterable[Message]) -> dict[str, str]:
    """Return the customer of each user id: as a tool named him, or a passenger with the names of the id."""
    found: dict[str, str] = {}
    for message in turns:
        answer = _parsed(message) if message["role"] == "tool" else None
        people = [answer["name"], *answer["saved_passengers"]] if answer and "name" in answer else []
        people += answer.get("passengers", []) if answer else []
        for person in people:
            first, second = person["first_name"], person["last_name"]
            found[f"{first}_{second}".lower()] = f"{first} {second}"
    text = json.dumps([*turns])
    return {
        user: found[user.rpartition("_")[0]]
        for user in re.findall(r"\b[a-z]+_[a-z]+_\d{4}\b", text)
        if user.rpartition("_")[0] in found
    }


def _answered(turns: Sequence[Message]) -> Iterator[tuple[int, int, Mapping[str, Any]]]:
    """Yield the positions of each call and its answer, and the call."""
    asked: dict[str, tuple[int, Mapping[str, Any]]] = {}
    for place, message in enumerate(turns):
        for call in message.get("tool_calls") or ():
            asked[call["id"]] = place, call["function"]
        if message["role"] == "tool" and message.get("tool_call_id") in asked:
            at, call = asked[message["tool_call_id"]]
            yield at, place, call


def _speaks(message: Message) -> bool:
    return message["role"] == "assistant" and bool(message.get("content"))


def _parsed(message: Message) -> dict[str, Any] | None:
    try:
        answer = json.loads(message.get("content") or "")
    except ValueError:
        return None
    return answer if isinstance(answer, dict) else None
