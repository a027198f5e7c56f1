"""Estimate the tokens of a text without a model's tokenizer; the estimate is usually above the models' own counts."""

import re

# Each match is one token: the beginning of a word, a part of its rest (names, ids and compounds are split), two digits,
# a capital, a sign, a line end.
_TOKEN = re.compile(r"\b[A-Za-z]?[a-z]{1,4}|[a-z]{1,3}|[A-Z][a-z]?|[0-9]{1,2}|[!-/:-@[-`{-~]|[\x00-\x1f\x7f]")
_SHORT = 24  # characters; longer texts are rarely words, and are not cached
_MOST = 8192


def estimate(text: str) -> int:
    """Estimate the tokens of `text`; the estimate is rather too high than too low, and 0 for the empty text. Takes
    linear time.

    A character beyond ASCII counts one less than its bytes in UTF-8: one for é or я, two for 中, three for an emoji.
    """
    return sum(map(_known.__getitem__, text.split(" "))) + text.count("  ")


def _count(word: str) -> int:
    tokens = len(_TOKEN.findall(word))
    return tokens if word.isascii() else tokens + len(word.encode("utf-8", "replace")) - len(word)


class _Known(dict[str, int]):
    """A cache of words' token counts. Texts repeat words, and a lookup takes a tenth of the time of a count."""

    def __missing__(self, word: str) -> int:
        tokens = _count(word)
        if len(word) <= _SHORT and len(self) < _MOST:
            self[word] = tokens
        return tokens


_known = _Known()
