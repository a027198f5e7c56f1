"""Evaluate an extractor on conversations with gold memories, without a database.

The extractor reads a conversation in the windows that a flush would cut after the last message: with the same limits,
and the same events before each window.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from slowwave.errors import InvalidMessage, InvalidName, TooLarge, shown
from slowwave.messages import message_events
from slowwave.settings import ExtractorSettings
from slowwave_server.domain.candidates import Candidate, ExtractionContext, Extractor
from slowwave_server.domain.evaluation import Agreement, Carried, agreement, carried
from slowwave_server.domain.events import Event
from slowwave_server.domain.windows import cut_window, most_events, preceding
from slowwave_server.services.evaluation.recall_data import BadLine

AGENT = "agent"
UNDATED = datetime(2026, 1, 5, 9, tzinfo=UTC)
"""The time of the first message if none has a time; each message comes a minute after the one before."""
FIELDS = frozenset(("session", "messages"))


@dataclass(frozen=True, slots=True)
class Conversation:
    """One session. numbers: the message number of each event, by seq; gold: memories by message number."""

    session: str
    events: tuple[Event, ...]
    numbers: Mapping[int, int]
    gold: Mapping[int, str]
    messages: int


@dataclass(slots=True)
class Evaluation:
    """The figures of all conversations. by_role: the agreement over the messages of one kind of event."""

    conversations: int = 0
    messages: int = 0
    memories: int = 0
    all_messages: Agreement = field(default_factory=Agreement)
    by_role: dict[str, Agreement] = field(default_factory=dict)
    words: Carried = field(default_factory=Carried)


def extract_session(
    extractor: Extractor, events: Sequence[Event], agent: str, bounds: ExtractorSettings
) -> list[Candidate]:
    """Return the candidates of a session that is flushed after its last event. events: seq 1 to n."""
    found: list[Candidate] = []
    done = 0
    while done < len(events):
        window = cut_window(
            events[done : done + most_events(bounds.max_messages_per_flush)],
            max_messages=bounds.max_messages_per_flush,
            max_chars=bounds.max_chars_per_flush,
        )
        context = ExtractionContext(agent, preceding=preceding(events[:done]))
        found += extractor.extract(window, context, events[-1].happened_at).candidates
        done = window.to_seq
    return found


def read_conversations(lines: Iterable[str]) -> Iterator[Conversation]:
    """Read conversations from JSON lines: {"session", "messages": [{"role", "content", "name"?, "at"?, "memory"?}]}.

    memory: the memory that a person wrote for the message; "" or absent if nothing is worth keeping. Raises
    BadLine.
    """
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                yield _conversation(json.loads(line))
            except (InvalidMessage, InvalidName, TooLarge) as error:
                raise BadLine(number, str(error)) from None
            except (ValueError, RecursionError) as error:
                raise BadLine(number, f"the line is not JSON: {error}") from None


def evaluate(conversations: Iterable[Conversation], extractor: Extractor, bounds: ExtractorSettings) -> Evaluation:
    """Extract every conversation and compare its memories with the gold memories."""
    total = Evaluation()
    for one in conversations:
        found = extract_session(extractor, one.events, AGENT, bounds)
        said: dict[int, list[str]] = {}
        for memory in found:
            for seq in memory.sources:
                said.setdefault(one.numbers[seq], []).append(memory.content)
        total.conversations += 1
        total.messages += one.messages
        total.memories += len(found)
        total.all_messages += agreement(said, one.gold)
        for role in {event.kind for event in one.events}:
            of_role = {one.numbers[event.seq] for event in one.events if event.kind == role}
            before = total.by_role.get(role, Agreement())
            total.by_role[role] = before + agreement(said.keys() & of_role, one.gold.keys() & of_role)
        total.words = sum((carried(text, said.get(at, ())) for at, text in one.gold.items()), total.words)
    return total


def _conversation(line: Any) -> Conversation:
    if not isinstance(line, dict):
        raise InvalidMessage(f"the line must hold a JSON object, got {shown(line)}")
    if unknown := sorted(line.keys() - FIELDS):
        raise InvalidMessage(f"unknown field {shown(unknown[0])}; allowed: messages, session")
    messages = line.get("messages")
    if not isinstance(messages, list) or not messages:
        raise InvalidMessage("messages must be a list of at least one message")
    session = line.get("session", "")
    if not isinstance(session, str):
        raise InvalidMessage(f"session must be text, got {shown(session)}")
    events: list[Event] = []
    numbers: dict[int, int] = {}
    gold: dict[int, str] = {}
    tools: dict[str, str] = {}
    for number, message in enumerate(messages, 1):
        try:
            recorded = _events(message, events, tools)
            memory = _memory(message)
        except (InvalidMessage, InvalidName, TooLarge) as error:
            raise InvalidMessage(f"message {number}: {error}") from None
        events += recorded
        numbers |= {event.seq: number for event in recorded}
        if memory:
            gold[number] = memory
    return Conversation(session, tuple(events), numbers, gold, len(messages))


def _events(message: Any, before: Sequence[Event], tools: dict[str, str]) -> list[Event]:
    """Return the events that would be recorded for a message; [] if the message is not recorded."""
    made: list[Event] = []
    for recorded in message_events(message, "evaluation", names=tools):
        last = made[-1:] or list(before[-1:])
        if "at" in recorded:
            at = datetime.fromisoformat(recorded["at"])
        else:
            at = last[0].happened_at + timedelta(minutes=0 if made else 1) if last else UNDATED
        kind = recorded["kind"]
        about = recorded.get("metadata", {})
        role, name = recorded.get("role", kind), recorded.get("name")
        made.append(Event(len(before) + len(made) + 1, kind, role, recorded["content"], at, name, about))
    return made


def _memory(message: Mapping[str, Any]) -> str:
    memory = message.get("memory", "")
    if not isinstance(memory, str):
        raise InvalidMessage(f"memory must be text, and empty if nothing is worth keeping; got {shown(memory)}")
    return memory.strip()
