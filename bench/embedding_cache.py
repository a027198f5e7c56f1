"""A cache of embeddings in a file of the temporary folder, so that a second run is cheap.

It imports nothing from Slowwave, because the script that runs inside another clone reads it too.
"""

import hashlib
import sqlite3
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

AT_ONCE = 256
"""The number of texts between two writes to the file: an interrupted run keeps its work."""
FILE = Path(tempfile.gettempdir()) / "slowwave-bench" / "embeddings.sqlite"


class CachedEmbedder:
    """An embedder that calls another one only for texts that the file lacks."""

    def __init__(self, embedder: Any, file: Path = FILE) -> None:
        self._embedder = embedder
        self.name = embedder.name
        file.parent.mkdir(parents=True, exist_ok=True)
        self._file = sqlite3.connect(file, timeout=60)
        self._file.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB)")

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return the vectors of some texts."""
        keys = [hashlib.sha256(f"{self.name}\0{text}".encode()).digest() for text in texts]
        known = {key: vector for key in keys if (vector := self._known(key)) is not None}
        missing = [(key, text) for key, text in zip(keys, texts, strict=True) if key not in known]
        for begin in range(0, len(missing), AT_ONCE):
            some = dict(missing[begin : begin + AT_ONCE])
            vectors = self._embedder.embed(list(some.values()))
            made = {key: np.array(one, dtype=np.float32).tobytes() for key, one in zip(some, vectors, strict=True)}
            with self._file:
                self._file.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", list(made.items()))
            known |= made
        return [np.frombuffer(known[key], dtype=np.float32).tolist() for key in keys]

    def _known(self, key: bytes) -> bytes | None:
        row = self._file.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
        return None if row is None else bytes(row[0])


class CachedModels:
    """The source of models for an indexing, with the file in front of the embedder of the settings."""

    def __init__(self, embedders: Any) -> None:
        self.own = CachedEmbedder(embedders.own)

    def named(self, name: str) -> CachedEmbedder | None:
        """Return the embedder of the settings, if it has this name."""
        return self.own if name == self.own.name else None
