"""The embedder of the settings, loaded on first use and again after a fork."""

import os
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from slowwave.embedding.contract import Embedder, Vector
from slowwave.errors import InvalidSettings

if TYPE_CHECKING:
    from slowwave.settings import Embeddings

LOCAL_MODEL = "all-MiniLM-L6-v2"


class LazyEmbedder:
    """An embedder that knows its name before it loads its model. `make` loads the model, once in each process."""

    def __init__(self, name: str, make: Callable[[], Embedder]) -> None:
        self.name = name
        self._make = make
        self._begin()

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._made: Embedder | None = None
        self._pid = os.getpid()

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Embed the texts; an empty list loads no model."""
        return self._embedder().embed(texts) if texts else []

    def _embedder(self) -> Embedder:
        # A forked child inherits neither a model's threads nor usable sockets, and may inherit a lock that is held.
        if self._pid != os.getpid():
            self._begin()
        with self._lock:
            if self._made is None:
                self._made = self._make()
            return self._made


def build_embedder(settings: "Embeddings") -> LazyEmbedder | None:
    """Return the embedder of these settings, not loaded yet; None for the driver `none`. Raises InvalidSettings."""
    match settings.driver:
        case "none":
            return None
        case "local":
            if settings.model not in {"", LOCAL_MODEL}:
                raise InvalidSettings(
                    f"memory.embeddings.model: the driver local knows {LOCAL_MODEL} alone, not {settings.model!r:.100}"
                )
            return LazyEmbedder(f"local {LOCAL_MODEL}", _local)
        case "openai":
            if not settings.model:
                raise InvalidSettings("memory.embeddings.model: the driver openai needs the name of a model")
            return LazyEmbedder(f"openai {settings.model}", lambda: _endpoint(settings))


def _local() -> Embedder:
    from slowwave.embedding.local import LocalEmbedder  # noqa: PLC0415 (brings numpy, and a model of 22 MB)

    return LocalEmbedder()


def _endpoint(settings: "Embeddings") -> Embedder:
    from slowwave.embedding.endpoint import EndpointEmbedder  # noqa: PLC0415 (its client takes most of a second)

    return EndpointEmbedder(
        model=settings.model,
        base_url=settings.base_url,
        api_key=settings.api_key.get_secret_value(),
        batch_size=settings.batch_size,
    )
