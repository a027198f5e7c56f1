"""How many tokens a text takes, estimated without any model's tokenizer, and rather above than below what theirs count.

Must not know: what the text is for.
"""

import re

# Each match is one token: the beginning of a word, a part of its rest (names, ids and compounds fall apart), two
# digits, two capitals, a sign, a line end, more blanks than one.
_TOKEN = re.compile(
    r"\b[A-Za-z]?[a-z]{1,4}|[a-z]{1,3}|[A-Z][a-z]?|[0-9]{1,2}|[!-/:-@[-`{-~]|(?<=[ \t])[ \t]+|[\x00-\x08\n-\x1f\x7f]"
)


def estimate(text: str) -> int:
    """Tokens of `text`, rather too many than too few; 0 for the empty text. Linear in its length.

    A character beyond ASCII counts one less than its bytes in UTF-8: one for é or я, two for 中, three for an emoji.
    """
    ascii_tokens = len(_TOKEN.findall(text))
    return ascii_tokens if text.isascii() else ascii_tokens + len(text.encode("utf-8", "replace")) - len(text)
