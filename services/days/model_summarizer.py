"""A summarizer that lets a model write the lines of a segment; the rules merge the lines."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from slowwave.settings import Days
from slowwave_server.domain.events import Event
from slowwave_server.domain.model_calls import AskModel, ModelFailed, Spender
from slowwave_server.domain.model_summaries import VERSION, SegmentText
from slowwave_server.domain.summaries import DaySummary, merge_lines
from slowwave_server.services.days.book import DayRef
from slowwave_server.services.days.summarizers import FAULTS, RULES, Lines, SegmentContext, Summarizer

ChooseSummarizer = Callable[[DayRef], Summarizer]


@dataclass(frozen=True, slots=True)
class ModelSummarizer:
    """Calls the model once for each segment; the spender pays."""

    model: AskModel
    spender: Spender

    @property
    def name(self) -> str:
        return f"model {VERSION} {self.model.name}"

    def segment(self, events: Sequence[Event], told: SegmentContext, preceding: Sequence[Event]) -> Lines:
        """Return the lines that the events support; () without spoken turns.

        Raises only errors of models. After an error of Slowwave's own code, the caller must not ask about halves of the
        same events.
        """
        try:
            text = SegmentText.of(
                events, preceding=preceding, session=told.session, agent=told.agent, time_zone=told.time_zone
            )
            about = f"day {self.spender.agent} {told.session} {events[0].seq}" if events else None
            question = replace(text.question(), about=about)
            lines = text.lines_of(self.model.ask(question, self.spender)) if text.events else ()
        except FAULTS as error:
            raise ModelFailed(f"lines of a segment could not be made: {type(error).__name__}") from error
        if text.events and not lines:
            raise ModelFailed("none of its lines stands on what was said")
        return lines

    def merge(self, parts: Sequence[Lines], *, max_words: int) -> DaySummary:
        return merge_lines(parts, max_words=max_words)


def by_rules(_day: DayRef) -> Summarizer:
    """Return the rules, whatever the day is."""
    return RULES


def choose_summarizer(settings: Days, model: AskModel | None) -> ChooseSummarizer:
    """Choose a day's summarizer: a model if configured and enabled, paid for by the day's agent; else the rules."""
    if model is None or not settings.daily_summary_use_model:
        return by_rules
    return lambda day: ModelSummarizer(model, Spender(day.tenant, day.agent))
