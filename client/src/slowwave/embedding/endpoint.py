"""Embeddings from an endpoint with OpenAI's API. The timeout covers the whole call: answers are read in chunks."""

import json
import logging
import math
import time
from collections.abc import Sequence
from typing import Any

from slowwave.embedding.contract import EmbedderMissing, EmbeddingFailed, Vector

MAX_CHARACTERS = 8000
"""Endpoints refuse what is longer than their model reads (8,191 tokens with most); of a longer text the beginning."""

TIMEOUT_SECONDS = 20.0
MAX_ANSWER_BYTES_A_TEXT = 500_000
"""Sixteen thousand numbers, with thirty characters each, are less."""

_LATER = frozenset({408, 409, 429})
_SERVER_ERRORS = 500
_ABOUT_TEXT = frozenset({400, 413, 422})


class EndpointEmbedder:
    """Calls `base_url`, `batch_size` texts per call; the library repeats no call. Raises EmbedderMissing."""

    def __init__(
        self,
        *,
        model: str,
        base_url: str,
        api_key: str,
        batch_size: int = 64,
        timeout_seconds: float = TIMEOUT_SECONDS,
    ) -> None:
        try:
            import httpx2  # noqa: PLC0415 (comes with the extra)
            import openai  # noqa: PLC0415 (an optional extra)
        except ImportError as error:
            raise EmbedderMissing(
                "memory.embeddings.driver openai needs the package openai: "
                "install the extra `models` of slowwave (docs/install.md)"
            ) from error
        self.name = f"openai {model}"
        self._model = model
        self._batch = batch_size
        self._timeout = timeout_seconds
        self._errors: Any = openai
        self._broken: tuple[Any, ...] = (openai.APIConnectionError, httpx2.HTTPError)
        # At DEBUG the libraries log whole requests with texts of conversations, and at INFO addresses with passwords.
        logging.getLogger("openai").setLevel(logging.INFO)
        logging.getLogger("httpx2").setLevel(logging.WARNING)
        # A local server needs no key, but the library requires one.
        self._client: Any = openai.OpenAI(
            base_url=base_url, api_key=api_key or "none", timeout=timeout_seconds, max_retries=0
        )

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        vectors: list[Vector] = []
        for begin in range(0, len(texts), self._batch):
            vectors += self._ask([_sendable(text) for text in texts[begin : begin + self._batch]])
        if len({len(vector) for vector in vectors}) > 1:
            raise EmbeddingFailed(f"{self.name} answered vectors of several dimensions", transient=False)
        return vectors

    def _ask(self, texts: list[str]) -> list[Vector]:
        failure: EmbeddingFailed | None = None
        found: dict[int, Vector] = {}
        try:
            answer = json.loads(self._body(texts))
            found = {int(item["index"]): [float(x) for x in item["embedding"]] for item in answer["data"]}
        except self._errors.APIStatusError as error:
            failure = self._refused(error.status_code)
        except self._broken as error:
            failure = EmbeddingFailed(f"{self.name} can't be reached: {type(error).__name__}", transient=True)
        except (self._errors.OpenAIError, LookupError, TypeError, ValueError, OverflowError, RecursionError) as error:
            what = type(error).__name__
            failure = EmbeddingFailed(f"{self.name} answered something other than vectors: {what}", transient=False)
        # Raise outside the handler: an exception raised inside would carry the request, with the key, as its context.
        if failure is not None:
            raise failure
        if sorted(found) != list(range(len(texts))):
            raise EmbeddingFailed(f"{self.name} answered {len(found)} vectors for {len(texts)} texts", transient=False)
        return [self._unit(found[place]) for place in range(len(texts))]

    def _body(self, texts: list[str]) -> bytes:
        end = time.monotonic() + self._timeout
        read = bytearray()
        create = self._client.embeddings.with_streaming_response.create
        with create(model=self._model, input=texts, encoding_format="float") as response:
            for chunk in response.iter_bytes():
                read += chunk
                if time.monotonic() > end:
                    raise EmbeddingFailed(f"{self.name} had not answered after {self._timeout:g} s", transient=True)
                if len(read) > MAX_ANSWER_BYTES_A_TEXT * len(texts):
                    raise EmbeddingFailed(f"{self.name} answered more than vectors can take", transient=False)
        return bytes(read)

    def _refused(self, status: int) -> EmbeddingFailed:
        later = status in _LATER or status >= _SERVER_ERRORS
        return EmbeddingFailed(f"{self.name} answered {status}", transient=later, by_text=status in _ABOUT_TEXT)

    def _unit(self, vector: Vector) -> Vector:
        length = math.sqrt(sum(x * x for x in vector))
        if not vector or not math.isfinite(length) or not length:
            raise EmbeddingFailed(f"{self.name} answered a vector without a direction", transient=False)
        return [x / length for x in vector]


def _sendable(text: str) -> str:
    """Replace what endpoints refuse: an empty text, and a lone half of a surrogate pair."""
    return text[:MAX_CHARACTERS].encode("utf-8", "replace").decode("utf-8").strip() or "-"
