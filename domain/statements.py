"""When two statements are the same statement: the hash that the database's unique key is made of.

Must not know: similarity; this is exact equality but for what carries no meaning.
"""

import unicodedata
from hashlib import blake2b


def normal_form(content: str) -> str:
    """`content` without what carries no meaning: case, width and form of characters, spacing, the final full stop."""
    folded = unicodedata.normalize("NFKC", content).casefold()
    return " ".join(folded.split()).rstrip(".!… ")


def content_hash(content: str) -> bytes:
    """16 bytes that are equal for two contents with the same normal form."""
    return blake2b(normal_form(content).encode("utf-8", "surrogatepass"), digest_size=16).digest()
