"""Keep the answers of one network between runs, so that a change of the rules or of the thresholds reads nothing again.

The file contains hashes of the pairs instead of their texts. Another network has another file.
"""

import hashlib
from pathlib import Path

import numpy as np

_KEY = 16


class Answers:
    """The answers of the network with these weights, by pair.

    folder: the folder of the file; without it, nothing is kept.
    """

    def __init__(self, weights: bytes, folder: Path | None) -> None:
        self._path = None if folder is None else folder / f"{hashlib.sha256(weights).hexdigest()[:_KEY]}.npz"
        self._found: dict[bytes, np.ndarray] = {}
        if self._path is not None and self._path.is_file():
            with np.load(self._path) as stored:
                self._found = dict(zip(map(bytes, stored["keys"]), stored["answers"], strict=True))

    def get(self, first: str, second: str) -> np.ndarray | None:
        """Return the answer on two statements in this order, if it is known."""
        return self._found.get(_key(first, second))

    def put(self, first: str, second: str, answer: np.ndarray) -> None:
        """Remember an answer until `save`."""
        self._found[_key(first, second)] = answer

    def save(self) -> None:
        """Write all answers; a run that ends early loses only those since the last call."""
        if self._path is None or not self._found:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        found = self._found.copy()  # other threads add answers
        keys = np.array([list(key) for key in found], dtype=np.uint8)
        part = self._path.with_suffix(".part.npz")
        np.savez(part, keys=keys, answers=np.array(list(found.values()), dtype=np.float32))
        part.replace(self._path)


def _key(first: str, second: str) -> bytes:
    return hashlib.blake2b(f"{first}\0{second}".encode(), digest_size=_KEY).digest()
