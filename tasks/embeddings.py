"""Queue `maintenance`: the tick that embeds memories and events.

If `memory.embeddings.driver` is none, beat has no such tick. A lost tick only delays work; a second tick finds that the
first one is running, and stops.
"""

import logging
import time

from slowwave.embedding import EmbeddingFailed
from slowwave.settings import Settings
from slowwave_server.services.embeddings.indexing import Indexing, index
from slowwave_server.services.embeddings.spaces import VectorsUnavailable
from slowwave_server.tasks.base import SlowwaveTask, slowwave_task

log = logging.getLogger(__name__)

RUN_SECONDS = 15.0
"""After this time a run starts no further batch; the next tick continues."""


def _period(settings: Settings) -> float | None:
    embeddings = settings.memory.embeddings
    return None if embeddings.driver == "none" else embeddings.index_seconds


@slowwave_task("slowwave.index_vectors", every=_period)
def index_vectors(self: SlowwaveTask) -> str:
    """Embed new and changed texts, for a bounded time. Returns off, busy, done, more or failed."""
    runtime = self.runtime
    end = time.monotonic() + RUN_SECONDS
    settings = runtime.settings.memory.embeddings
    run = Indexing(runtime.engine, runtime.memory.store.embedders, settings.batch_size, lambda: time.monotonic() < end)
    try:
        report = index(run)
    except (VectorsUnavailable, EmbeddingFailed) as error:
        log.warning("no vectors were made: %s", error)
        return "failed"
    if report.memories or report.events:
        log.info("vectors: %d memories, %d events, %d refused", report.memories, report.events, report.refused)
    if report.switched:
        log.info("vectors: search uses %s from here on", report.switched)
    return report.state
