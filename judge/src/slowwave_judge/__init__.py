"""A small judge of meaning that runs offline: which statements are worth remembering, and how two of them relate.

Both models are fine-tuned from all-MiniLM-L6-v2 and run with int8 weights on one core. README.md names the training
data and the accuracy on held-out data.

The package imports nothing of Slowwave; the caller passes plain text.
"""

import json
from collections.abc import Sequence
from importlib.resources import as_file, files
from typing import Any

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from slowwave_judge.pairs import PAIRS_NAME, PairJudge, Relation

__all__ = ["NAME", "PAIRS_NAME", "Judge", "PairJudge", "Relation"]

PACKAGE = files("slowwave_judge")
NAME: str = json.loads((PACKAGE / "card.json").read_text("utf-8"))["name"]
"""The name of the model: it changes with the weights."""

MAX_TOKENS = 96
"""The length in training; the model reads only the beginning of a longer statement."""
MAX_CHARACTERS = 1500


class Judge:
    """The model. Loading takes 0.2 seconds and happens at once; create it after a fork.

    Example:
        >>> useful, junk = Judge().worth([("Maya is allergic to nuts.", "agent, user, fact"),
        ...                               ("Maya thinks that's great.", "agent, user, fact")])
        >>> useful > junk
        True
    """

    def __init__(self) -> None:
        with as_file(PACKAGE / "tokenizer.json") as path:
            self._tokenizer: Any = Tokenizer.from_file(str(path))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_length=MAX_TOKENS, strategy="only_first")
        onnxruntime.disable_telemetry_events()  # telemetry would report each session to the vendor
        options = onnxruntime.SessionOptions()
        # Workers share a machine: more threads would wait for each other, and spinning threads take a neighbour's core.
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        weights = (PACKAGE / "model.onnx").read_bytes()
        self._session: Any = onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])

    def worth(self, statements: Sequence[tuple[str, str]]) -> list[float]:
        """Judge how useful statements will be later to an agent that reads them without their conversation.

        Args:
            statements: for each its text and "TALK, ROLE, TYPE": "agent", "pair" or "group"; the role of the speaker;
                the type of the memory.

        Returns:
            A number from 0 (useless) to 1 for each, in the order of the statements.
        """
        # One by one: the tokenizer's own threads would not survive a fork. In a batch the int8 scale of a statement
        # would depend on its neighbours; a batch saves a fifth of the time if lengths are equal, and loses it if not.
        return [self._forward(self._tokenizer.encode(_readable(text), about)) for text, about in statements]

    def _forward(self, encoded: Any) -> float:
        parts = {"input_ids": encoded.ids, "attention_mask": encoded.attention_mask, "token_type_ids": encoded.type_ids}
        feeds = {name: np.array([values], dtype=np.int64) for name, values in parts.items()}
        (worth,) = self._session.run(["worth"], feeds)
        return float(worth[0])


def _readable(text: str) -> str:
    """Replace half surrogate pairs, which the tokenizer refuses."""
    return text[:MAX_CHARACTERS].encode("utf-8", "replace").decode("utf-8")
