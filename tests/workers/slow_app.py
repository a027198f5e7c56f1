"""The workers' app with an extractor that tests can hold and slow down: `celery -A tests.workers.slow_app`.

SLOW_APP_FOLDER: while a file `hold-AGENT` stands in it, an extraction for that agent waits, and says so by a file
`held-AGENT-PID`; every extraction appends a line to `extractions`. SLOW_APP_SECONDS: how long each takes at least.
"""

import os
import threading
from datetime import datetime
from pathlib import Path

from slowwave.settings import load_settings
from slowwave_server.domain.candidates import Extraction, ExtractionContext, Window
from slowwave_server.workers.app import make_app
from tests.support.flushing import EveryUserLine

_POLL_SECONDS = 0.02


class HeldExtractor(EveryUserLine):
    """Keeps each user line, when it is let."""

    def __init__(self, folder: Path, seconds: float) -> None:
        super().__init__()
        self._folder = folder
        self._seconds = seconds
        self._never = threading.Event()

    def extract(self, window: Window, context: ExtractionContext, now: datetime) -> Extraction:
        with (self._folder / "extractions").open("a") as log:
            log.write(f"{context.agent} {window.from_seq} {window.to_seq}\n")
        hold = self._folder / f"hold-{context.agent}"
        if hold.exists():
            (self._folder / f"held-{context.agent}-{os.getpid()}").touch()
            while hold.exists():
                self._never.wait(_POLL_SECONDS)
        self._never.wait(self._seconds)
        return super().extract(window, context, now)


celery = make_app(
    load_settings(),
    extractor=HeldExtractor(Path(os.environ["SLOW_APP_FOLDER"]), float(os.environ.get("SLOW_APP_SECONDS", "0"))),
)
