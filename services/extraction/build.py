"""Build the extractor of the settings: a model if one is configured and may read windows, else the rules."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from redis import Redis
from sqlalchemy import Engine

from slowwave.settings import Settings
from slowwave_server.domain.candidates import Extractor
from slowwave_server.domain.model_calls import AskModel
from slowwave_server.services.extraction.judging import rules_extractor
from slowwave_server.services.extraction.memory_context import ScopeKnowledge
from slowwave_server.services.extraction.model_extractor import KnowsAlready, ModelExtractor
from slowwave_server.services.extraction.window_answers import WindowAnswers
from slowwave_server.services.llm.build import build_model, with_llm
from slowwave_server.services.llm.calling import Caller
from slowwave_server.services.llm.gate import LEASE_MARGIN_SECONDS, SLOT_WAIT_SECONDS


def build_extractor(settings: Settings, engine: Engine, redis: Redis, clock: Callable[[], datetime]) -> Extractor:
    """Build the extractor, after a fork. Raises InvalidSettings if a setting or a package is missing."""
    known = ScopeKnowledge(engine, settings.memory.auto_flush.extractor.include_memory_context)
    model = extraction_model(settings, engine, redis, clock) if settings.memory.llm.extract else None
    if model is None:
        return rules_extractor(settings)
    return replace(model_extractor(settings, model, known), answers=_answers(settings, engine, clock))


def _answers(settings: Settings, engine: Engine, clock: Callable[[], datetime]) -> WindowAnswers:
    longest = settings.memory.auto_flush.extractor.max_extraction_seconds
    # No attempt begins that might end after `longest`, apart from the wait for a slot and delays of a busy machine.
    return WindowAnswers(engine, clock, longest, longest + SLOT_WAIT_SECONDS + LEASE_MARGIN_SECONDS)


def model_extractor(settings: Settings, model: AskModel, known: KnowsAlready, run: int | None = None) -> ModelExtractor:
    """Return a model as an extractor. run: the run to which its calls are charged, if a run requests them."""
    bounds = settings.memory.auto_flush.extractor
    return ModelExtractor(
        model, rules_extractor(settings), known, bounds.no_reply_token, run, max_chars=bounds.max_chars_per_flush
    )


def extraction_model(
    settings: Settings, engine: Engine, redis: Redis, clock: Callable[[], datetime]
) -> AskModel | None:
    """Return the configured model, or None. All attempts of a call end within `max_extraction_seconds`."""
    longest = settings.memory.auto_flush.extractor.max_extraction_seconds
    timeout = min(settings.memory.llm.timeout_seconds, longest)
    model = build_model(with_llm(settings, timeout_seconds=timeout), engine, redis, clock)
    return replace(model, total_seconds=longest) if isinstance(model, Caller) else model
