"""Use a trained judge of pairs in a folder: convert text into token rows, and run the file.

pairs.onnx              the network with int8 weights
pairs_tokenizer.json    its word pieces
pairs.json              its model card: training data, scale, thresholds, metrics
"""

import json
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from judge.train.pair_answers import Answers
from judge.train.pair_measure import Scale, are_open
from judge.train.pairs import SWAPPED, Pair
from slowwave_judge.runtime import MAX_TOKENS, load

BUILD = Path(__file__).parent.parent / "build"
ANSWERS = BUILD / "answers"
MODEL, VOCABULARY, CARD = "pairs.onnx", "pairs_tokenizer.json", "pairs.json"
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
TOLD_EVERY = 1000
"""The number of pairs after which the model says how far it is."""


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
    """The network of a folder. answers: the folder that keeps its answers between runs; without it, nothing is kept.

    Raises:
        FileNotFoundError: no training wrote to this folder.
    """

    def __init__(self, folder: Path, answers: Path | None = None) -> None:
        self._tokenizer = PairTokenizer(folder)
        weights = (folder / MODEL).read_bytes()
        self._session = load(weights)
        self._known = Answers(weights, answers)

    def logits(self, pairs: Sequence[Pair], scale: Scale | None = None) -> np.ndarray:
        """Return the output before calibration, computed as in the package: a row per pair and a column per output.

        It reads each pair alone, the two statements in alphabetical order: in a batch the int8 scale of a pair would
        depend on the others. With a scale, it reads open pairs (`are_open`) also in the other order, and takes the
        mean.
        """
        found = np.array(list(self._answers(pairs)))
        if scale is None or not len(found):
            return found
        places = np.flatnonzero(are_open(scale(found))).tolist()
        if places:
            again = np.array(list(self._answers([pairs[at] for at in places], again=True)))
            found[places] = (found[places] + again) / 2
        return found

    def _answers(self, pairs: Sequence[Pair], *, again: bool = False) -> Iterator[np.ndarray]:
        """Answer one pair on each core at a time, and print the progress."""
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            for count, found in enumerate(threads.map(partial(self._answer, again=again), pairs), start=1):
                if count % TOLD_EVERY == 0:
                    print(f"read {count:,} of {len(pairs):,} pairs", file=sys.stderr, flush=True)
                    self._known.save()
                yield found
        self._known.save()

    def _answer(self, pair: Pair, *, again: bool = False) -> np.ndarray:
        if (pair.second < pair.first) != again:
            return self._run(pair.swapped())[list(SWAPPED)]
        return self._run(pair)

    def _run(self, pair: Pair) -> np.ndarray:
        found = self._known.get(pair.first, pair.second)
        if found is None:
            (told,) = self._session.run(["relations"], self._tokenizer([pair]))
            found = np.asarray(told[0])
            self._known.put(pair.first, pair.second, found)
        return found


def read_card(folder: Path) -> dict[str, Any]:
    """Return the model card of the judge in a folder."""
    card: dict[str, Any] = json.loads((folder / CARD).read_text("utf-8"))
    return card
