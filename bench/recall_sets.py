"""Data sets of recall as the lines that `slowwave evaluate recall` reads: RealMem, LoCoMo, tau-bench.

RealMem     each person is an agent; a question sees the sessions before its own
LoCoMo      each conversation is an agent; a question sees all of it; its category names the kind of reasoning
tau-bench   each trial is an agent; its sessions are the dialogues with customers. The questions come from final
            states: for each reservation that a dialogue changed, "What became of NAME's booking to CITY?"; the evidence
            is the last call that changed it, the answer to that call, and the agent's next message
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from bench.locomo import categories, conversations
from bench.msc_data import data_file
from bench.realmem_data import FILE as REALMEM
from bench.realmem_data import people
from bench.tau_data import BEGUN, CHANGES
from bench.tau_data import FILE as TAU

Line = dict[str, Any]

CATEGORIES = {1: "1 multi-hop", 2: "2 time", 3: "3 open", 4: "4 single-hop"}
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
MOST_QUESTIONS = 100
MESSAGE_KEYS = ("role", "content", "name", "tool_calls", "tool_call_id")
DIALOGUE_TAKES = timedelta(hours=2)


def realmem(persons: int) -> Iterator[Line]:
    """Yield the first persons of RealMem."""
    for person in list(people(data_file(REALMEM)))[:persons]:
        for session in person.sessions:
            for event in session.events:
                yield {
                    "agent": person.name,
                    "session": session.name,
                    "id": f"{session.name}#{event.seq}",
                    "role": event.role,
                    "content": event.content,
                    "at": event.happened_at.isoformat(),
                }
        for asked in person.questions:
            evidence = sorted(f"{session}#{seq}" for session, seq in asked.evidence)
            before = person.sessions[asked.before].name
            yield {"agent": person.name, "question": asked.text, "evidence": evidence, "before": before}


def locomo(conversations_read: int) -> Iterator[Line]:
    """Yield the first conversations of LoCoMo."""
    folder = data_file("").parent / "data"
    kinds = categories(folder)
    for one in conversations(folder)[:conversations_read]:
        first = one.turns[0].speaker
        for turn in one.turns:
            yield {
                "agent": one.name,
                "session": turn.source[0],
                "id": "#".join(map(str, turn.source)),
                "role": "user" if turn.speaker == first else "assistant",
                "name": turn.speaker,
                "content": turn.text,
                "at": turn.at.isoformat(),
            }
        for (text, evidence), kind in zip(one.questions, kinds[one.name], strict=True):
            ids = sorted("#".join(map(str, source)) for source in evidence)
            yield {"agent": one.name, "question": text, "evidence": ids, "category": CATEGORIES[kind]}


@dataclass(frozen=True, slots=True)
class Change:
    """The last change of a reservation in a dialogue. names: its customer and the other passengers; evidence: the
    positions of the call, of its answer and of the agent's next message.
    """

    names: tuple[str, ...]
    destination: str
    evidence: tuple[int, ...]


def tau(trials: int) -> Iterator[Line]:
    """Yield the first trials of tau-bench, airline: the questions of customers first, then those of other
    passengers.
    """
    entries = [json.loads(line) for line in data_file(TAU).read_text(encoding="utf-8").splitlines()]
    found: dict[tuple[bool, str, str, str], list[str]] = {}
    for entry in entries:
        if entry["trial"] >= trials:
            continue
        agent, session = f"airline-{entry['trial']}", f"task-{entry['task']}"
        begun = BEGUN + entry["task"] * DIALOGUE_TAKES
        for number, message in enumerate(entry["turns"]):
            kept = {key: message[key] for key in MESSAGE_KEYS if message.get(key)}
            at = (begun + timedelta(minutes=number)).isoformat()
            yield {"agent": agent, "session": session, "id": f"{session}#{number}", "content": "", **kept, "at": at}
        for change in changes(entry["turns"]):
            ids = [f"{session}#{number}" for number in change.evidence]
            for place, name in enumerate(change.names):
                found.setdefault((place > 0, agent, name, change.destination), []).extend(ids)
    for (_, agent, name, destination), ids in sorted(found.items())[:MOST_QUESTIONS]:
        text = f"What became of {name}'s booking to {CITIES[destination]} ({destination})?"
        yield {"agent": agent, "question": text, "evidence": sorted(set(ids))}


def changes(turns: list[dict[str, Any]]) -> Iterator[Change]:
    """Return the last successful change of each reservation of a dialogue in which a tool named the customer."""
    users: dict[str, str] = {}
    last: dict[str, tuple[dict[str, Any], tuple[int, ...]]] = {}
    for place, message in enumerate(turns):
        answer = _parsed(message) if message["role"] == "tool" else None
        called = _call(turns, place, message.get("tool_call_id"))
        if answer is None or called is None:
            continue
        at, call = called
        if isinstance(answer.get("name"), dict):
            users[json.loads(call["arguments"]).get("user_id", "")] = _name(answer["name"])
        if CHANGES.match(call["name"]) and "reservation_id" in answer:
            said = next((n for n in range(place + 1, len(turns)) if _speaks(turns[n])), place)
            last[answer["reservation_id"]] = (answer, (at, place, said))
    for answer, evidence in last.values():
        if customer := users.get(answer["user_id"]):
            names = dict.fromkeys((customer, *map(_name, answer["passengers"])))
            yield Change(tuple(names), answer["destination"], evidence)


def _call(turns: list[dict[str, Any]], place: int, call_id: str | None) -> tuple[int, dict[str, Any]] | None:
    """Return the last call of this id before a position, and its position."""
    for at in range(place - 1, -1, -1):
        for call in turns[at].get("tool_calls") or ():
            if call["id"] == call_id:
                return at, call["function"]
    return None


def _name(of: dict[str, str]) -> str:
    return f"{of['first_name']} {of['last_name']}"


def _speaks(message: dict[str, Any]) -> bool:
    return message["role"] == "assistant" and bool(message.get("content"))


def _parsed(message: dict[str, Any]) -> dict[str, Any] | None:
    try:
        answer = json.loads(message.get("content") or "")
    except ValueError:
        return None
    return answer if isinstance(answer, dict) else None


SETS = {"RealMem": realmem, "LoCoMo": locomo, "tau-bench": tau}
FILES: dict[str, Path] = {
    "RealMem": data_file(REALMEM),
    "LoCoMo": data_file("locomo-dev.json"),
    "tau-bench": data_file(TAU),
}
