"""Copies of memories in mem0, through its `add`, `get`, `delete` and `search`, with `infer=False`: memories are already
consolidated, so no model is called.

A copy has its memory's id and replaces its predecessor. mem0 would give each addition a new id, so two deliveries of
one memory, or a delivery that was interrupted and repeated, would leave two copies.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Protocol
from uuid import UUID

from slowwave.embedding import Embedder, EmbeddingFailed
from slowwave.errors import SlowwaveError
from slowwave.mem0_backend.copies import EMBEDDER, ID, Copy, Found, Owner, found_of


class Mem0Failed(SlowwaveError):
    """mem0 or its vector store failed. The message quotes no text of a conversation."""


class CopyStore(Protocol):
    """A store of copies of memories. Threads may share one object."""

    @property
    def identity(self) -> str:
        """The model that makes the vectors; vectors of different models are never compared."""
        ...

    def put(self, owner: Owner, copies: Sequence[Copy]) -> dict[UUID, str]:
        """Write copies, each over its predecessor. Return the failed copies with their reasons. Raises Mem0Failed."""
        ...

    def remove(self, ids: Iterable[UUID]) -> None:
        """Delete copies; missing ones are no error. Raises Mem0Failed."""
        ...

    def search(self, owner: Owner, question: str, limit: int) -> list[Found]:
        """Return copies that answer a question (not blank) in one scope, best first. Raises Mem0Failed."""
        ...


class Mem0Store:
    """A `CopyStore` over a `mem0.Memory`. embedder: Slowwave's, which embeds a batch at once; None uses mem0's own."""

    def __init__(self, memory: Any, identity: str, embedder: "BatchEmbedder | None") -> None:
        memory.vector_store = _UnderOurIds(memory.vector_store)
        self._memory = memory
        self._embedder = embedder
        self.identity = identity

    def put(self, owner: Owner, copies: Sequence[Copy]) -> dict[UUID, str]:
        failed: dict[UUID, str] = {}
        if self._embedder is not None:
            self._prepare(self._embedder, copies)
        for copy in copies:
            try:
                about = {"metadata": copy.metadata(self.identity), "infer": False}
                self._memory.add(copy.content, **owner.entities(), **about)
            except Exception as error:  # noqa: BLE001 (its stores raise what their own clients do)
                failed[copy.id] = _told(error)
        return failed

    def _prepare(self, embedder: "BatchEmbedder", copies: Sequence[Copy]) -> None:
        try:
            embedder.prepare([copy.content for copy in copies])
        except EmbeddingFailed as error:
            if not error.by_text:
                raise
            # One text causes the failure and must not delay the others: embed each text alone, so that only this text
            # fails.

    def remove(self, ids: Iterable[UUID]) -> None:
        try:
            for memory_id in map(str, ids):
                if self._memory.get(memory_id) is not None:
                    self._memory.delete(memory_id)
        except Exception as error:  # noqa: BLE001 (as above)
            raise Mem0Failed(_told(error)) from None

    def search(self, owner: Owner, question: str, limit: int) -> list[Found]:
        filters = owner.entities() | {EMBEDDER: self.identity}
        try:
            answer = self._memory.search(question, filters=filters, top_k=limit, explain=True)
        except Exception as error:  # noqa: BLE001 (as above)
            raise Mem0Failed(_told(error)) from None
        entities = owner.entities()
        # The second check of isolation (I8): even if a store ignores a filter, foreign copies are not returned.
        own = [one for one in answer["results"] if all(one.get(key) == value for key, value in entities.items())]
        return [found for result in own if (found := found_of(result)) is not None]


class BatchEmbedder:
    """Slowwave's embedder as mem0's, which asks for one text at a time; prepared ones are embedded together."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._prepared: dict[str, list[float]] = {}
        # The query is sent to each scope, and again with a higher limit if the first answers are not enough.
        self._asked = lru_cache(maxsize=8)(lambda text: self._embedder.embed([text])[0])

    def prepare(self, texts: Sequence[str]) -> None:
        """Embed the texts that mem0 asks for next. Raises EmbeddingFailed."""
        self._prepared = {}
        self._prepared = dict(zip(texts, self._embedder.embed(texts), strict=True))

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        """Return the vector of a text, prepared if it exists. memory_action: "search" for a question."""
        if memory_action == "search":
            return self._asked(text)
        return self._prepared.get(text) or self._embedder.embed([text])[0]

    def embed_batch(self, texts: Sequence[str], memory_action: str = "add") -> list[list[float]]:  # noqa: ARG002 (as above)
        return self._embedder.embed(texts)


class NoHistory:
    """Replaces mem0's SQLite history, which would keep the text of every changed or deleted memory (I10)."""

    def add_history(self, *_: Any, **__: Any) -> None:
        """Store nothing."""

    def get_history(self, memory_id: str) -> list[Any]:  # noqa: ARG002 (mem0's signature)
        """Return []; Slowwave's own history is `explain`."""
        return []

    def close(self) -> None:
        """Do nothing; no file is open."""


class NoModel:
    """Replaces mem0's model: copies are added unchanged, and no model may be called outside the budget (I7)."""

    def generate_response(self, *_: Any, **__: Any) -> str:
        """Raises Mem0Failed."""
        raise Mem0Failed("mem0 asked for a model, and gets none here")


class _UnderOurIds:
    """mem0's vector store with changed inserts: they use the memory's id and overwrite."""

    def __init__(self, store: Any) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def insert(
        self,
        vectors: Sequence[list[float]],
        payloads: Sequence[dict[str, Any]],
        ids: Sequence[str] | None = None,  # noqa: ARG002 (mem0's, which are another each time)
    ) -> None:
        for vector, payload in zip(vectors, payloads, strict=True):
            key = payload[ID]
            if self._store.get(vector_id=key) is None:
                # If two deliveries run at once, the second finds the key taken, fails, and is repeated.
                self._store.insert(vectors=[vector], payloads=[payload], ids=[key])
            else:
                self._store.update(vector_id=key, vector=vector, payload=payload)


def _told(error: Exception) -> str:
    """Return an error for a log line; of a foreign error only its class, because messages may quote a row."""
    return str(error) if isinstance(error, SlowwaveError) else f"mem0: {type(error).__name__}"
