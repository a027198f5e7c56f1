"""Data sets of recall as the lines that `slowwave evaluate recall` reads: RealMem, LoCoMo, tau-bench.

RealMem     each person is an agent; a question sees the sessions before its own
LoCoMo      each conversation is an agent; a question sees the whole conversation; its category names
            the kind of reasoning
tau-bench   each trial is an agent; its sessions are the dialogues with customers. The questions are about final states
            (bench/tau_questions.py); the category names how: by name, by user id, by reservation …
"""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

from bench.locomo import categories, conversations
from bench.msc_data import data_file
from bench.realmem_data import FILE as REALMEM
from bench.realmem_data import people
from bench.tau_data import BEGUN
from bench.tau_data import FILE as TAU
from bench.tau_questions import State, final_states, questions

Line = dict[str, Any]

CATEGORIES = {1: "1 multi-hop", 2: "2 time", 3: "3 open", 4: "4 single-hop"}
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


def tau(trials: int) -> Iterator[Line]:
    """Yield the first trials of tau-bench, airline."""
    states: dict[str, list[tuple[str, State]]] = {}
    for text in data_file(TAU).read_text(encoding="utf-8").splitlines():
        entry = json.loads(text)
        if entry["trial"] >= trials:
            continue
        agent, session = f"airline-{entry['trial']}", f"task-{entry['task']}"
        begun = BEGUN + entry["task"] * DIALOGUE_TAKES
        for number, message in enumerate(entry["turns"]):
            kept = {key: message[key] for key in MESSAGE_KEYS if message.get(key)}
            at = (begun + timedelta(minutes=number)).isoformat()
            yield {"agent": agent, "session": session, "id": f"{session}#{number}", "content": "", **kept, "at": at}
        states.setdefault(agent, []).extend((session, state) for state in final_states(entry["turns"]))
    for agent, told in states.items():
        for form, question, evidence in questions(told):
            yield {"agent": agent, "question": question, "evidence": evidence, "category": form}


SETS = {"RealMem": realmem, "LoCoMo": locomo, "tau-bench": tau}
FILES: dict[str, Path] = {
    "RealMem": data_file(REALMEM),
    "LoCoMo": data_file("locomo-dev.json"),
    "tau-bench": data_file(TAU),
}
