"""How two statements relate: the second model of the package.

The module imports nothing of Slowwave; the caller passes plain text.
"""

import json
from dataclasses import dataclass
from importlib.resources import as_file, files
from typing import Any

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

MAX_TOKENS = 96
"""The length of both statements together, as in training; the model reads only the beginning of longer ones."""
MAX_CHARACTERS = 1500
_PACKAGE = files("slowwave_judge")
_CARD = json.loads((_PACKAGE / "pairs.json").read_text("utf-8"))
PAIRS_NAME: str = _CARD["name"]
"""The model's name with the first digits of its hash."""


@dataclass(frozen=True, slots=True)
class Relation:
    """How two statements relate, as calibrated probabilities that add up to 1.

    Attributes:
        duplicate: both say the same.
        conflict: both can't be true of the same subject at the same time.
        update: the second statement says that the first has ended or changed.
        updated: the first statement says that the second has ended or changed.
        related: both speak of the same matter, and both may be true.
        distinct: they have nothing to do with each other.
    """

    duplicate: float
    conflict: float
    update: float
    updated: float
    related: float
    distinct: float

    def swapped(self) -> "Relation":
        """The relation of the two statements in the other order."""
        return Relation(self.duplicate, self.conflict, self.updated, self.update, self.related, self.distinct)


class PairJudge:
    """The model of pairs. Create it after a fork; loading takes 0.2 seconds.

    Attributes:
        duplicate_from: The probability of `duplicate` from which two statements count as the same.
        conflict_from: The probability of `conflict`, `update` and `updated` together from which two statements count
            as contradictory.

    Example:
        >>> relation = PairJudge().relation("Maya lives in Porto.", "Maya's home is in Oslo.")
        >>> relation.conflict > relation.duplicate
        True
    """

    def __init__(self) -> None:
        with as_file(_PACKAGE / "pairs_tokenizer.json") as path:
            self._tokenizer: Any = Tokenizer.from_file(str(path))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_length=MAX_TOKENS, strategy="longest_first")
        onnxruntime.disable_telemetry_events()
        options = onnxruntime.SessionOptions()
        # Workers share a machine: more threads would compete with each other.
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        weights = (_PACKAGE / "pairs.onnx").read_bytes()
        self._session: Any = onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
        self._factor = float(_CARD["scale"]["factor"])
        self._shifts = np.array(_CARD["scale"]["shifts"])
        self.duplicate_from = float(_CARD["thresholds"]["duplicate"])
        self.conflict_from = float(_CARD["thresholds"]["conflict"])

    def relation(self, first: str, second: str) -> Relation:
        """Judge how two statements relate.

        The model reads the two in alphabetical order, so that the answer does not depend on the order of the
        arguments. It reads one pair at a time: in a batch, the int8 scale of a pair would depend on its neighbours.

        Args:
            first: A statement.
            second: Another statement.

        Returns:
            The relation of the second statement to the first.
        """
        if second < first:
            return self.relation(second, first).swapped()
        encoded = self._tokenizer.encode(_readable(first), _readable(second))
        parts = {"input_ids": encoded.ids, "attention_mask": encoded.attention_mask, "token_type_ids": encoded.type_ids}
        feeds = {name: np.array([values], dtype=np.int64) for name, values in parts.items()}
        (logits,) = self._session.run(["relations"], feeds)
        scaled = np.asarray(logits[0], dtype=float) * self._factor + self._shifts
        raised = np.exp(scaled - scaled.max())
        return Relation(*(float(one) for one in raised / raised.sum()))


def _readable(text: str) -> str:
    """Replace half surrogate pairs, which the tokenizer refuses."""
    return text[:MAX_CHARACTERS].encode("utf-8", "replace").decode("utf-8")
