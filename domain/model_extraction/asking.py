"""From a window to a prompt: what is noise stays out, secrets are redacted, the rest stands fenced and numbered.

Must not know: who is asked, and what is answered.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

from slowwave.recall.rendering import Block, fenced, one_line, shorten
from slowwave_server.domain.candidates import ExtractionContext, Window
from slowwave_server.domain.events import Event
from slowwave_server.domain.extraction.speech import Speech, name_of, speeches
from slowwave_server.domain.model_calls import Prompt
from slowwave_server.domain.noise import is_chatter, is_noise, without_machinery
from slowwave_server.domain.prompts import prompt_text
from slowwave_server.domain.redaction import redact

PROMPT = "extract/1"
MOST_MEMORIES = 20
"""Of one window. A model that goes on and on must not flood the memory."""
MAX_BEFORE = 400
"""Characters of a line that stands before the window: it only helps to understand."""

TYPES = ("fact", "preference", "decision", "task", "event")
# Bounds of numbers are checked afterwards: not every endpoint that takes a schema takes these.
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "memories": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "content": {"type": "string"},
                    "type": {"type": "string"},
                    "importance": {"type": "number"},
                    "confidence": {"type": "number"},
                    "entities": {"type": "array", "items": {"type": "string"}},
                    "valid_from": {"type": ["string", "null"]},
                    "sources": {"type": "array", "items": {"type": "integer"}},
                },
                "required": ["content", "type", "importance", "confidence", "entities", "valid_from", "sources"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["memories"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Said:
    """One event that is shown. text: redacted, without machinery, lines kept; name: the speaker's, on one line."""

    speech: Speech
    name: str
    text: str

    @property
    def event(self) -> Event:
        return self.speech.event


@dataclass(frozen=True, slots=True)
class Asked:
    """A window as it is read. said: the events that are shown, by seq, in order; only these can be evidence.

    tasks: milestones of runs, which need no model. noise, redactions: counts for the ledger.
    """

    said: dict[int, Said]
    tasks: tuple[Event, ...]
    noise: int
    redactions: int

    @property
    def words(self) -> str:
        """What is said, for a search: the newest first, so that a bound cuts off the oldest."""
        return " ".join(one_line(said.text) for said in reversed(self.said.values()))


@dataclass(frozen=True, slots=True)
class Known:
    """What is known already, each thing a line: helps to understand, is no evidence. notes: of the window's day."""

    notes: tuple[str, ...] = ()
    memories: tuple[str, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        return (*self.notes, *self.memories)


def read_window(window: Window, context: ExtractionContext) -> Asked:
    """Sort a window's events into what a model reads, milestones, and noise (recalled memories among it)."""
    talk = {speech.event.seq: speech for speech in speeches(window.events, context.preceding, context.agent)}
    said: dict[int, Said] = {}
    tasks: list[Event] = []
    noise = redactions = 0
    for event in window.events:
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
        said[event.seq] = Said(talk[event.seq], _name(event, context), text)
    return Asked(said, tuple(tasks), noise, redactions)


def prompt_of(asked: Asked, context: ExtractionContext, known: Known, *, no_reply: str) -> Prompt:
    """Ask for the memories of a window. no_reply: what an endpoint without schemas answers where there are none."""
    zone = ZoneInfo(context.time_zone)
    blocks = (
        Block("Known already, no evidence", _numbered(known.memories)),
        Block("Notes of the same day, known already, no evidence", [f"- {one_line(line)}" for line in known.notes]),
        Block("Said just before, no evidence", list(_before(context))),
        Block("The window", [_line(said, zone) for said in asked.said.values()]),
    )
    system = prompt_text(PROMPT).replace("{most}", str(MOST_MEMORIES)).replace("{no_reply}", no_reply)
    return Prompt("extract", PROMPT, system, fenced(blocks), SCHEMA, "memories", no_reply)


def _readable(event: Event, text: str) -> str:
    """The text without noise, "" where nothing is left: what was recalled is left out here as the rules leave it."""
    text = "" if is_noise(event) else without_machinery(text).strip()
    return "" if is_chatter(text) or not one_line(text) else text


def _name(event: Event, context: ExtractionContext) -> str:
    return one_line(redact(name_of(event, context.agent)).text)


def _numbered(lines: Iterable[str]) -> list[str]:
    # A letter first: such a number can't pass for that of an event.
    return [f"[K{number}] {one_line(line)}" for number, line in enumerate(lines, start=1)]


def _before(context: ExtractionContext) -> Iterable[str]:
    for event in context.preceding:
        if event.is_spoken and (text := _readable(event, redact(event.content).text)):
            yield f"{_name(event, context)}: {shorten(one_line(text), MAX_BEFORE)}"


def _line(said: Said, zone: ZoneInfo) -> str:
    at = said.event.happened_at.astimezone(zone)
    return f"#{said.event.seq} {at:%a %Y-%m-%d %H:%M} {said.name} ({said.event.kind}): {one_line(said.text)}"
