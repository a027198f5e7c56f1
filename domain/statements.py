"""Decide whether two statements are equal, by a hash for the database's unique key."""

import unicodedata
from hashlib import blake2b


def normal_form(content: str) -> str:
    """Return `content` without case, spacing, variants of characters, and a final ".", "!" or "…"."""
    folded = unicodedata.normalize("NFKC", content).casefold()
    return " ".join(folded.split()).rstrip(".!… ")


def content_hash(content: str) -> bytes:
    """Return 16 bytes that are equal for two contents with the same normal form."""
    return blake2b(normal_form(content).encode("utf-8", "surrogatepass"), digest_size=16).digest()
