"""The extractor that asks a model within its budget, and uses the rules if the model can't answer.

no text for a model ────────────────────────▶ no call
asked ──▶ an answer ──▶ checked against the window ──▶ candidates
├── TransientError ───────────────────▶ raised: the flush waits, nothing is consumed
├── BudgetReached ────────────────────▶ the rules, marked "budget"
└── ModelFailed, unusable answer ───▶ the rules, marked "failed": no window waits for ever
for a model that gives no usable answer (I3)
"""

import logging
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from slowwave_server.domain.candidates import (
    Extraction,
    ExtractionContext,
    ExtractionOrigin,
    Extractor,
    Fallback,
    Window,
)
from slowwave_server.domain.model_calls import Answer, AskModel, BudgetReached, ModelFailed, Prompt, Spender
from slowwave_server.domain.model_extraction import (
    PROMPT,
    Asked,
    Checked,
    KnownContext,
    UnusableAnswer,
    prompt_of,
    read_answer,
    read_window,
)
from slowwave_server.services.extraction.window_answers import Question, WindowAnswers

log = logging.getLogger(__name__)

MAX_WHY = 200


class KnowsAlready(Protocol):
    """Reads what a scope knew before a window with these `words`. Leaves no transaction open."""

    def read(self, context: ExtractionContext, words: str, before: datetime) -> KnownContext: ...


class KnowsNothing:
    """An empty context for rebuilds, because the known memories are the ones to replace."""

    def read(self, context: ExtractionContext, words: str, before: datetime) -> KnownContext:  # noqa: ARG002 - the contract's
        return KnownContext()


@dataclass(frozen=True, slots=True)
class ModelExtractor:
    """An extractor (see `domain.candidates.Extractor`). rules: the fallback, which also reads milestones of tasks.

    no_reply: the model's plain-text answer for a window without memories. run: the run that pays, if a run asks.
    answers: ensures that each window is paid once; None if no other worker may ask about it. max_chars: the highest
    number of characters of one event in the prompt. The model reads the beginning and the end of a longer event in its
    one call, and the rules read the middle; a note of the extraction says so.
    """

    model: AskModel
    rules: Extractor
    known: KnowsAlready
    no_reply: str
    run: int | None = None
    answers: WindowAnswers | None = None
    max_chars: int | None = None

    @property
    def name(self) -> str:
        return f"model {self.model.name}"

    @property
    def version(self) -> str:
        return f"{PROMPT} + {self.rules.name} {self.rules.version}"

    def extract(self, window: Window, context: ExtractionContext, now: datetime) -> Extraction:
        """Ask once per window. Raises TransientError if nothing was done; the same window may then be asked again."""
        asked = read_window(window, context, self.max_chars)
        milestones = self._milestones(asked, context, now)
        if not asked.said:
            noise, redactions = asked.noise + milestones.noise, asked.redactions + milestones.redactions
            return replace(milestones, noise=noise, redactions=redactions)
        before = min(event.happened_at for event in window.events)
        known = self.known.read(context, asked.words, before)
        prompt = prompt_of(asked, context, known, no_reply=self.no_reply)
        if context.session_id is not None:
            prompt = replace(prompt, about=f"window {context.session_id} {window.from_seq}")
        try:
            answer, known = self._answer(prompt, window, context, asked, known)
        except BudgetReached as reached:
            return self._by_rules(window, context, now, "budget", reached.cap, 0)
        except ModelFailed as failed:
            return self._by_rules(window, context, now, "failed", str(failed), failed.tokens or 0)
        try:
            checked = read_answer(answer.data, asked, context, known)
        except UnusableAnswer as unusable:
            return self._by_rules(window, context, now, "failed", str(unusable), answer.tokens)
        return self._extraction(asked, (milestones, self._left_out(asked, context, now)), checked, answer.tokens)

    def _answer(
        self, prompt: Prompt, window: Window, context: ExtractionContext, asked: Asked, known: KnownContext
    ) -> tuple[Answer, KnownContext]:
        """Return the model's answer and its context, possibly from another worker that asked about the same window."""

        def ask() -> Answer:
            return self.model.ask(prompt, Spender(context.tenant, context.agent, self.run))

        if self.answers is None or context.session_id is None:
            return ask(), known
        digest = asked.digest(PROMPT, self.model.name)
        question = Question(context.session_id, window.from_seq, window.to_seq, digest, known)
        return self.answers.ask(question, ask)

    def _milestones(self, asked: Asked, context: ExtractionContext, now: datetime) -> Extraction:
        if not asked.tasks:
            return Extraction(())
        return self.rules.extract(Window(asked.tasks), context, now)

    def _left_out(self, asked: Asked, context: ExtractionContext, now: datetime) -> Extraction:
        """Let the rules read the middle of events that are too long for the prompt; their noise is counted."""
        if not asked.left_out:
            return Extraction(())
        found = self.rules.extract(Window(asked.left_out), context, now)
        characters = sum(len(event.content) for event in asked.left_out)
        note = f"{characters:,} characters of long events were read by the {self.rules.name}, not by the model"
        return Extraction(found.candidates, notes=(note, *found.notes))

    def _extraction(self, asked: Asked, by_rules: tuple[Extraction, ...], checked: Checked, tokens: int) -> Extraction:
        if checked.dropped:
            # Log counts only, because dropped memories may contain anything.
            log.info("of a model's memories were dropped: %s", dict(checked.dropped))
        return Extraction(
            candidates=(*(one for part in by_rules for one in part.candidates), *checked.candidates),
            noise=asked.noise + sum(part.noise for part in by_rules),
            redactions=asked.redactions + sum(part.redactions for part in by_rules) + checked.redactions,
            notes=tuple(note for part in by_rules for note in part.notes),
            made=ExtractionOrigin(self.name, self.version, tokens, dropped=checked.dropped),
        )

    def _by_rules(
        self, window: Window, context: ExtractionContext, now: datetime, fallback: Fallback, why: str, tokens: int
    ) -> Extraction:
        log.warning("a window was left to the %s: %s (%s)", self.rules.name, fallback, why[:MAX_WHY])
        made = ExtractionOrigin(self.rules.name, self.rules.version, tokens, fallback, why[:MAX_WHY])
        return replace(self.rules.extract(window, context, now), made=made)
