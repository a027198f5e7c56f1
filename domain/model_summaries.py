"""Let a model write lines for a segment of a day: the prompt, and the check of each line against the events.

A line cites one event. This event or the one before must contain the line's names, numbers and dates, and half of its
other words; the line must deny exactly what these events deny. The answer contributes only the text of lines.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import Any
from zoneinfo import ZoneInfo

from slowwave.recall.rendering import Block, fenced, one_line, one_name
from slowwave_server.domain.events import Event
from slowwave_server.domain.extraction.sentences import sentences
from slowwave_server.domain.extraction.signals import Seen, signals
from slowwave_server.domain.extraction.speech import name_of
from slowwave_server.domain.grounding import not_said
from slowwave_server.domain.model_calls import Answer, Prompt, rows_schema
from slowwave_server.domain.noise import is_chatter, is_noise
from slowwave_server.domain.prompts import prompt_text
from slowwave_server.domain.redaction import redact
from slowwave_server.domain.similarity import read
from slowwave_server.domain.summaries.lines import FACETS, Line, in_order
from slowwave_server.domain.summaries.reading import TASK, cleaned
from slowwave_server.domain.summaries.weights import weight_of

VERSION = "summarize/2"
MAX_LINES = 16
_LONGEST = 300
_SHARED = 0.5
"""The share of a line's content words that must occur in its event or the one before."""
_FIELDS = {"facet": {"type": "string", "enum": list(FACETS)}, "text": {"type": "string"}, "seq": {"type": "integer"}}
SCHEMA: Mapping[str, Any] = rows_schema("lines", _FIELDS)


@dataclass(frozen=True, slots=True)
class SegmentText:
    """Events of one session and day, by seq, as a model sees them: without noise and secrets.

    preceding: the events before them, if any; agent: the agent's name; time_zone: the agent's IANA zone.
    """

    events: tuple[Event, ...]
    preceding: tuple[Event, ...]
    session: str
    agent: str
    time_zone: str

    @classmethod
    def of(
        cls, events: Sequence[Event], *, preceding: Sequence[Event], session: str, agent: str, time_zone: str
    ) -> "SegmentText":
        """Clean the events. Raises ZoneInfoNotFoundError for an unknown zone."""
        ZoneInfo(time_zone)
        return cls(_readable(events), _readable(preceding), session, agent, time_zone)

    def question(self) -> Prompt:
        """Ask for the lines. All quoted text is fenced, as data."""
        lines = [f"(before) {self._shown(event)}" for event in self.preceding]
        lines += [f"[{event.seq}] {self._shown(event)}" for event in self.events]
        data = fenced([Block("The events", lines)])
        return Prompt("summarize", VERSION, prompt_text(VERSION), data, SCHEMA, "summary")

    def lines_of(self, answer: Answer) -> tuple[Line, ...]:
        """Return the supported lines, at most MAX_LINES, by facet and time; of a long answer, only the beginning."""
        places = {event.seq: place for place, event in enumerate(self.events)}
        kept: dict[tuple[int, str], Line] = {}
        for row in answer.data["lines"][: 3 * MAX_LINES]:
            if row["seq"] in places and len(kept) < MAX_LINES:
                line = self._line(row, places[row["seq"]])
                if line is not None:
                    kept.setdefault((line.seq, line.text), line)
        return in_order(kept.values())

    def _line(self, row: Mapping[str, Any], place: int) -> Line | None:
        event = self.events[place]
        text = redact(one_line(row["text"])).text
        if not 0 < len(text) <= _LONGEST or not self._is_said(text, place):
            return None
        weight = max(0.0, weight_of(signals(text, Seen()), row["facet"]))
        speaker = redact(self._name(event)).text
        return Line(row["facet"], text, speaker, self.session, event.seq, event.happened_at.astimezone(UTC), weight)

    def _is_said(self, text: str, place: int) -> bool:
        event = self.events[place]
        before = self.events[place - 1 : place] if place else self.preceding
        names = [self.agent, *map(self._name, (*self.preceding, *self.events))]
        said = [event.content, *(other.content for other in before)]
        if not_said(text, [*said, *names]):
            return False
        heard = {stem for part in (*said, *names) for stem in read(part).stems}
        stems = read(text).distinct_stems
        if len(stems & heard) < _SHARED * len(stems):
            return False
        # A lost or an invented "not" reverses a sentence.
        nearest = max(sentences(event.content), key=lambda one: len(stems & read(one).distinct_stems), default="")
        return read(nearest).negated == read(text).negated

    def _shown(self, event: Event) -> str:
        at = event.happened_at.astimezone(ZoneInfo(self.time_zone))
        return f"{at:%H:%M}, {one_name(redact(self._name(event)).text)}: {one_line(event.content)}"

    def _name(self, event: Event) -> str:
        return TASK if event.kind == "task" and not event.name else name_of(event, self.agent)


def _readable(events: Sequence[Event]) -> tuple[Event, ...]:
    clean = (cleaned(event) for event in events if event.kind != "tool")
    return tuple(event for event in clean if event.content and not is_noise(event) and not is_chatter(event.content))
