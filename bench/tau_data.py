"""tau-bench, airline: dialogues of a customer and a service agent with tools, as events of a session.

How tools become events is in `events_of` alone: whoever changes how tools are recorded changes it there.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from slowwave_server.domain.events import Event, EventKind

FILE = "tau-airline-dev.jsonl"
BEGUN = datetime(2024, 5, 15, 20, tzinfo=UTC)
"""The set's "now": 15:00 EST."""
CHANGES = re.compile(r"^(?:book|cancel|update|send|modify|exchange|return)_")
TOOL_ROLES = frozenset(("tool", "tool_call"))
SPEECH: Mapping[str, EventKind] = {"user": "user", "assistant": "assistant"}


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call that changed something. seq: its event; marks: the identifiers and amounts, one of which names it."""

    seq: int
    tool: str
    marks: frozenset[str]


@dataclass(frozen=True, slots=True)
class Dialogue:
    """One dialogue. calls: the state-changing calls that succeeded; text: all that was said or answered in it."""

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
    """OpenAI-style messages as they are recorded: speech, each tool call, each tool answer; no system message.

    A tool call is an event of its own with role `tool_call`: name(JSON arguments). A tool's answer has role `tool`.
    """
    entries: list[tuple[EventKind, str, str, dict[str, object]]] = []
    for message in messages:
        role, content = message["role"], message.get("content") or ""
        if role == "tool":
            about = {"tool": message["name"], "call_id": message["tool_call_id"]}
            entries.append(("assistant", "tool", content, about))
        elif role in SPEECH and content.strip():
            entries.append((SPEECH[role], role, content, {}))
        for call in message.get("tool_calls") or ():
            function = call["function"]
            about = {"tool": function["name"], "call_id": call["id"]}
            entries.append(("assistant", "tool_call", f"{function['name']}({function['arguments']})", about))
    return tuple(
        Event(seq, kind, role, content, BEGUN + timedelta(minutes=seq), metadata=about)
        for seq, (kind, role, content, about) in enumerate(entries, 1)
    )


def without_tools(events: tuple[Event, ...]) -> tuple[tuple[Event, ...], dict[int, int]]:
    """The speech alone, numbered anew, and the old number of each new one."""
    spoken = [event for event in events if event.role not in TOOL_ROLES]
    old = {new: event.seq for new, event in enumerate(spoken, 1)}
    return tuple(replace(event, seq=new) for new, event in enumerate(spoken, 1)), old


def _calls(events: tuple[Event, ...]) -> Iterator[Call]:
    """The calls that changed something: their tool answered, and not with an error."""
    for event in events:
        tool, call_id = str(event.metadata.get("tool", "")), event.metadata.get("call_id")
        later = (e for e in events[event.seq :] if e.role == "tool" and e.metadata["call_id"] == call_id)
        answer = next((e.content for e in later), "Error")  # ids are not unique in the set: the first that follows
        if event.role == "tool_call" and CHANGES.match(tool) and not answer.startswith("Error"):
            yield Call(event.seq, tool, marks(event.content, answer))


def marks(call: str, answer: str) -> frozenset[str]:
    """The reservation that a call or its answer names; for a certificate its id or its amount."""
    reservations = re.findall(r'"reservation_id":\s*"(\w+)"', f"{call} {answer}")
    certificates = re.findall(r"\b(certificate_\d+) added .* with amount (\d+)", answer)
    return frozenset((*reservations, *(mark for found in certificates for mark in found)))
