"""What tests of extraction by a model share: a model that says what it is told to, and windows of turns."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from slowwave_server.domain.candidates import Extraction, ExtractionContext, Window
from slowwave_server.domain.events import Event, EventKind
from slowwave_server.domain.extraction import RulesExtractor
from slowwave_server.domain.model_calls import Answer, Prompt, Spender
from slowwave_server.domain.model_extraction import KnownContext
from slowwave_server.services.extraction.model_extractor import ModelExtractor

NOON = datetime(2025, 3, 3, 12, tzinfo=UTC)  # a Monday


@dataclass
class Saying:
    """An AskModel: answers with data, or raises what it is given; remembers what it was asked."""

    answer: Any
    name: str = "openai test-model"
    prompts: list[Prompt] = field(default_factory=list)
    spenders: list[Spender] = field(default_factory=list)

    def ask(self, prompt: Prompt, spender: Spender) -> Answer:
        self.prompts.append(prompt)
        self.spenders.append(spender)
        said = self.answer(prompt) if callable(self.answer) else self.answer
        if isinstance(said, Exception):
            raise said
        return Answer("", said, 100, 20, "test-model")


@dataclass
class Knowing:
    """A KnowsAlready that knows the same of everybody."""

    known: KnownContext

    def read(self, context: ExtractionContext, words: str, before: datetime) -> KnownContext:
        return self.known


def memory(content: str, *sources: int, **fields: Any) -> dict[str, Any]:
    """One memory as a model writes it."""
    plain = {"kind": "fact", "subject": "", "importance": "normal", "certainty": "stated", "entities": []}
    undated = {"valid_from": None, "precision": "unknown", "repeats": None, "corrects": None}
    return {"content": content, "sources": list(sources)} | plain | undated | fields


def turns(*lines: str | tuple[str, str], first: int = 1) -> Window:
    """Events a minute apart: a text is Maya's, a pair (kind or name, text) that of somebody else."""
    events = []
    for seq, line in enumerate(lines, start=first):
        who, said = ("Maya", line) if isinstance(line, str) else line
        kind: EventKind = "assistant" if who == "assistant" else "task" if who == "task" else "user"
        name = None if who in {"assistant", "task", "user"} else who
        metadata = {"event": "run_finished"} if kind == "task" else {}
        at = NOON + timedelta(minutes=seq)
        events.append(Event(seq, kind, kind, said, at, name, metadata))
    return Window(tuple(events))


def extracted(
    answer: Any,
    window: Window,
    *,
    known: Sequence[str] | KnownContext = (),
    preceding: tuple[Event, ...] = (),
    zone: str = "UTC",
) -> Extraction:
    """What a model's memories (or a whole answer, or a failure) become."""
    data = {"memories": answer} if isinstance(answer, list) else answer
    context = ExtractionContext("iris", zone, preceding, scope_id=1)
    return extractor(Saying(data), known).extract(window, context, NOON)


def extractor(model: Saying, known: Sequence[str] | KnownContext = ()) -> ModelExtractor:
    return ModelExtractor(
        model,
        RulesExtractor(),
        Knowing(known if isinstance(known, KnownContext) else KnownContext.of(*known)),
        "NO_REPLY",
    )
