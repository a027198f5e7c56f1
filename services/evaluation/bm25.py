"""BM25 over the first n of an ordered list of texts, for any n, without a new index for each.

The scores are those of bm25s with its defaults ("lucene", k1 1.5, b 0.75) over an index of just these n texts: document
frequencies and the mean length are those of the prefix, so later texts do not affect a question. Evaluations compare
search with BM25; search itself does not use it. The package bm25s comes with the extra `evaluate`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import Stemmer

from slowwave.errors import InvalidSettings

STOPWORDS = "en_plus"
"""The longer of the two lists of bm25s: on LoCoMo it finds four points more in the first ten."""
K1 = 1.5
B = 0.75


def words(texts: Sequence[str]) -> list[list[str]]:
    """Return the stemmed words of each text without stop words, by bm25s. Raises InvalidSettings without bm25s."""
    if not texts:
        return []
    stemmer = Stemmer.Stemmer("english")
    found = require_bm25s().tokenize(
        list(texts), stopwords=STOPWORDS, stemmer=stemmer, return_ids=False, show_progress=False
    )
    return [list(one) for one in found]


def require_bm25s() -> Any:
    """Return the package bm25s. Raises InvalidSettings if it is not installed."""
    try:
        import bm25s  # noqa: PLC0415 (an extra)
    except ImportError:
        raise InvalidSettings(
            "the package bm25s is not installed: install the extra `evaluate` of slowwave-server (docs/install.md)"
        ) from None
    return bm25s


class PrefixIndex:
    """Postings of all texts in order, from which each prefix is scored."""

    def __init__(self, texts: Sequence[str]) -> None:
        told = words(texts)
        self._lengths = np.array([len(one) for one in told], dtype=float)
        postings: dict[str, dict[int, int]] = {}
        for place, one in enumerate(told):
            for word in one:
                counts = postings.setdefault(word, {})
                counts[place] = counts.get(place, 0) + 1
        self._postings = {
            word: (np.fromiter(counts, int), np.fromiter(counts.values(), float)) for word, counts in postings.items()
        }

    def scores(self, question: str, size: int) -> Any:
        """Return the score of each of the first `size` texts, as a numpy array."""
        lengths = self._lengths[:size]
        norm = K1 * (1 - B + B * lengths / ((lengths.mean() if size else 0.0) or 1.0))
        scores = np.zeros(size)
        for word in words([question])[0]:
            places, counts = self._postings.get(word, (np.empty(0, int), np.empty(0)))
            cut = int(np.searchsorted(places, size))
            places, counts = places[:cut], counts[:cut]
            idf = np.log(1 + (size - cut + 0.5) / (cut + 0.5))
            scores[places] += idf * counts / (counts + norm[places])
        return scores

    def best(self, question: str, size: int, limit: int) -> list[int]:
        """Return the indexes of the best of the first `size` texts that share a word with the query, best first."""
        scores = self.scores(question, size)
        ranked = np.argsort(-scores, kind="stable")[:limit]
        return [int(place) for place in ranked if scores[place] > 0]
