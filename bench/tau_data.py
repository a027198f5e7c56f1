"""Read tau-bench, airline: dialogues of a customer and a service agent with tools, as events of a session.

Only `events_of` turns tools into events: to change how tools are recorded, change it in this function.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from slowwave.messages import message_events
from slowwave_server.domain.events import Event

FILE = "tau-airline-dev.jsonl"
BEGUN = datetime(2024, 5, 15, 20, tzinfo=UTC)
"""The set's "now": 15:00 EST."""
CHANGES = re.compile(r"^(?:book|cancel|update|send|modify|exchange|return)_")
TOOL_ROLES = frozenset(("tool", "tool_call"))


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call that changed state. seq: its event; marks: the identifiers and amounts that can name it."""

    seq: int
    tool: str
    marks: frozenset[str]


@dataclass(frozen=True, slots=True)
class Dialogue:
    """One dialogue. calls: the successful state-changing calls; text: all utterances and answers of the dialogue."""

    name: str
    solved: bool
    events: tuple[Event, ...]
    calls: tuple[Call, ...]
    text: str


def dialogues(path: Path) -> Iterator[Dialogue]:
    """Read the data set, one dialogue after the other."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            entry = json.loads(line)
            events = events_of(entry["turns"])
            yield Dialogue(
                name=f"task-{entry['task']}-trial-{entry['trial']}",
                solved=entry["reward"] == 1,
                events=events,
                calls=tuple(_calls(events)),
                text="\n".join(event.content for event in events),
            )


def events_of(messages: list[dict[str, Any]]) -> tuple[Event, ...]:
    """Return OpenAI-style messages as a hook records them: speech, tool calls and tool results; no system message."""
    tools: dict[str, str] = {}
    recorded = [
        event
        for message in messages
        if message["role"] != "system"
        for event in message_events(message | {"content": message.get("content") or ""}, "tau", names=tools)
    ]
    return tuple(
        Event(
            *(seq, event["kind"], event.get("role", event["kind"]), event["content"], BEGUN + timedelta(minutes=seq)),
            name=event.get("name"),
            metadata=event.get("metadata", {}),
        )
        for seq, event in enumerate(recorded, 1)
    )


def without_tools(events: tuple[Event, ...]) -> tuple[tuple[Event, ...], dict[int, int]]:
    """Return only the speech, renumbered, and the old number of each new one."""
    spoken = [event for event in events if event.role not in TOOL_ROLES]
    old = {new: event.seq for new, event in enumerate(spoken, 1)}
    return tuple(replace(event, seq=new) for new, event in enumerate(spoken, 1)), old


def _calls(events: tuple[Event, ...]) -> Iterator[Call]:
    """Return the calls that changed state: their tool answered without an error."""
    for event in events:
        tool, call_id = str(event.metadata.get("tool", "")), event.metadata.get("tool_call_id")
        later = (e for e in events[event.seq :] if e.role == "tool" and e.metadata.get("tool_call_id") == call_id)
        answer = next((e.content for e in later), "Error")  # ids are not unique in the set: take the first that follows
        if event.role == "tool_call" and CHANGES.match(tool) and not answer.startswith("Error"):
            yield Call(event.seq, tool, marks(event.content, answer))


def marks(call: str, answer: str) -> frozenset[str]:
    """Return the reservation that a call or its answer names; for a certificate its id or its amount."""
    reservations = re.findall(r'reservation_id"?\s*[:=]\s*"?(\w+)', f"{call} {answer}")
    certificates = re.findall(r"\b(certificate_\d+) added .* with amount (\d+)", answer)
    return frozenset((*reservations, *(mark for found in certificates for mark in found)))
