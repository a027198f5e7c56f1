"""The workers' app of a chaos run: `celery -A proof.chaos.app`. It is the product's app with another clock and
extractor.

The clock is the run's own, which can be wrong. The extractor waits for a while, so that kills happen during flushes;
for agents whose names begin with `model` it uses the model of the settings, for all others the rules.
"""

import os
import threading
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from random import Random

from proof.chaos.places import FOLDER_VARIABLE, MODEL_AGENTS, VISIBILITY_VARIABLE, FaultyClock, Places
from slowwave.coordination.broker import connect_broker
from slowwave.settings import Settings, load_settings
from slowwave_server.domain.candidates import Extraction, ExtractionContext, Extractor, Window
from slowwave_server.domain.extraction import RulesExtractor
from slowwave_server.models.engine import make_engine
from slowwave_server.services.extraction.build import build_extractor
from slowwave_server.workers.app import make_app

# Most windows take a few hundredths of a second; a few take longer than the lifetime of a lease.
_USUAL_SECONDS = 0.12
_LONG_SECONDS = 10.0
_LONG_SHARE = 0.004


class ChaosExtractor:
    """An extractor that passes each window to the extractor of its agent, after a delay."""

    def __init__(self, settings: Settings, clock: Callable[[], datetime]) -> None:
        self._settings = settings
        self._clock = clock
        self._rules = RulesExtractor()
        self._model: Extractor | None = None
        self._pid = 0
        self._lock = threading.Lock()
        self._never = threading.Event()

    @property
    def name(self) -> str:
        return self._rules.name

    @property
    def version(self) -> str:
        return self._rules.version

    def extract(self, window: Window, context: ExtractionContext, now: datetime) -> Extraction:
        """Extract a window, after a random delay. Raises the errors of the model's extractor."""
        chance = Random()
        self._never.wait(_LONG_SECONDS if chance.random() < _LONG_SHARE else chance.uniform(0.005, _USUAL_SECONDS))
        reader = self._of_model() if context.agent.startswith(MODEL_AGENTS) else self._rules
        return reader.extract(window, context, now)

    def _of_model(self) -> Extractor:
        # Make it after the fork, because it has connections.
        with self._lock:
            if self._model is None or self._pid != os.getpid():
                settings = self._settings
                engine = make_engine(settings.database_url)
                self._model = build_extractor(settings, engine, connect_broker(settings), self._clock)
                self._pid = os.getpid()
            return self._model


_settings = load_settings()
_clock = FaultyClock(Places(Path(os.environ[FOLDER_VARIABLE])).clock)
celery = make_app(_settings, extractor=ChaosExtractor(_settings, _clock), clock=_clock)
_transport = celery.conf.broker_transport_options | {"visibility_timeout": float(os.environ[VISIBILITY_VARIABLE])}
celery.conf.update(broker_transport_options=_transport)
