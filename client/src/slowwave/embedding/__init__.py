"""Vectors of texts: what makes questions and memories comparable where they share no word. Optional.

    local      a small model that runs in this process (the extra `embeddings`)
    openai     any endpoint that speaks OpenAI's API (the extra `models`)

Vectors have length 1 (cosine is their inner product) and come from one named model: those of two models are never
compared.

Must not know: what the texts are, where vectors are kept.
"""

from slowwave.embedding.choosing import Embedders
from slowwave.embedding.contract import Embedder, EmbedderMissing, EmbeddingFailed
from slowwave.embedding.lazy import LazyEmbedder, build_embedder

__all__ = ["Embedder", "EmbedderMissing", "Embedders", "EmbeddingFailed", "LazyEmbedder", "build_embedder"]
