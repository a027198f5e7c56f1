"""Use a trained judge of pairs in a folder: convert text into token rows, and run the file.

pairs.onnx              the network with int8 weights
pairs_tokenizer.json    its word pieces
pairs.json              its model card: training data, scale, thresholds, metrics
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from judge.train.pair_measure import Scale, are_open
from judge.train.pairs import SWAPPED, Pair
from slowwave_judge.runtime import MAX_TOKENS

MODEL, VOCABULARY, CARD = "pairs.onnx", "pairs_tokenizer.json", "pairs.json"
INPUTS = ("input_ids", "attention_mask", "token_type_ids")


class PairTokenizer:
    """Reads two statements at once, and only the beginning of long ones."""

    def __init__(self, folder: Path) -> None:
        self._read: Any = Tokenizer.from_file(str(folder / VOCABULARY))
        self._read.no_padding()
        self._read.enable_truncation(max_length=MAX_TOKENS, strategy="longest_first")

    def __call__(self, pairs: Sequence[Pair]) -> dict[str, np.ndarray]:
        """Return token rows in the network's input form, padded to the longest."""
        encoded = [self._read.encode(one.first, one.second) for one in pairs]
        shape = (len(encoded), max(len(one.ids) for one in encoded))
        found = {name: np.zeros(shape, dtype=np.int64) for name in INPUTS}
        for row, one in enumerate(encoded):
            for name, numbers in zip(INPUTS, (one.ids, one.attention_mask, one.type_ids), strict=True):
                found[name][row, : len(one.ids)] = numbers
        return found


class PairModel:
    """The network of a folder.

    Raises:
        FileNotFoundError: no training wrote to this folder.
    """

    def __init__(self, folder: Path) -> None:
        self._tokenizer = PairTokenizer(folder)
        weights = (folder / MODEL).read_bytes()
        self._session: Any = onnxruntime.InferenceSession(weights, providers=["CPUExecutionProvider"])

    def logits(self, pairs: Sequence[Pair], scale: Scale | None = None) -> np.ndarray:
        """Return the output before calibration, computed as in the package: a row per pair and a column per output.

        It reads one pair at a time, the two statements in alphabetical order. With a scale, it reads open pairs
        (`are_open`) also in the other order, and takes the mean.
        """
        found = np.array([self._answer(one) for one in pairs])
        if scale is None or not len(found):
            return found
        for at in np.flatnonzero(are_open(scale(found))).tolist():
            found[at] = (found[at] + self._answer(pairs[at], again=True)) / 2
        return found

    def _answer(self, pair: Pair, *, again: bool = False) -> np.ndarray:
        if (pair.second < pair.first) != again:
            return self._run(pair.swapped())[list(SWAPPED)]
        return self._run(pair)

    def _run(self, pair: Pair) -> np.ndarray:
        (told,) = self._session.run(["relations"], self._tokenizer([pair]))
        return np.asarray(told[0])


def read_card(folder: Path) -> dict[str, Any]:
    """Return the model card of the judge in a folder."""
    card: dict[str, Any] = json.loads((folder / CARD).read_text("utf-8"))
    return card
