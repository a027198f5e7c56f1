"""Read a data set for an evaluation of recall: events, and questions with the events that answer them, as JSON lines.

    {"agent", "session", "role", "content"} and optionally id, name, at, metadata, tool_calls, tool_call_id, is_error
    {"agent", "question", "evidence": [ids of events]} and optionally before, category

Events have the form of `slowwave import events`. The events of an agent are sorted by time; lines with the same time
keep their order in the file. A question without `before` sees all events of its agent.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from slowwave.errors import InvalidMessage, InvalidName, shown
from slowwave.identity import check_name
from slowwave.messages import message_events, moment_of
from slowwave.settings import Tools

UNDATED = datetime(2026, 1, 5, 9, tzinfo=UTC)
"""The time of an agent's first event if it has none; others without a time come a minute after the line before."""
MESSAGE_FIELDS = frozenset("role content name metadata tool_calls tool_call_id is_error".split())
EVENT_FIELDS = MESSAGE_FIELDS | {"agent", "session", "id", "at"}
QUESTION_FIELDS = frozenset("agent question evidence before category".split())


class BadLine(ValueError):
    """A line that is not of the form that the file needs. number: the line number, from 1."""

    def __init__(self, number: int, reason: str) -> None:
        super().__init__(f"line {number}: {reason}")
        self.number = number
        self.reason = reason


@dataclass(frozen=True, slots=True)
class RecallEvent:
    """A message to record. recorded: the number of Slowwave's events for it; text: its text, with its speaker."""

    id: str
    session: str
    at: datetime
    message: Mapping[str, Any]
    recorded: int
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class RecallQuestion:
    """A question. sees: the number of its agent's events before it; evidence: the ids of events that answer it."""

    agent: str
    text: str
    sees: int
    evidence: frozenset[str]
    category: str | None


@dataclass(frozen=True, slots=True)
class RecallAgent:
    """One agent: its events in order, and its questions by the number of events that they see."""

    name: str
    events: tuple[RecallEvent, ...]
    questions: tuple[RecallQuestion, ...]


@dataclass(slots=True)
class _Draft:
    events: list[RecallEvent] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    tools: dict[str, str] = field(default_factory=dict)
    unnamed: dict[str, int] = field(default_factory=dict)
    questions: list[tuple[int, dict[str, Any]]] = field(default_factory=list)


def read_recall(lines: Iterable[str], tools: Tools | None = None) -> list[RecallAgent]:
    """Return the agents of a file that have questions, in the order of the file. Raises BadLine."""
    drafts: dict[str, _Draft] = {}
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                _add(drafts, number, json.loads(line), Tools() if tools is None else tools)
            except (InvalidMessage, InvalidName) as error:
                raise BadLine(number, str(error)) from None
            except (ValueError, RecursionError) as error:
                raise BadLine(number, f"the line is not JSON: {error}") from None
    return [_agent(name, draft) for name, draft in drafts.items() if draft.questions]


def _add(drafts: dict[str, _Draft], number: int, line: Any, tools: Tools) -> None:
    if not isinstance(line, dict):
        raise InvalidMessage(f"the line must hold a JSON object, got {shown(line)}")
    known = QUESTION_FIELDS if "question" in line else EVENT_FIELDS
    if unknown := sorted(line.keys() - known):
        what = "a question" if "question" in line else "an event"
        raise InvalidMessage(f"unknown field {shown(unknown[0])}; allowed for {what}: {', '.join(sorted(known))}")
    draft = drafts.setdefault(check_name("agent", line.get("agent", "")), _Draft())
    if "question" in line:
        _check_question(line)
        draft.questions.append((number, line))
    elif (event := _event(draft, line, tools)) is not None:
        draft.events.append(event)


def _check_question(line: Mapping[str, Any]) -> None:
    if not isinstance(line["question"], str) or not line["question"].strip():
        raise InvalidMessage(f"question must be text that is not empty, got {shown(line['question'])}")
    evidence = line.get("evidence")
    if not isinstance(evidence, list) or not evidence or not all(isinstance(one, str) for one in evidence):
        raise InvalidMessage(f"evidence must be a list of at least one id of an event, got {shown(evidence)}")
    for name in ("before", "category"):
        if line.get(name) is not None and not isinstance(line[name], str):
            raise InvalidMessage(f"{name} must be text, got {shown(line[name])}")


def _event(draft: _Draft, line: Mapping[str, Any], tools: Tools) -> RecallEvent | None:
    """Return the event of a line, or None if Slowwave does not record such a message (system, empty)."""
    session = check_name("session", line.get("session", ""))
    place = draft.unnamed[session] = draft.unnamed.get(session, 0) + 1
    name = line.get("id", f"{session}#{place}")
    if not isinstance(name, str) or not name:
        raise InvalidMessage(f"id must be text that is not empty, got {shown(name)}")
    if name in draft.ids:
        raise InvalidMessage(f"two events of agent {shown(line['agent'])} have the id {shown(name)}")
    draft.ids.add(name)
    if line.get("at") is not None:
        at = datetime.fromisoformat(moment_of(line["at"]))
    else:
        at = draft.events[-1].at + timedelta(minutes=1) if draft.events else UNDATED
    message = {key: value for key, value in line.items() if key in MESSAGE_FIELDS} | {"at": at.isoformat()}
    made = message_events(message, "evaluation", tools, draft.tools)
    if not made:
        return None
    speaker = made[0].get("name") or made[0].get("role", made[0]["kind"])
    return RecallEvent(name, session, at, message, len(made), speaker, "\n".join(event["content"] for event in made))


def _agent(name: str, draft: _Draft) -> RecallAgent:
    events = tuple(sorted(draft.events, key=lambda event: event.at))
    questions = sorted((_question(events, draft, *asked) for asked in draft.questions), key=lambda asked: asked.sees)
    return RecallAgent(name, events, tuple(questions))


def _question(events: tuple[RecallEvent, ...], draft: _Draft, number: int, line: Mapping[str, Any]) -> RecallQuestion:
    before, evidence = line.get("before"), frozenset(line["evidence"])
    sees = len(events) if before is None else _seen(events, number, before)
    earlier = {event.id for event in events[:sees]}
    for missing in sorted(evidence - earlier):
        if missing not in draft.ids:
            raise BadLine(number, f"evidence {shown(missing)} is the id of no event of agent {shown(line['agent'])}")
        if missing not in {event.id for event in events}:
            raise BadLine(number, f"evidence {shown(missing)} is an event that is not recorded (system, or empty)")
        raise BadLine(number, f"evidence {shown(missing)} is not earlier than before, {shown(before)}")
    return RecallQuestion(line["agent"], line["question"], sees, evidence, line.get("category"))


def _seen(events: tuple[RecallEvent, ...], number: int, before: str) -> int:
    """Count the events before a session begins, or before a time."""
    for place, event in enumerate(events):
        if event.session == before:
            return place
    try:
        moment = datetime.fromisoformat(moment_of(before))
    except InvalidMessage:
        reason = (
            "before must be the name of a session of the agent, or a time with its zone (2026-03-03T09:05:00+01:00)"
        )
        raise BadLine(number, f"{reason}, got {shown(before)}") from None
    return sum(event.at < moment for event in events)


def questions_at(agent: RecallAgent) -> Iterator[tuple[int, list[RecallQuestion]]]:
    """Return the questions of an agent together with the number of events that they see, ascending."""
    by_place: dict[int, list[RecallQuestion]] = {}
    for question in agent.questions:
        by_place.setdefault(question.sees, []).append(question)
    yield from sorted(by_place.items())
