"""Measure tau-bench, airline: does the outcome of a solved dialogue become a memory, and of the right customer?

Outcome: among solved dialogues with a successful state-changing call, the share in which a memory records every such
call: the memory names the call's reservation (for a certificate its id or amount), and one of its sources is the call
or comes after it, so that a request alone does not count.

Wrong: memories with a reservation, customer or payment id that does not occur in their own dialogue, with a full name
of another dialogue's customer, or with a reservation beside a customer who does not own it. It must be 0.

"version 1" and "first person" get only the speech, because version 1 never saw a tool.

Run: python -m bench.extraction --sets tau
"""

import re
import statistics
from collections.abc import Iterator, Mapping, Sequence

from bench.msc_data import data_file
from bench.replay import Compared, memories
from bench.tau_data import FILE, Call, Dialogue, dialogues, without_tools
from slowwave_server.domain.candidates import Candidate

AGENT = "airline"
IDENTIFIER = re.compile(r"\b(?:(?=[A-Z]*\d)[A-Z\d]{6}|[a-z]+_[a-z]+_\d+|(?:gift_card|credit_card|certificate)_\d+)\b")
CUSTOMER = re.compile(r'"first_name":\s*"([^"]+)",\s*"last_name":\s*"([^"]+)"')
OWNED = re.compile(r'"reservation_id":\s*"(\w+)",\s*"user_id":\s*"(\w+)"')
USER_ID = re.compile(r"\b(?!gift_card|credit_card)[a-z]+_[a-z]+_\d{4}\b")


def stands(call: Call, found: Sequence[Candidate], seq_of: Mapping[int, int]) -> bool:
    """Return True if a memory names the call, and has a source at or after it. seq_of: a source's number in the
    dialogue.
    """
    named = re.compile("|".join(rf"(?<!\w){re.escape(mark)}(?!\w)" for mark in sorted(call.marks)))
    return bool(call.marks) and any(
        named.search(memory.content) and max(seq_of[seq] for seq in memory.sources) >= call.seq for memory in found
    )


def strays(dialogue: Dialogue, found: Sequence[Candidate], customers: frozenset[tuple[str, str]]) -> Iterator[str]:
    """Return the memories about a thing or person outside this dialogue."""
    owner = dict(OWNED.findall(dialogue.text))
    for memory in found:
        named = set(IDENTIFIER.findall(memory.content))
        unknown = any(name not in dialogue.text for name in named)
        stranger = any(
            f"{first} {last}" in memory.content and not (first in dialogue.text and last in dialogue.text)
            for first, last in customers
        )
        users = set(USER_ID.findall(memory.content))
        swapped = any(owner[name] not in users for name in named & owner.keys()) if users else False
        if unknown or stranger or swapped:
            yield memory.content


def customers_of(every: Sequence[Dialogue]) -> frozenset[tuple[str, str]]:
    """Return first and last names of all customers that tools named."""
    return frozenset(name for dialogue in every for name in CUSTOMER.findall(dialogue.text))


def remember(dialogue: Dialogue, compared: Compared) -> tuple[list[Candidate], dict[int, int]]:
    """Return the memories of a dialogue, and the dialogue number of each source number."""
    if compared.sees_tools:
        return memories(compared.extractor, dialogue.events, AGENT), {event.seq: event.seq for event in dialogue.events}
    spoken, seq_of = without_tools(dialogue.events)
    return memories(compared.extractor, spoken, AGENT), seq_of


def measure(compared: Compared) -> dict[str, float]:
    """Return all figures of one extractor, by name."""
    every = list(dialogues(data_file(FILE)))
    customers = customers_of(every)
    outcomes, calls, wrong, sizes = [], [], 0, []
    for dialogue in every:
        found, seq_of = remember(dialogue, compared)
        sizes.append(len(found))
        wrong += len(list(strays(dialogue, found, customers)))
        if dialogue.solved and dialogue.calls:
            told = [stands(call, found, seq_of) for call in dialogue.calls]
            outcomes.append(all(told))
            calls += told
    return {
        "solved dialogues, outcome in a memory": statistics.mean(outcomes),
        "their state-changing calls in a memory": statistics.mean(calls),
        "memories of a wrong customer or id": wrong,
        "memories a dialogue": statistics.mean(sizes),
    }
