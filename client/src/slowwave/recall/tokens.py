"""How many tokens a text takes, estimated without any model's tokenizer, and rather above than below what theirs count.

Must not know: what the text is for.
"""

import re
from functools import lru_cache

# Each match is one token: the beginning of a word, a part of its rest (names, ids and compounds fall apart), two
# digits, a capital, a sign, a line end.
_TOKEN = re.compile(r"\b[A-Za-z]?[a-z]{1,4}|[a-z]{1,3}|[A-Z][a-z]?|[0-9]{1,2}|[!-/:-@[-`{-~]|[\x00-\x1f\x7f]")
_SHORT = 24  # characters; longer ones are rarely words, and not worth remembering


def estimate(text: str) -> int:
    """Tokens of `text`, rather too many than too few; 0 for the empty text. Linear in its length.

    A character beyond ASCII counts one less than its bytes in UTF-8: one for é or я, two for 中, three for an emoji.
    """
    words = text.split(" ")
    return sum(_known(word) if len(word) <= _SHORT else _count(word) for word in words) + text.count("  ")


def _count(word: str) -> int:
    tokens = len(_TOKEN.findall(word))
    return tokens if word.isascii() else tokens + len(word.encode("utf-8", "replace")) - len(word)


# Texts are made of the same words again and again: looking one up takes a tenth of the time.
_known = lru_cache(maxsize=8192)(_count)
