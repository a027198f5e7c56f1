"""A judge of statements that says what a test wants, and the memories of a talk with it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from slowwave_server.domain.candidates import ExtractionContext, Window
from slowwave_server.domain.events import Event, EventKind
from slowwave_server.domain.extraction import RulesExtractor
from slowwave_server.domain.extraction.speech import Speech
from slowwave_server.domain.extraction.worth import Proposal

AT = datetime(2026, 5, 8, 13, 56, tzinfo=UTC)
Said = tuple[EventKind, str | None, str]
"""The kind of a turn, the name of its speaker, and the words."""


@dataclass
class Judge:
    """Says of each text what `likes` says, and remembers what it was asked."""

    likes: Callable[[str], float]
    asked: list[str] = field(default_factory=list)
    name: str = "test"

    def __call__(self, proposals: Sequence[Proposal], /) -> Sequence[float]:
        self.asked += [one.text for one in proposals]
        return [self.likes(one.text) for one in proposals]


def even(_talk: Sequence[Speech], _at: int) -> float:
    """Weigh every turn alike: a careful reader keeps part of it as often as not."""
    return 0.0


def kept(likes: Callable[[str], float], *turns: Said, **rules: Any) -> list[str]:
    """Return what the rules and a judge keep of a talk with "coder", one turn a minute."""
    events = tuple(
        Event(seq, kind, kind, content, AT + timedelta(minutes=seq), name=name)
        for seq, (kind, name, content) in enumerate(turns, 1)
    )
    found = RulesExtractor(Judge(likes), **rules).extract(Window(events), ExtractionContext("coder", "UTC"), AT)
    return [one.content for one in found.candidates]
