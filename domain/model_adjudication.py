"""Let a model decide which of two contradicting statements is valid: the question, and the limits of the answer.

A model only settles cases that the order of events also settles (I9). The statement with the latest time may replace
the other one if a cited event of its own says so and is later than all evidence for the other. A model never decides
against a hand edit, nor for an assistant's claim against a person's own words; it deletes nothing. Every other case
stays open.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from slowwave.recall.rendering import Block, fenced, one_line, one_name, shorten
from slowwave_server.domain.model_calls import Answer, Prompt, object_schema
from slowwave_server.domain.prompts import prompt_text
from slowwave_server.domain.redaction import redact
from slowwave_server.domain.review import TESTIMONY, ReviewedMemory

VERSION = "adjudicate/1"
EVENT_CHARACTERS = 600
WHY_CHARACTERS = 200
_UNREADABLE = frozenset({"archived", "review"})

Holds = Literal["first", "second", "both", "unclear"]
Ruling = Literal["newer", "both", "open"]
"""newer: the later statement replaces the earlier one; both: there is no conflict; open: it stays a question."""

SCHEMA: Mapping[str, Any] = object_schema(
    {
        "holds": {"type": "string", "enum": ["first", "second", "both", "unclear"]},
        "why": {"type": "string"},
        "sources": {"type": "array", "items": {"type": "integer"}},
    }
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """An event that states one side. at: its aware time."""

    of_newer: bool
    speaker: str
    content: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Verdict:
    """The model's answer: the valid side, the reason in one line, and the numbers of the cited events."""

    holds: Holds
    why: str
    sources: tuple[int, ...]


def may_replace(older: ReviewedMemory, newer: ReviewedMemory) -> bool:
    """Return True if a model may let `newer` end `older`: later, with an equal or better witness, and no hand edit."""
    later = newer.reaffirmed_at > older.reaffirmed_at
    claim = older.trust in TESTIMONY and newer.trust not in TESTIMONY
    return later and not claim and older.trust != "hand" and newer.status not in _UNREADABLE


def may_stand_together(older: ReviewedMemory, newer: ReviewedMemory) -> bool:
    """Return True if a model may decide that both are valid: answers already contain both."""
    return older.status not in _UNREADABLE and newer.status not in _UNREADABLE


def state_of(older: ReviewedMemory, newer: ReviewedMemory) -> str:
    """Return a digest of all inputs of a verdict. While it is unchanged, the model is not asked again."""
    sides = [
        [str(side.id), side.content, side.status, side.trust, side.valid_from.isoformat(),
         side.reaffirmed_at.isoformat(), None if side.valid_to is None else side.valid_to.isoformat()]
        for side in (older, newer)
    ]  # fmt: skip
    return hashlib.sha256(json.dumps([VERSION, sides]).encode()).hexdigest()


def question(older: ReviewedMemory, newer: ReviewedMemory, evidence: Sequence[Evidence]) -> Prompt:
    """Ask which side is valid. The entries of `evidence` are numbered from 1. All quoted text is fenced, as data."""
    blocks = []
    for name, statement, of_newer in (("first", older, False), ("second", newer, True)):
        events = [
            f"[{number}] {event.at:%Y-%m-%d %H:%M} UTC, {one_name(redact(event.speaker).text)}: "
            + shorten(one_line(redact(event.content).text), EVENT_CHARACTERS)
            for number, event in enumerate(evidence, start=1)
            if event.of_newer is of_newer
        ]
        blocks += [
            Block(f"The {name} statement", [one_line(statement.content)]),
            Block(f"Events of the {name}", events),
        ]
    return Prompt("adjudicate", VERSION, prompt_text(VERSION), fenced(blocks), SCHEMA, "verdict")


def verdict_of(answer: Answer) -> Verdict:
    """Parse the model's answer, which fits the schema; its sentence becomes one line without secrets."""
    why = shorten(one_line(redact(answer.data["why"]).text), WHY_CHARACTERS)
    return Verdict(answer.data["holds"], why, tuple(dict.fromkeys(answer.data["sources"])))


def ruling(verdict: Verdict, older: ReviewedMemory, newer: ReviewedMemory, evidence: Sequence[Evidence]) -> Ruling:
    """Return the decision that follows from a verdict, limited to what the cited events and their order support."""
    if not verdict.sources or not all(1 <= number <= len(evidence) for number in verdict.sources):
        return "open"
    cited = [evidence[number - 1] for number in verdict.sources]
    if verdict.holds == "second" and may_replace(older, newer):
        last = max((event.at for event in evidence if not event.of_newer), default=older.reaffirmed_at)
        says_so = any(event.of_newer and event.at > max(last, older.reaffirmed_at) for event in cited)
        return "newer" if says_so else "open"
    if verdict.holds == "both" and may_stand_together(older, newer):
        return "both" if {event.of_newer for event in cited} == {False, True} else "open"
    return "open"
