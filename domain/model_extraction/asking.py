"""Build a prompt from a window: drop noise, redact secrets, fence and number the other events."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Literal, get_args
from zoneinfo import ZoneInfo

from slowwave.memory_types import MEMORY_TYPES, MemoryType
from slowwave.recall.rendering import Block, fenced, one_line, one_name, shorten
from slowwave_server.domain.candidates import ExtractionContext, Window
from slowwave_server.domain.events import Event
from slowwave_server.domain.extraction.speech import Speech, name_of, speeches
from slowwave_server.domain.long_text import ends
from slowwave_server.domain.model_calls import Prompt, rows_schema
from slowwave_server.domain.model_extraction.images import captioned
from slowwave_server.domain.model_extraction.known import KnownContext, KnownMemory
from slowwave_server.domain.noise import is_chatter, is_noise, without_machinery
from slowwave_server.domain.prompts import prompt_text
from slowwave_server.domain.redaction import redact

PROMPT = "extract/2"
MOST_MEMORIES = 60
"""Per window. An endless answer must not flood the memory; the prompt names no number."""
MAX_BEFORE = 400
"""Characters of a line from before the window: it is only context."""

TYPES: tuple[MemoryType, ...] = tuple(kind for kind in MEMORY_TYPES if kind != "summary")
Precision = Literal["day", "week", "month", "year", "unknown"]
PRECISIONS: tuple[Precision, ...] = get_args(Precision)
IMPORTANCE: Mapping[str, float] = {"high": 0.85, "normal": 0.6, "low": 0.35}
CERTAINTY: Mapping[str, float] = {"stated": 0.9, "implied": 0.7}
_TEXT = {"type": "string"}
_TEXT_OR_NULL = {"type": ["string", "null"]}
_FIELDS: dict[str, Any] = {
    "content": _TEXT,
    "kind": {"type": "string", "enum": list(TYPES)},
    "subject": _TEXT,
    "sources": {"type": "array", "items": {"type": "integer"}},
    "valid_from": _TEXT_OR_NULL,
    "precision": {"type": "string", "enum": list(PRECISIONS)},
    "importance": {"type": "string", "enum": list(IMPORTANCE)},
    "certainty": {"type": "string", "enum": list(CERTAINTY)},
    "entities": {"type": "array", "items": _TEXT},
    "repeats": _TEXT_OR_NULL,
    "corrects": _TEXT_OR_NULL,
}
SCHEMA: dict[str, Any] = rows_schema("memories", _FIELDS)
ACCEPTED: dict[str, Any] = {
    "anyOf": [
        {"type": "object", "properties": {"memories": {"type": "array"}}, "required": ["memories"]},
        {"type": "array"},
    ]
}
"""The schema of an acceptable answer.

A wrong field invalidates its memory, not the answer, because endpoints without schemas make mistakes.
"""


@dataclass(frozen=True, slots=True)
class ShownEvent:
    """One event in the prompt. text: redacted, with line breaks, without machine output; name: the speaker's."""

    speech: Speech
    name: str
    text: str

    @property
    def event(self) -> Event:
        return self.speech.event


@dataclass(frozen=True, slots=True)
class Asked:
    """A window in the form for a prompt.

    Attributes:
        said: the events in the prompt, by seq, in order; only these are evidence.
        tasks: milestones of runs, which need no model.
        noise: the number of noise events, for the ledger.
        redactions: the number of redacted secrets, for the ledger.
        left_out: events that were too long for the prompt, each with its omitted middle only.
    """

    said: dict[int, ShownEvent]
    tasks: tuple[Event, ...]
    noise: int
    redactions: int
    left_out: tuple[Event, ...] = ()

    def digest(self, *about: str) -> bytes:
        """Return a 16-byte digest of the window's text, combined with the values `about`."""
        lines = (f"{seq} {said.name}: {said.text}" for seq, said in self.said.items())
        return blake2b("\0".join((*about, *lines)).encode("utf-8", "surrogatepass"), digest_size=16).digest()

    @property
    def words(self) -> str:
        """Return the window as a search query: the newest event first, so that a limit cuts off the oldest."""
        return " ".join(one_line(said.text) for said in reversed(self.said.values()))


def read_window(window: Window, context: ExtractionContext, max_chars: int | None = None) -> Asked:
    """Sort a window's events into text for the model, milestones, and noise (recalled memories included).

    max_chars: the highest number of characters of an event in the prompt; a longer event is shortened to its beginning
    and its end. None: no limit.
    """
    events = [captioned(event) for event in window.events]
    talk = {speech.event.seq: speech for speech in speeches(events, map(captioned, context.preceding), context.agent)}
    said: dict[int, ShownEvent] = {}
    tasks: list[Event] = []
    left_out: list[Event] = []
    noise = redactions = 0
    for event in events:
        if event.kind == "task":
            tasks.append(event)
        if not event.is_spoken:
            continue
        clean = redact(event.content)
        redactions += len(clean.kinds)
        text = _readable(event, clean.text)
        if not text:
            noise += 1
            continue
        text, middle = ends(text, len(text) if max_chars is None else max_chars)
        if middle:
            left_out.append(replace(event, content=middle))
        said[event.seq] = ShownEvent(talk[event.seq], _name(event, context), text)
    return Asked(said, tuple(tasks), noise, redactions, tuple(left_out))


def prompt_of(asked: Asked, context: ExtractionContext, known: KnownContext, *, no_reply: str) -> Prompt:
    """Build the prompt that requests a window's memories. no_reply: the "nothing" of an endpoint without schemas."""
    zone = ZoneInfo(context.time_zone)
    blocks = (
        Block("Known already", _numbered(known.memories)),
        Block("Noted earlier on the same day", [f"- {one_line(line)}" for line in known.notes]),
        Block("Said just before", list(_before(context, zone))),
        Block("The window", [_line(said, zone) for said in asked.said.values()]),
    )
    system = prompt_text(PROMPT).replace("{no_reply}", no_reply)
    return Prompt("extract", PROMPT, system, fenced(blocks), SCHEMA, "memories", no_reply, accepted=ACCEPTED)


def _readable(event: Event, text: str) -> str:
    """Return the text without noise, or "". Recalled memories are removed, as the rules do."""
    text = "" if is_noise(event) else without_machinery(text).strip()
    return "" if is_chatter(text) or not one_line(text) else text


def _name(event: Event, context: ExtractionContext) -> str:
    return one_name(redact(name_of(event, context.agent)).text)


def _numbered(memories: Iterable[KnownMemory]) -> list[str]:
    # The letter keeps these numbers distinct from event numbers.
    return [
        f"[K{number}] {f'{memory.since} ' if memory.since else ''}{one_line(memory.content)}"
        for number, memory in enumerate(memories, start=1)
    ]


def _before(context: ExtractionContext, zone: ZoneInfo) -> Iterable[str]:
    for event in map(captioned, context.preceding):
        if event.is_spoken and (text := _readable(event, redact(event.content).text)):
            yield f"{_time(event, zone)} {_name(event, context)} ({event.kind}): {shorten(one_line(text), MAX_BEFORE)}"


def _line(said: ShownEvent, zone: ZoneInfo) -> str:
    return f"#{said.event.seq} {_time(said.event, zone)} {said.name} ({said.event.kind}): {one_line(said.text)}"


def _time(event: Event, zone: ZoneInfo) -> str:
    return f"{event.happened_at.astimezone(zone):%a %Y-%m-%d %H:%M}"
