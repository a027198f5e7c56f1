"""Embeddings for semantic search: they relate questions and memories that share no word. Optional.

    local      a small model in this process (the extra `embeddings`)
    openai     any endpoint with OpenAI's API (the extra `models`)

Vectors have length 1, so the inner product is the cosine. Each vector belongs to one named model; vectors of different
models are never compared.
"""

from slowwave.embedding.choosing import Embedders
from slowwave.embedding.contract import Embedder, EmbedderMissing, EmbeddingFailed
from slowwave.embedding.lazy import LazyEmbedder, build_embedder

__all__ = ["Embedder", "EmbedderMissing", "Embedders", "EmbeddingFailed", "LazyEmbedder", "build_embedder"]
