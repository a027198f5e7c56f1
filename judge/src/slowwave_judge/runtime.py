"""Load the files of the package, and run a network with its tokenizer on one core."""

from importlib.resources import as_file, files
from typing import Any

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

PACKAGE = files("slowwave_judge")
MAX_TOKENS = 96
"""The length of both texts together, as in training; a network reads only the beginning of longer ones."""
MAX_CHARACTERS = 1500


def load(weights: bytes) -> Any:
    """Load an ONNX network that computes on one core. This takes 0.2 seconds; load after a fork.

    Args:
        weights: the content of the file.

    Returns:
        An `onnxruntime.InferenceSession`.
    """
    onnxruntime.disable_telemetry_events()  # telemetry would report each session to the vendor
    options = onnxruntime.SessionOptions()
    # Workers share a machine: more threads would wait for each other, and spinning threads take a neighbour's core.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])


class Network:
    """One ONNX file of the package. The constructor loads it, which takes 0.2 seconds; create it after a fork.

    Args:
        weights: the file of the network.
        tokenizer: the file of its tokenizer.
        shorten: the text to cut if both are too long: "only_first" or "longest_first".
        output: the name of its output.
    """

    def __init__(self, weights: str, tokenizer: str, *, shorten: str, output: str) -> None:
        with as_file(PACKAGE / tokenizer) as path:
            self._tokenizer: Any = Tokenizer.from_file(str(path))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_length=MAX_TOKENS, strategy=shorten)
        self._session = load((PACKAGE / weights).read_bytes())
        self._output = output

    def __call__(self, first: str, second: str) -> list[float]:
        """Run the network on two texts, one pair at a time.

        The tokenizer's own threads would not survive a fork. In a batch the int8 scale of a pair would depend on its
        neighbours; a batch saves a fifth of the time if lengths are equal, and loses it if not.
        """
        encoded = self._tokenizer.encode(_readable(first), _readable(second))
        parts = {"input_ids": encoded.ids, "attention_mask": encoded.attention_mask, "token_type_ids": encoded.type_ids}
        feeds = {name: np.array([values], dtype=np.int64) for name, values in parts.items()}
        (values,) = self._session.run([self._output], feeds)
        return [float(value) for value in np.ravel(values)]


def _readable(text: str) -> str:
    """Replace half surrogate pairs, which the tokenizer refuses."""
    return text[:MAX_CHARACTERS].encode("utf-8", "replace").decode("utf-8")
