"""Run servers and memories for benches of recall: one memory that searches by words, and the same one with vectors."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from bench.embedding_cache import CachedModels
from slowwave.memory import Memory
from slowwave.settings import Embeddings, Settings
from slowwave_server.services.embeddings.indexing import Indexing
from slowwave_server.services.evaluation.recall import Recorder
from slowwave_server.workers.scratch import rules_flusher, scratch_servers


class RecallMemories(NamedTuple):
    """Two memories of one database. vectors: searches with the local model; recorder: writes the data of both."""

    words: Memory
    vectors: Memory
    recorder: Recorder
    models: CachedModels


class NoFallback(logging.Handler):
    """Ends a bench when a query gets no vector in time: a search by words only would count as one with vectors."""

    def emit(self, record: logging.LogRecord) -> None:
        """Raise SystemExit if the record reports such a query."""
        if "words alone" in (message := record.getMessage()):
            raise SystemExit(f"{message}: measure again on a quieter machine")


@contextmanager
def recall_memories() -> Iterator[RecallMemories]:
    """Run the servers for the block."""
    logging.getLogger("slowwave.offers").addHandler(NoFallback())
    with scratch_servers(Settings()) as plain, rules_flusher(plain) as flusher, Memory(plain) as words:
        near = plain.memory.model_copy(update={"embeddings": Embeddings(driver="local")})
        with Memory(plain.model_copy(update={"memory": near})) as vectors:
            models = CachedModels(vectors.store.embedders)
            vectors.store.embedders.own.embed(["The first call loads the model."])
            recorder = Recorder(words, flusher, Indexing(flusher.engine, models, 64, lambda: True))
            yield RecallMemories(words, vectors, recorder, models)
