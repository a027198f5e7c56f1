"""Select embedders by the name of their vectors. While new vectors are being made, queries use the old model."""

import threading
from typing import TYPE_CHECKING

from slowwave.embedding.contract import Embedder
from slowwave.embedding.lazy import LOCAL_MODEL, build_embedder

if TYPE_CHECKING:
    from slowwave.settings import Embeddings


class Embedders:
    """The embedder of the settings, and further embedders that the same settings can reach. Raises InvalidSettings."""

    def __init__(self, settings: "Embeddings") -> None:
        self._settings = settings
        self.own: Embedder | None = build_embedder(settings)
        self._lock = threading.Lock()
        self._named: dict[str, Embedder | None] = {}

    def named(self, name: str) -> Embedder | None:
        """Return the embedder that made the vectors of this name, or None if these settings can't make it.

        The local model is always available. Other models of the endpoint are available only with the driver `openai`.
        """
        if self.own is None or self.own.name == name:
            return self.own
        with self._lock:
            if name not in self._named:
                self._named[name] = self._other(name)
            return self._named[name]

    def _other(self, name: str) -> Embedder | None:
        driver, _, model = name.partition(" ")
        if driver == "local" and model == LOCAL_MODEL:
            from slowwave.settings import Embeddings  # noqa: PLC0415 (importing Pydantic takes long; most never get here)

            return build_embedder(Embeddings(driver="local"))
        if driver == "openai" == self._settings.driver and model:
            return build_embedder(self._settings.model_copy(update={"model": model}))
        return None
